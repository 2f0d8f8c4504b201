"""How unsure a parser is of the words of a text, and of its sentences."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.errors import ArgumentError
from arbora.inference.decoding import possible_marginals
from arbora.inference.marginals import Marginals, tree_entropies
from arbora.models.constraints import Constraints, obeying
from arbora.models.decoding import Decoder, Scored
from arbora.models.reductions import summed_over_labels
from arbora.models.uncertainty import runner_ups
from arbora.options import ParseOptions
from arbora.parsers import Parser
from arbora.scores import Layout
from arbora.types import FloatArray, IntArray

__all__ = ["Doubt", "doubt_about"]


@dataclass(frozen=True)
class Doubt:
    """The trees that a parser proposes for a block, and how unsure it is of them.

    All arrays are flat over the words, except `tree_entropies`, which has one entry per sentence.
    `labels` are indices into `label_names` (-1 for none), `probabilities` those of the proposed
    arcs, `runner_ups` the likeliest other heads (-1 for none). `head_entropies` are entropies of
    the heads of single words in nats, `tree_entropies` those of whole trees. `differs` marks words
    whose head in the best-scoring tree (MAP) is not that in the tree with most expected correct
    arcs (MBR). `given` has the probabilities of the heads that the block has, NaN where it has
    none.
    """

    heads: IntArray
    labels: IntArray
    probabilities: FloatArray
    runner_ups: IntArray
    runner_up_probabilities: FloatArray
    head_entropies: FloatArray
    differs: NDArray[np.bool_]
    tree_entropies: FloatArray
    given: FloatArray
    label_names: tuple[str, ...] = ()


def doubt_about(
    parser: Parser,
    block: Block,
    *,
    keep_heads: bool = True,
    disagreement: bool = False,
    decoder: Decoder | None = None,
) -> Doubt:
    """The doubt of a parser about every word of a block.

    With `keep_heads`, heads that the block has are known, and the rest is parsed around them.
    `differs` is computed only with `disagreement`, since it needs two more trees.
    """
    options = ParseOptions(keep_heads=keep_heads)
    decoder = parser.decoder(options) if decoder is None else decoder
    if disagreement and not hasattr(decoder.engine, "decode"):
        raise ArgumentError(
            "disagreement requires a model that finds best-scoring trees; belief propagation has "
            "marginals only."
        )
    prepared = parser.prepare(block, options)
    model = decoder.model
    encoded = model.encoder.encode(prepared)
    known, names = None, model.labels
    if keep_heads and (np.asarray(block.heads) >= 0).any():
        known = Constraints.from_annotation(prepared, model.labels)
        names = known.label_names

    cuts = np.split(np.asarray(prepared.heads), np.cumsum(prepared.n_words)[:-1])

    def heads_of(sentences: NDArray[np.int64]) -> IntArray:
        return np.concatenate([cuts[i] for i in sentences.tolist()])

    def parse(sentences: NDArray[np.int64], constraints: Constraints | None) -> Doubt:
        scored = decoder.score(encoded, sentences, constraints)
        found = decoder.best(scored)
        labels, given = model.labeller.label(
            encoded, sentences, found.heads, found.labels, probabilities=False
        )
        if constraints is not None:
            labels, _ = constraints.with_labels(labels, given)
        marginals = decoder.calibrated(scored)
        arcs, n_words = summed_over_labels(marginals), scored.summed.n_words
        differs = np.zeros(len(found.heads), dtype=np.bool_)
        if disagreement:
            differs = _differing(decoder, scored, marginals)
        cells = scored.summed.layout.arcs(found.heads)
        return Doubt(
            found.heads, labels, np.minimum(arcs[cells], 1.0),
            *runner_ups(arcs, n_words, found.heads), _head_entropies(arcs, n_words), differs,
            tree_entropies(marginals), _given(arcs, scored.summed.layout, heads_of(sentences)),
        )  # fmt: skip

    pieces = [one for piece in decoder.pieces(encoded) for one in obeying(known, piece, parse)]
    joined: dict[str, Any] = {
        each.name: np.concatenate([getattr(piece, each.name) for piece in pieces])
        for each in fields(Doubt)
        if each.name != "label_names"
    }
    return Doubt(**joined, label_names=names)


def _differing(decoder: Decoder, scored: Scored, marginals: Marginals) -> NDArray[np.bool_]:
    """The words whose heads differ between the MAP and the MBR tree."""
    best = decoder.engine.decode(scored.scores).heads
    arcs = marginals.scores.arcs_only().with_values(marginals.arcs)
    safest = decoder.chooser.decode(possible_marginals(marginals.scores, arcs.arcs)).heads
    return np.asarray(best != safest)


def _given(arcs: FloatArray, layout: Layout, heads: IntArray) -> FloatArray:
    """The probabilities of given heads, NaN for missing ones."""
    found = np.minimum(arcs[layout.arcs(np.maximum(heads, 0))], 1.0)
    return np.where(heads >= 0, found, np.nan)


def _head_entropies(arcs: FloatArray, n_words: NDArray[np.int64]) -> FloatArray:
    """The entropy of every word's head, in nats."""
    terms = -arcs * np.log(np.where(arcs > 0.0, arcs, 1.0))
    entropies, cell = [], 0
    for n in n_words.tolist():
        table = terms[cell : cell + (n + 1) ** 2].reshape(n + 1, n + 1)
        entropies.append(table[:, 1:].sum(axis=0))
        cell += (n + 1) ** 2
    return np.asarray(np.maximum(np.concatenate(entropies), 0.0))
