"""Calibration of models without sums: the bonus for the arcs of the decoded tree."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import Parser, SpanningTrees
from arbora.data.treebank import read_treebank
from arbora.models.decoding import Decoder
from arbora.models.model_file import from_bytes, to_bytes
from tests.small_parsers import sentences, trained


def with_bonus(parser, bonus):
    return Parser.from_model(parser.model.with_card(tree_bonus=bonus), parser.threads)


def log_loss(parser, some):
    """-log P of whether each parsed arc is right, per word."""
    facts = []
    for gold, found in zip(some, parser.parse(list(some)), strict=True):
        right = np.asarray(found.heads) == np.asarray(gold.heads)
        facts.append(np.where(right, found.arc_probabilities, 1.0 - found.arc_probabilities))
    return -np.log(np.maximum(np.concatenate(facts), 1e-6)).mean()


@pytest.mark.parametrize("order", ["sibling", "grandsibling"])
@pytest.mark.parametrize("bonus", [0.0, 1.7])
def test_probabilities_are_those_of_the_pruner_with_the_bonus(order, bonus):
    parser = with_bonus(trained(order=order), bonus)
    model = parser.model
    for sentence in sentences("dev", 4):
        (parsed,) = parser.parse([sentence])
        scored = Decoder(model, 1).score(
            model.encoder.encode(read_treebank([sentence])), np.array([0])
        )
        arcs = scored.summed.arcs_of(0) / model.temperature
        places = np.asarray(parsed.heads), np.arange(1, len(sentence) + 1)
        arcs[places] += bonus
        expected = SpanningTrees(arcs, root=model.root)
        np.testing.assert_allclose(
            parsed.arc_probabilities, expected.marginals[places], rtol=0, atol=1e-9
        )


def test_the_bonus_is_fitted_and_stored():
    parser = trained(order="sibling", arc_filter=False)
    model = parser.model
    assert model.tree_bonus == model.card["tree_bonus"] > 0.0
    assert from_bytes(to_bytes(model)).tree_bonus == model.tree_bonus
    dev = sentences("dev", 20)
    best = log_loss(parser, dev)
    for other in (0.0, model.tree_bonus + 1.0):
        assert best < log_loss(with_bonus(parser, other), dev)


def test_models_with_sums_have_none():
    parser = trained()
    assert "tree_bonus" not in parser.model.card
    assert parser.model.tree_bonus == 0.0
    some = list(sentences("dev", 3))
    for plain, given in zip(parser.parse(some), with_bonus(parser, 5.0).parse(some), strict=True):
        np.testing.assert_array_equal(plain.arc_probabilities, given.arc_probabilities)
