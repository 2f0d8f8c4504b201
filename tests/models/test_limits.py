"""Limits of the search: iterations, time, long sentences, first-order trees instead."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError, Parser, Sentence
from arbora.data.treebank import read_treebank
from arbora.inference import pruning
from arbora.models import limits
from arbora.options import ParseOptions
from tests.small_parsers import sentences, trained


@pytest.fixture(scope="module")
def dual():
    return trained(order="sibling", learner="mira", inference="dual")


def parsed(parser, chosen, **options):
    """The trees and the text of parsed sentences."""
    how = ParseOptions(**options)
    block = parser.parse_block(read_treebank(chosen), how)
    return block.trees, block.to_bytes(how.probabilities, how.certificates).decode()


def first_order_heads(parser, chosen):
    companion = parser.model.companion
    heads = []
    for sentence in chosen:
        trees = parser.first_order_distribution(sentence)
        heads += trees.argmax().heads.tolist()
    assert companion is not None
    return heads


def test_long_sentences_of_first_order_are_marked(dual):
    chosen = list(sentences("test", 12))
    limit = sorted(map(len, chosen))[6]
    trees, text = parsed(dual, chosen, first_order_from=limit)
    plain, unmarked = parsed(dual, chosen)
    is_long = np.array([len(sentence) >= limit for sentence in chosen])
    assert trees.fallbacks.tolist() == np.where(is_long, limits.FIRST_ORDER, 0).tolist()
    assert text.count("# arbora.fallback = first order") == is_long.sum()
    assert "arbora.fallback" not in unmarked
    ends = np.cumsum([len(sentence) for sentence in chosen])
    for i, sentence in enumerate(chosen):
        own = slice(ends[i] - len(sentence), ends[i])
        if is_long[i]:
            assert trees.heads[own].tolist() == first_order_heads(dual, [sentence])
            assert not trees.certified[i]
        else:
            assert trees.heads[own].tolist() == plain.heads[own].tolist()
    again = parsed(dual, list(read_again(text)))[1]  # marks of earlier parses go
    assert "arbora.fallback" not in again


def read_again(text):
    for piece in text.strip().split("\n\n"):
        yield Sentence.from_bytes(piece.encode() + b"\n\n")


def test_enough_time_gives_the_same_trees(dual):
    chosen = list(sentences("test", 20))
    plain, _ = parsed(dual, chosen)
    timed, text = parsed(dual, chosen, time_limit=1000.0)
    assert timed.heads.tolist() == plain.heads.tolist()
    assert not timed.fallbacks.any()
    assert "arbora.fallback" not in text


def test_no_time_gives_what_few_iterations_found(dual, monkeypatch):
    monkeypatch.setattr(limits, "_FIRST", 1)
    chosen = list(sentences("test", 40))
    timed, text = parsed(dual, chosen, time_limit=0.0)
    few, _ = parsed(dual, chosen, max_iterations=1)
    assert timed.heads.tolist() == few.heads.tolist()
    late = ~timed.certified
    assert late.any()
    assert timed.fallbacks.tolist() == np.where(late, limits.OUT_OF_TIME, 0).tolist()
    assert text.count("fewer iterations: the time limit") == late.sum()


def test_solver_and_iterations_of_a_run(dual):
    chosen = list(sentences("test", 20))
    decoder = dual.decoder(ParseOptions(solver="subgradient", max_iterations=7))
    assert (decoder.engine.solver, decoder.engine.max_iterations) == ("subgradient", 7)
    exact, _ = parsed(dual, chosen)
    other, _ = parsed(dual, chosen, solver="ad3")
    both = exact.certified & other.certified
    assert both.sum() > 10
    starts = np.cumsum([0, *map(len, chosen)])
    for i in np.flatnonzero(both):
        own = slice(starts[i], starts[i + 1])
        assert exact.heads[own].tolist() == other.heads[own].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "ad3"}, "solver='ad3'|solver requires a model with dual decomposition"),
        ({"max_iterations": 3}, "max_iterations requires a model with dual decomposition"),
        ({"time_limit": 1.0}, "time_limit requires a model with dual decomposition"),
        ({"first_order_from": 3}, "first_order_from requires a higher-order model"),
    ],
)
def test_limits_without_effect_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        trained().parse(list(sentences("test", 1)), **options)


def test_long_sentences_are_pruned_more_and_get_fewer_iterations(dual, monkeypatch):
    chosen = list(sentences("test", 10))
    limit = sorted(map(len, chosen))[5]
    plain, _ = parsed(dual, chosen)
    for module in (pruning, limits):
        monkeypatch.setattr(module, "LONG_SENTENCE", limit)
    encoded = dual.model.encoder.encode(read_treebank(chosen))
    decoder = dual.decoder()
    pieces = list(decoder.pieces(encoded))
    assert np.concatenate(pieces).tolist() == list(range(len(chosen)))
    for piece in pieces:
        long = [i for i in piece.tolist() if len(chosen[i]) > limit]
        assert not long or len(piece) == 1
        if long:
            kept = decoder.score(encoded, piece).batch.kept
            n = len(chosen[long[0]])
            # three heads, that of the best tree and that of the chain
            assert kept.reshape(n + 1, n + 1).sum(axis=0)[1:].max() <= 5
    monkeypatch.setattr(limits, "_WORK", 1)
    monkeypatch.setattr(limits, "_FIRST", 1)
    few, _ = parsed(dual, chosen)
    marked = few.fallbacks == limits.LONG
    longer = np.array([len(sentence) > limit for sentence in chosen])
    assert not (marked & ~longer).any()
    assert (marked == (longer & ~few.certified)).all()
    starts = np.cumsum([0, *map(len, chosen)])
    for i in np.flatnonzero(~longer):
        own = slice(starts[i], starts[i + 1])
        assert few.heads[own].tolist() == plain.heads[own].tolist()


def test_first_order_fallback_of_models_with_beliefs():
    parser = Parser.from_model(trained(order="sibling", inference="bp", learner="l2").model, 1)
    trees, text = parsed(parser, list(sentences("test", 4)), first_order_from=1, probabilities=True)
    assert (trees.fallbacks == limits.FIRST_ORDER).all()
    assert text.count("arbora.fallback") == 4
    assert len(trees.arc_probabilities) == len(trees.heads)


def test_long_sentences_without_time_get_first_order_trees(dual, monkeypatch):
    chosen = list(sentences("test", 10))
    limit = sorted(map(len, chosen))[5]
    for module in (pruning, limits):
        monkeypatch.setattr(module, "LONG_SENTENCE", limit)
    trees, text = parsed(dual, chosen, time_limit=0.0)
    starts = np.cumsum([0, *map(len, chosen)])
    longer = [len(sentence) > limit for sentence in chosen]
    assert ((trees.fallbacks == limits.NO_TIME) == longer).all()
    assert text.count("# arbora.fallback = first order: the time limit") == sum(longer)
    for i in np.flatnonzero(longer):
        own = slice(starts[i], starts[i + 1])
        assert trees.heads[own].tolist() == first_order_heads(dual, [chosen[i]])
        assert not trees.certified[i]
        assert np.isinf(trees.gaps[i])
