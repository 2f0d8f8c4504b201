"""Training of a whole pipeline from a treebank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from arbora.data import Block
from arbora.features import WordClusters
from arbora.models.columns import is_empty
from arbora.models.model import StoredStage
from arbora.options import LemmatiserOptions, SegmenterOptions, TaggerOptions
from arbora.segmentation import Segmenter, train_segmenter
from arbora.tagging import Lemmatiser, Tagger, jackknife, train_lemmatiser, train_tagger

__all__ = ["StageOptions", "Stages", "train_stages"]

_LEMMA, _UPOS = 2, 3


@dataclass(frozen=True)
class StageOptions:
    """The options of the stages before the parser.

    `folds` is the number of taggers with which the parser's training data is tagged, each trained
    on the other folds: so the parser meets tags as wrong as those it will be given. 0 leaves the
    tags of the treebank.
    """

    segmenter: SegmenterOptions = field(default_factory=SegmenterOptions)
    tagger: TaggerOptions = field(default_factory=TaggerOptions)
    lemmatiser: LemmatiserOptions = field(default_factory=LemmatiserOptions)
    folds: int = 5


@dataclass(frozen=True)
class Stages:
    """Trained stages, and the treebank as a parser should be trained on it."""

    segmenter: Segmenter | None
    tagger: Tagger | None
    lemmatiser: Lemmatiser | None
    train: Block
    dev: Block | None

    def stored(self) -> dict[str, StoredStage]:
        """The stages as a model file has them."""
        given = {
            "segmenter": self.segmenter, "tagger": self.tagger, "lemmatiser": self.lemmatiser,
        }  # fmt: skip
        return {
            name: StoredStage(stage.settings(), stage.tensors())
            for name, stage in given.items()
            if stage is not None
        }


def train_stages(
    train: Block,
    dev: Block | None = None,
    options: StageOptions | None = None,
    *,
    threads: int | None = None,
    word_clusters: WordClusters | None = None,
    progress: Callable[[str], object] | None = None,
) -> Stages:
    """Trains the stages that the treebank has the annotation for.

    A segmenter needs CoNLL-U, a tagger UPOS tags, a lemmatiser lemmas.
    """
    options = StageOptions() if options is None else options

    def begin(what: str) -> None:
        if progress is not None:
            progress(what)

    shared: dict[str, Any] = {"threads": threads}
    segmenter = tagger = lemmatiser = None
    if train.layout.universal:
        begin("segmenter")
        segmenter = train_segmenter(train, dev, options.segmenter, **shared)
    if is_empty(train, _UPOS):
        return Stages(segmenter, None, None, train, dev)
    begin("tagger")
    shared["word_clusters"] = word_clusters
    tagger = train_tagger(train, dev, options.tagger, **shared)
    if not is_empty(train, _LEMMA):
        begin("lemmatiser")
        lemmatiser = train_lemmatiser(train, dev, options.lemmatiser)
    if options.folds:
        begin("tags for the parser's training")
        train = jackknife(train, options.folds, options.tagger, **shared)
        if dev is not None:
            dev = tagger(dev, retag=True, threads=threads)
        if lemmatiser is not None:
            train = lemmatiser(train, relemmatise=True)
            dev = None if dev is None else lemmatiser(dev, relemmatise=True)
    return Stages(segmenter, tagger, lemmatiser, train, dev)
