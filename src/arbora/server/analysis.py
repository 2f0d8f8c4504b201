"""Everything that the page shows about one sentence: its tree, and what else was possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block, Sentence
from arbora.data.treebank import read_treebank
from arbora.drawing.annotated import multiword_tokens
from arbora.drawing.widths import is_right_to_left
from arbora.features import Encoded
from arbora.inference.engines import TreeLists
from arbora.inference.marginals import Marginals, tree_entropies
from arbora.inference.tree_checks import in_class
from arbora.models.constraints import Constraints, obeying
from arbora.models.decoding import Decoder, Scored
from arbora.models.head_sets import heads_within
from arbora.models.model import Model
from arbora.models.output import ParsedBlock, parse_block
from arbora.names import Root, TreeClass
from arbora.options import DecodeName, ParseOptions
from arbora.pipeline import Pipeline
from arbora.server.models import with_root
from arbora.types import FloatArray, IntArray

__all__ = ["Question", "analyse", "columns", "parsed_columns", "several_trees"]

_SET_LEVEL = 0.95  # of the head sets that the page shows
_CANDIDATES = 8  # heads, labels and tags of a word
_RARE = 0.0005  # a smaller probability is not listed
_DEPREL = 7


@dataclass(frozen=True)
class Question:
    """A sentence to parse, and how.

    Trees have the `required` arcs (head, word) or (head, word, label) and none of the `forbidden`
    arcs, and the probabilities are those given this. With `keep`, words that have a head in the
    sentence keep it and its label, without any effect on the probabilities.
    """

    sentence: Sentence
    required: Sequence[tuple[Any, ...]] = ()
    forbidden: Sequence[tuple[int, int]] = ()
    decode: DecodeName | None = None
    trees: TreeClass | None = None
    root: Root | None = None
    keep: bool = False
    max_words: int = 1000

    @property
    def options(self) -> ParseOptions:
        """The same as options of `parse`."""
        return ParseOptions(
            decode=self.decode, trees=self.trees, probabilities=True, max_words=self.max_words
        )


@dataclass(frozen=True)
class _Asked:
    """A question with what answers it: the prepared sentence, the decoder and the constraints."""

    block: Block
    encoded: Encoded
    decoder: Decoder
    constraints: Constraints

    @classmethod
    def of(cls, pipeline: Pipeline, question: Question, options: ParseOptions) -> _Asked:
        block = pipeline.prepare(read_treebank([question.sentence]), options)
        model = with_root(pipeline.model, question.root)
        decoder = Decoder.for_options(model, pipeline.threads, options)
        constraints = Constraints.from_arcs(
            block.n_words, model.labels, [list(question.required)], [list(question.forbidden)]
        )
        return cls(block, model.encoder.encode(block), decoder, constraints)

    @property
    def model(self) -> Model:
        return self.decoder.model


def analyse(pipeline: Pipeline, question: Question) -> dict[str, Any]:
    """The tree of a sentence with probabilities, entropy and the alternatives of every word."""
    asked = _Asked.of(pipeline, question, question.options)

    def ask(places: NDArray[np.int64], known: Constraints | None) -> tuple[Marginals, _Found]:
        scored = asked.decoder.score(asked.encoded, places, known)
        marginals = asked.decoder.calibrated(scored)
        if question.keep:
            return marginals, _kept(asked, question.options, scored, marginals)
        return marginals, _best(asked, scored, marginals)

    marginals, found = next(obeying(asked.constraints, np.array([0]), ask))
    table = _arc_table(marginals)
    given = _label_table(asked, marginals, found.heads)
    answer = columns(Sentence(asked.block, 0, found.heads), found.labels)
    answer |= _figures(asked.model, marginals, table, found.heads)
    answer["log_prob"] = _number(found.log_prob)
    answer["label_probabilities"] = _label_probabilities(asked, found.labels, given)
    answer["head_candidates"] = _head_candidates(table)
    answer["head_sets"] = _head_sets(asked, table)
    answer["label_candidates"] = _candidates(given, asked.model.labels)
    answer["tag_candidates"] = _tag_candidates(pipeline, asked.block)
    return answer


class _Found(NamedTuple):
    """A tree; its log-probability is None where it is not known."""

    heads: IntArray
    labels: list[str]
    log_prob: float | None = None


def _best(asked: _Asked, scored: Scored, marginals: Marginals) -> _Found:
    """The tree that the decoder chooses under the constraints."""
    found = asked.decoder.best(scored)
    labels, given = asked.model.labeller.label(
        asked.encoded, np.array([0]), found.heads, found.labels
    )
    chosen, given = asked.constraints.with_labels(labels, given)
    trees = TreeLists(found.heads, labels, np.ones(1, np.int64))
    _, _, log_probs = asked.decoder.probabilities(scored, trees, given, marginals)
    names = asked.constraints.label_names
    texts = [names[number] if number >= 0 else "_" for number in chosen.tolist()]
    return _Found(found.heads, texts, float(log_probs[0]) if len(log_probs) else None)


def _kept(asked: _Asked, options: ParseOptions, scored: Scored, marginals: Marginals) -> _Found:
    """The tree of the sentence; words without a head get one."""
    heads = np.array(asked.block.heads, dtype=np.int32)
    if (heads >= 0).all():
        labels = asked.block.column(0, _DEPREL)
        return _Found(heads, labels, _log_prob(asked, scored, marginals, heads, labels))
    constraints = _with_kept(asked)
    trees = parse_block(asked.decoder, asked.block, options, constraints).trees
    names = constraints.label_names
    return _Found(trees.heads, [names[i] if i >= 0 else "_" for i in trees.labels.tolist()])


def _log_prob(
    asked: _Asked, scored: Scored, marginals: Marginals, heads: IntArray, labels: list[str]
) -> float | None:
    """log P of a tree with labels that the model knows; None for other trees."""
    places = {name: place for place, name in enumerate(asked.model.labels)}
    possible = in_class(heads[None].astype(np.int64), asked.decoder.trees, asked.model.root)
    if not possible[0] or not all(label in places for label in labels):
        return None
    numbers = np.array([places[label] for label in labels], dtype=np.int32)
    table = _label_table(asked, marginals, heads)
    given = np.ones(len(heads)) if table is None else table[np.arange(len(heads)), numbers]
    trees = TreeLists(heads, numbers, np.ones(1, np.int64))
    _, _, found = asked.decoder.probabilities(scored, trees, given, marginals)
    return float(found[0]) if len(found) else None


def several_trees(
    pipeline: Pipeline, question: Question, count: int, seed: int | None
) -> list[dict[str, Any]]:
    """The best trees of a sentence, or with a seed trees drawn from the distribution."""
    options = replace(question.options, kbest=count)
    if seed is not None:
        options = replace(question.options, samples=count, seed=seed)
    asked = _Asked.of(pipeline, question, options)
    parsed = parse_block(asked.decoder, asked.block, options, asked.constraints)
    return [
        {
            "heads": one.heads.tolist(),
            "labels": one.labels,
            "log_prob": _number(one.log_prob),
            "arc_probabilities": _rounded(one.arc_probabilities),
        }
        for one in parsed
    ]


def columns(sentence: Sentence, labels: list[str] | None = None) -> dict[str, Any]:
    """The columns of a sentence, as lists with one entry per word."""
    return {
        "forms": sentence.forms,
        "lemmas": sentence.lemmas,
        "upos": sentence.upos,
        "xpos": sentence.xpos,
        "feats": sentence.feats,
        "heads": sentence.heads.tolist(),
        "labels": sentence.labels if labels is None else labels,
        "multiword": [list(one) for one in multiword_tokens(sentence)],
        "right_to_left": is_right_to_left(tuple(sentence.forms)),
    }


def parsed_columns(parsed: ParsedBlock) -> Iterator[dict[str, Any]]:
    """The columns of parsed sentences, with their probabilities and texts."""
    for one in parsed:
        yield columns(one) | {
            "text": one.text,
            "sent_id": one.sent_id,
            "conllu": one.to_conllu(),
            "arc_probabilities": _rounded(one.arc_probabilities),
            "label_probabilities": _rounded(one.label_probabilities),
            "log_prob": _number(one.log_prob),
            "source": one.source_of_probabilities,
        }


def _with_kept(asked: _Asked) -> Constraints:
    """The heads that the sentence has, and those that are required, which come first."""
    heads = np.array(asked.block.heads)
    labels = asked.block.column(0, _DEPREL)
    asked_for = asked.constraints.heads
    arcs: list[tuple[Any, ...]] = []
    for at, head in enumerate(heads.tolist()):
        label = labels[at]
        if asked_for[at] >= 0:
            head = int(asked_for[at])
            number = int(asked.constraints.labels[at])
            label = asked.constraints.label_names[number] if number >= 0 else "_"
        if head >= 0:
            arcs.append((head, at + 1) if label == "_" else (head, at + 1, label))
    forbidden = [(h, m) for _, h, m in asked.constraints.forbidden.tolist()]
    fixed = {(arc[0], arc[1]) for arc in arcs}
    forbidden = [arc for arc in forbidden if arc not in fixed]
    return Constraints.from_arcs(asked.block.n_words, asked.model.labels, [arcs], [forbidden])


def _arc_table(marginals: Marginals) -> FloatArray:
    """P(arc) as a table [head, word], whatever the labels."""
    depth = marginals.scores.depth
    side = int(marginals.scores.n_words[0]) + 1
    table = marginals.arcs.reshape(side, side, depth).sum(axis=2)
    return np.asarray(np.clip(table, 0.0, 1.0))


def _label_table(asked: _Asked, marginals: Marginals, heads: IntArray) -> FloatArray | None:
    """P(label | arc) of all labels for every word; None for a model without labels."""
    if asked.model.scorer.n_labels is not None and not asked.model.n_clusters:
        side, depth = len(heads) + 1, marginals.scores.depth
        table = marginals.arcs.reshape(side, side, depth)[heads, np.arange(1, side)]
        totals = table.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(table, totals, out=np.zeros_like(table), where=totals > 0))
    return asked.model.labeller.given_tree(asked.encoded, np.array([0]), heads)


def _figures(
    model: Model, marginals: Marginals, table: FloatArray, heads: IntArray
) -> dict[str, Any]:
    words = np.arange(1, len(table))
    return {
        "arc_probabilities": _rounded(table[heads, words]),
        "entropy": _entropy(marginals),
        "expected_errors": _number(float((1.0 - table[heads, words]).sum())),
        "source": model.source_of_probabilities,
    }


def _entropy(marginals: Marginals) -> float | None:
    """The entropy of the trees in bits; None where it is not exact."""
    return _number(float(tree_entropies(marginals)[0]) / np.log(2.0)) if marginals.exact else None


def _label_probabilities(
    asked: _Asked, labels: list[str], given: FloatArray | None
) -> list[float | None]:
    if given is None:
        return [None] * len(labels)
    places = {name: place for place, name in enumerate(asked.model.labels)}
    return [
        round(float(row[places[label]]), 4) if label in places else None
        for label, row in zip(labels, given, strict=True)
    ]


def _head_sets(asked: _Asked, table: FloatArray) -> list[list[int]] | None:
    """For each word, heads of which one is right with a probability of 95 %.

    None if the model is not calibrated, or for another class of trees.
    """
    found = asked.model.head_sets
    if found is None or asked.decoder.trees != asked.model.decode_trees:
        return None
    n_words = len(table) - 1
    least = np.full(n_words, found.at(_SET_LEVEL).other)
    heads, sizes = heads_within(table.reshape(-1), np.array([n_words]), least)
    return [one.tolist() for one in np.split(heads, np.cumsum(sizes)[:-1])]


def _head_candidates(table: FloatArray) -> list[list[list[float]]]:
    """For each word its likeliest heads with their probabilities."""
    answer = []
    for column in table[:, 1:].T:
        order = np.argsort(-column, kind="stable")[:_CANDIDATES]
        answer.append([[int(h), round(float(column[h]), 4)] for h in order if column[h] > _RARE])
    return answer


def _candidates(given: FloatArray | None, names: Sequence[str]) -> list[list[list[Any]]]:
    """For each word its likeliest names with their probabilities."""
    if given is None:
        return []
    order = np.argsort(-given, axis=1, kind="stable")[:, :_CANDIDATES]
    return [
        [[names[k], round(float(row[k]), 4)] for k in places if row[k] > _RARE]
        for row, places in zip(given, order, strict=True)
    ]


def _tag_candidates(pipeline: Pipeline, block: Block) -> list[list[list[Any]]]:
    if pipeline.tagger is None:
        return []
    found = pipeline.tagger.tag(block, retag=True, posterior=True, threads=pipeline.threads)
    return _candidates(found.posterior, found.upos_names)


def _rounded(values: FloatArray) -> list[float]:
    return [round(value, 4) for value in values.tolist()]


def _number(value: float | None) -> float | None:
    """A number that JSON has; None for others."""
    return None if value is None or not np.isfinite(value) else round(value, 6)
