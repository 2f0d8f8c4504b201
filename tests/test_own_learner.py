"""A learner defined outside the package is identified by its tag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from arbora.errors import ArgumentError
from arbora.options import L2Options, ParserOptions
from arbora.options.declare import alternatives, option


@dataclass(frozen=True)
class OwnOptions(L2Options):
    """Options of a learner that only this test knows."""

    tag: ClassVar[str] = "own"
    power: float = option(2.0, "A number.", "Learning", low=1.0, high=3.0)


def test_keywords_find_the_class():
    options = ParserOptions.from_keywords({"learner": "own", "power": 3.0})
    assert options.learner.tag == "own"
    assert options.learner.power == 3.0
    assert ParserOptions.from_keywords(options.keywords()) == options


def test_higher_orders_get_the_inference_of_its_relatives():
    for learner in ("own", OwnOptions()):
        options = ParserOptions.from_keywords({"learner": learner, "order": "sibling"})
        assert options.order.inference.tag == "bp"
        assert options.order.training_inference.tag == "bp"


def test_training_further_keeps_it():
    options = ParserOptions.from_keywords({"learner": "own", "power": 3.0})
    assert options.continued({}).learner == options.learner


def test_declared_components_win():
    tags = alternatives((L2Options,))
    assert tags["l2"] is L2Options
    assert tags["own"] is OwnOptions


@pytest.mark.parametrize("learner", ["owl", ["own"], 3])
def test_anything_else_is_refused(learner):
    with pytest.raises(ArgumentError, match="learner must be one of perceptron, mira"):
        ParserOptions.from_keywords({"learner": learner})
