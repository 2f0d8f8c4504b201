"""The runs that a training consists of, and the time that is left for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arbora.options import ParserOptions

__all__ = ["NAMES", "TrainingPlan", "parser_work", "stage_work"]

# What is shown of each run.
NAMES = {
    "segmenter": "training the segmenter",
    "tagger": "training the tagger",
    "lemmatiser": "training the lemmatiser",
    "folds": "tagging the training data by cross-validation",
    "pruner": "training the pruner",
    "parser": "training the parser",
    "lists": "making the reranker's lists by cross-validation",
    "reranker": "training the reranker",
    "pruner again": "retraining the pruner on all sentences",
    "refit": "retraining on all sentences",
}
# Rough costs, in passes of a first-order parser; the speed is measured.
_STAGE_COSTS = {"segmenter": 2.0, "tagger": 0.6, "lemmatiser": 0.2}
_HIGHER_ORDER = 4.0
_RERANKER_PASSES = 5.0
_AT_ONCE = 0.01  # seconds: what is done by then was done before an interruption


def stage_work(folds: int) -> dict[str, float]:
    """The work of each stage."""
    per_fold = _STAGE_COSTS["tagger"] + _STAGE_COSTS["lemmatiser"]
    work = _STAGE_COSTS | {"folds": folds * per_fold}
    return {name: amount for name, amount in work.items() if amount}


def parser_work(options: ParserOptions, *, has_dev: bool) -> dict[str, float]:
    """The most work of each run of the parser."""
    own = options.keywords()
    higher = own["order"] != "first"
    cost, passes = _HIGHER_ORDER if higher else 1.0, float(own["passes"])
    work = {"pruner": float(own["pruner_passes"]) if higher else 0.0, "parser": cost * passes}
    if own.get("rerank"):
        work["lists"] = (own["rerank_folds"] - 1) * passes
        work["reranker"] = _RERANKER_PASSES
    if not has_dev and own["refit"]:
        work |= {"pruner again": work["pruner"], "refit": work["parser"]}
    return {name: amount for name, amount in work.items() if amount}


class TrainingPlan:
    """Measures the runs and estimates the time of those that are left.

    Before a run, its time is guessed from its work and the speed so far; during it, from its own
    speed. Early stopping may end it sooner, so the time left is at most that.
    """

    def __init__(
        self, work: Mapping[str, float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._waiting = dict(work)
        self._clock = clock
        self._began = clock()
        self._work = 0.0  # of the current run
        self._before = self._share = 0.0  # of it, when it began (if resumed) and now
        self._finished = (0.0, 0.0)  # work and seconds of the runs before

    def enter(self, run: str) -> None:
        """A run begins; earlier ones that did not take place are left out."""
        self._finished = self._measured()
        if run in self._waiting:
            while next(iter(self._waiting)) != run:
                del self._waiting[next(iter(self._waiting))]
        self._work = self._waiting.pop(run, 0.0)
        self._began, self._before, self._share = self._clock(), 0.0, 0.0

    def reached(self, share: float) -> None:
        """A share of the current run is done."""
        self._share = min(max(share, 0.0), 1.0)
        if self._clock() - self._began < _AT_ONCE:
            self._before = self._share

    def _measured(self) -> tuple[float, float]:
        """The work that was measured, and its seconds."""
        work, seconds = self._finished
        if self._share <= self._before:
            return work, seconds
        done = self._work * (self._share - self._before)
        return work + done, seconds + self._clock() - self._began

    @property
    def seconds_left(self) -> float | None:
        """The time left; None before anything was measured."""
        work, seconds = self._measured()
        spent, done = self._clock() - self._began, self._share - self._before
        if done > 0.0:
            own = spent / done * (1.0 - self._share)
        elif work > 0.0:
            own = max(0.0, self._work * seconds / work - spent)
        else:
            return None
        return own + (seconds / work if work > 0.0 else 0.0) * sum(self._waiting.values())
