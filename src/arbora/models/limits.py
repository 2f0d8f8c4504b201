"""Limits of the search: trees within a time limit, long sentences, first-order trees instead.

Dual decomposition is asked for the trees of all sentences with few iterations. A sentence without a
certificate is decoded again with four times as many, as long as the time that this will take, at
most four times that of the last attempt, is left. So a sentence takes at most its limit, or one
attempt with few iterations. A long sentence whose scores have taken all its time gets the tree of
the first-order pruner instead.
"""

from __future__ import annotations

import time
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.inference.engines import DecodedTrees, DualDecomposition
from arbora.inference.pruning import LONG_SENTENCE
from arbora.models.components import EveryArc
from arbora.options import ParseOptions, spelled

if TYPE_CHECKING:
    from arbora.models.decoding import Decoder, Scored

__all__ = [
    "FALLBACKS",
    "FIRST_ORDER",
    "LONG",
    "NO_TIME",
    "OUT_OF_TIME",
    "apply_limits",
    "by_length",
    "decode_in_time",
    "first_order_decoder",
    "for_length",
    "no_marks",
    "with_long",
]

# Why a tree is not the one that the model would find without limits.
FALLBACKS = (
    "",
    "fewer iterations: the time limit",
    "first order: the sentence is long",
    "fewer iterations: the sentence is long",
    "first order: the time limit",
)
OUT_OF_TIME, FIRST_ORDER, LONG, NO_TIME = 1, 2, 3, 4

_FIRST = 50  # iterations
_MORE = 4
_WORK = 200_000  # iterations times words of a long sentence
_USUAL = 500  # iterations, if the model says nothing


def apply_limits(decoder: Decoder, options: ParseOptions) -> None:
    """Applies the options that limit the search; refuses those without effect."""
    dual = {"solver": options.solver, "max_iterations": options.max_iterations}
    given = {name: value for name, value in dual.items() if value is not None}
    for name in (*given, *(["time_limit"] if options.time_limit is not None else [])):
        if not isinstance(decoder.engine, DualDecomposition):
            raise ArgumentError(
                f"{spelled(name)} requires a model with dual decomposition; this model has none."
            )
    if given:
        decoder.engine = replace(decoder.engine, **given)
    if options.first_order_from is not None and decoder.model.companion is None:
        raise ArgumentError(
            f"{spelled('first_order_from')} requires a higher-order model; this one is of first "
            "order."
        )
    decoder.time_limit, decoder.first_order_from = options.time_limit, options.first_order_from


def by_length(
    decoder: Decoder, sentences: NDArray[np.int64], n_words: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Sentences in their order: long ones alone, those of first order apart from others."""
    of_first = np.zeros(len(sentences), dtype=np.bool_)
    if decoder.first_order_from is not None:
        of_first = n_words[sentences] >= decoder.first_order_from
    alone = isinstance(decoder.engine, DualDecomposition) & (n_words[sentences] > LONG_SENTENCE)
    alone &= ~of_first
    if not of_first.any() and not alone.any():
        return [sentences]
    cuts = (np.diff(of_first) != 0) | alone[1:] | alone[:-1]
    return np.split(sentences, np.flatnonzero(cuts) + 1)


def for_length(engine: Any, n_words: NDArray[np.int64]) -> Any:
    """The engine for a piece of `by_length`: with fewer iterations for a long sentence."""
    if not isinstance(engine, DualDecomposition) or len(n_words) != 1:
        return engine
    if n_words[0] <= LONG_SENTENCE:
        return engine
    most = max(_FIRST, _WORK // int(n_words[0]))
    return replace(engine, max_iterations=min(engine.max_iterations or _USUAL, most))


def no_marks(decoder: Decoder, count: int) -> NDArray[np.int8]:
    """Marks of trees without a fallback; empty if the model's trees can have none."""
    limited = isinstance(decoder.engine, DualDecomposition) or decoder.first_order_from is not None
    return np.zeros(count if limited else 0, dtype=np.int8)


def with_long(engine: Any, found: DecodedTrees, late: NDArray[np.int8]) -> NDArray[np.int8]:
    """The marks of trees, with that of a long sentence whose tree is not certified."""
    if for_length(engine, found.n_words) is engine:
        return late
    return np.where(found.certified | (late > 0), late, LONG).astype(np.int8)


def first_order_decoder(decoder: Decoder) -> Decoder:
    """The first-order pruner of a higher-order model as a decoder."""
    pruner = decoder.model.companion
    assert pruner is not None
    other = copy(decoder)
    # The temperature is that of the probabilities, which are the pruner's without own sums.
    own = 1.0 if hasattr(decoder.engine, "infer") else decoder.model.temperature
    other.model = replace(
        decoder.model, scorer=pruner.scorer, pruner=EveryArc(), temperature=own, reranker=None
    )
    other.engine = other.chooser
    other.time_limit = other.first_order_from = None
    return other


def decode_in_time(
    decoder: Decoder, scored: Scored, seconds: float, spent: float
) -> tuple[DecodedTrees, NDArray[np.int8]]:
    """Trees, and which of them ran out of time; `spent` is that of scoring all sentences."""
    engine: Any = for_length(decoder.engine, scored.batch.n_words)
    is_long = engine is not decoder.engine
    if is_long and spent >= seconds and decoder.model.companion is not None:
        return _first_order_trees(decoder, scored), np.full(1, NO_TIME, dtype=np.int8)
    most = engine.max_iterations or 5000
    began = time.perf_counter()
    found: DecodedTrees = replace(engine, max_iterations=min(_FIRST, most)).decode(scored.scores)
    mean = (time.perf_counter() - began) / max(1, len(scored.batch))
    left = seconds - spent / max(1, len(scored.batch))
    late = np.zeros(len(scored.batch), dtype=np.int8)
    if most <= _FIRST:
        return found, late
    ends = np.cumsum(found.n_words)
    heads = found.heads.copy()
    arrays = {name: getattr(found, name).copy() for name in _PER_SENTENCE}
    for i in np.flatnonzero(~found.certified).tolist():
        one = scored
        if len(scored.batch) > 1:
            one = decoder.score(scored.batch.encoded, scored.batch.sentences[i : i + 1])
        better, in_time = _one(engine, one, most, mean, left)
        late[i] = 0 if in_time else OUT_OF_TIME
        if better is not None and better.scores[0] >= arrays["scores"][i]:
            heads[ends[i] - found.n_words[i] : ends[i]] = better.heads
            for name, values in arrays.items():
                values[i] = getattr(better, name)[0]
    return found._replace(heads=heads, **arrays), late


def _first_order_trees(decoder: Decoder, scored: Scored) -> DecodedTrees:
    """The best trees by the scores of the first-order pruner."""
    found: DecodedTrees = decoder.chooser.decode(scored.summed)
    return found._replace(
        bounds=np.full(len(scored.batch), np.inf),
        certified=np.zeros(len(scored.batch), dtype=np.bool_),
    )


_PER_SENTENCE = ("scores", "bounds", "certified", "iterations")


def _one(
    engine: Any, scored: Scored, most: int, last: float, seconds: float
) -> tuple[DecodedTrees | None, bool]:
    """The tree of one sentence after as many attempts as there is time for."""
    spent, iterations, best = last, _FIRST, None
    while iterations < most:
        if spent + _MORE * last > seconds:
            return best, False
        iterations = min(iterations * _MORE, most)
        began = time.perf_counter()
        best = replace(engine, max_iterations=iterations).decode(scored.scores)
        last = time.perf_counter() - began
        spent += last
        if best.certified[0]:
            break
    return best, True
