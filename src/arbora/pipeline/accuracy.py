"""How often trained stages are right: the figures in the card of a model."""

from __future__ import annotations

from arbora.data import Block, treebank_text
from arbora.data.conllu import sentences_of
from arbora.evaluation import evaluate_segmentation
from arbora.models.columns import COLUMNS
from arbora.segmentation import Segmenter

__all__ = ["column_accuracy", "segmentation_accuracy"]


def column_accuracy(gold: Block, found: Block, name: str) -> float:
    """Percent of the words whose column is that of gold."""
    place = COLUMNS[name]
    right = sum(
        a == b
        for i in range(len(gold))
        for a, b in zip(gold.column(i, place), found.column(i, place), strict=True)
    )
    return 100.0 * right / max(1, int(gold.total_words))


def segmentation_accuracy(segmenter: Segmenter, gold: Block) -> dict[str, float]:
    """F1 of tokens, sentences and words in the text of a treebank, in percent."""
    sentences = list(sentences_of(gold))
    found = segmenter.segment(treebank_text(sentences))
    scores = evaluate_segmentation(sentences, list(sentences_of(found.block)))
    return {name.lower(): scores.f1(name) or 0.0 for name in ("Tokens", "Sentences", "Words")}
