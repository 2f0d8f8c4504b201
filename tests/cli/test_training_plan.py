"""The time that is left for all runs of a training."""

from __future__ import annotations

import pytest

from arbora.cli.progress import clock_text
from arbora.cli.training_plan import NAMES, TrainingPlan, parser_work, stage_work
from arbora.options import ParserOptions


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_what_a_training_consists_of():
    first = ParserOptions.from_keywords({"passes": 10})
    assert parser_work(first, has_dev=True) == {"parser": 10.0}
    assert list(parser_work(first, has_dev=False)) == ["parser", "refit"]
    assert "refit" not in parser_work(ParserOptions.from_keywords({"refit": False}), has_dev=False)
    second = ParserOptions.from_keywords({"order": "sibling"})
    assert list(parser_work(second, has_dev=False)) == [
        "pruner", "parser", "pruner again", "refit",
    ]  # fmt: skip
    reranked = ParserOptions.from_keywords({"rerank": 5})
    assert list(parser_work(reranked, has_dev=True)) == ["parser", "lists", "reranker"]
    assert list(stage_work(0)) == ["segmenter", "tagger", "lemmatiser"]
    assert "folds" in stage_work(5)
    for work in (parser_work(second, has_dev=False), stage_work(5)):
        assert NAMES.keys() >= work.keys()


def test_time_of_runs_to_come_is_included():
    clock = Clock()
    plan = TrainingPlan({"pruner": 2.0, "parser": 10.0, "refit": 10.0}, clock)
    assert plan.seconds_left is None
    plan.enter("pruner")
    assert plan.seconds_left is None
    clock.now = 1.0
    plan.reached(0.5)  # a second per unit of work
    assert plan.seconds_left == pytest.approx(1.0 + 20.0)
    clock.now = 2.0
    plan.reached(1.0)
    plan.enter("parser")
    assert plan.seconds_left == pytest.approx(20.0)
    clock.now = 12.0
    plan.reached(0.5)  # its own speed is half of what was expected
    assert plan.seconds_left == pytest.approx(10.0 + 10.0 * (2 + 10) / (2 + 5))
    clock.now = 22.0
    plan.reached(1.0)
    plan.enter("refit")
    clock.now = 23.0
    plan.reached(1.0)
    assert plan.seconds_left == pytest.approx(0.0)


def test_runs_that_do_not_take_place_are_left_out():
    """As the stages of a resumed training."""
    clock = Clock()
    plan = TrainingPlan({"segmenter": 100.0, "tagger": 100.0, "parser": 4.0, "refit": 4.0}, clock)
    plan.enter("parser")
    plan.reached(0.5)  # at once: these passes were done before
    assert plan.seconds_left is None
    clock.now = 3.0
    plan.reached(0.75)
    assert plan.seconds_left == pytest.approx(3.0 + 4.0 * 3.0)


def test_times_are_readable():
    assert [clock_text(seconds) for seconds in (0.2, 65, 7207)] == ["0:00", "1:05", "2:00:07"]
