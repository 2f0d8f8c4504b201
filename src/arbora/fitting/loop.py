"""The training loop: passes, each followed by a dev evaluation, with early stopping."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arbora.fitting.trainer import Trainer
from arbora.fitting.treebank import Tick

__all__ = [
    "AfterPass",
    "DevScores",
    "Evaluate",
    "History",
    "LoopSettings",
    "Observer",
    "Parameters",
    "PassRecord",
    "Phase",
    "begin_run",
    "run_loop",
]


@dataclass(frozen=True)
class DevScores:
    """UAS and LAS on dev, in percent."""

    uas: float
    las: float | None = None

    @property
    def deciding(self) -> float:
        """The score that chooses the best pass: LAS, or UAS without labels."""
        return self.uas if self.las is None else self.las


@dataclass(frozen=True)
class PassRecord:
    """The figures of one pass; scores are None without dev."""

    number: int
    loss: float
    uas: float | None  # without dev
    las: float | None
    seconds: float
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Phase:
    """Passes with one loss: the number of earlier passes, and the pass that it starts from.

    `rate` is the learning rate, given or found, if the learner has one.
    """

    before: int = 0
    start: int = 0
    rate: float | None = None


@dataclass
class History:
    """All passes so far, and the best on dev; without dev, the last.

    Learners with one loss have one phase; later phases continue from the best pass before.
    """

    passes: list[PassRecord] = field(default_factory=list)
    best: int = 0
    phases: list[Phase] = field(default_factory=lambda: [Phase()])

    @property
    def chosen(self) -> list[int]:
        """The number of passes of each phase that led to the best weights."""
        counts, last = [], self.best
        for phase in reversed(self.phases):
            counts.append(max(0, last - phase.before))
            last = phase.start if last > phase.before else last
        return counts[::-1]

    @property
    def rates(self) -> list[float | None]:
        """The learning rate of each phase, given or found; None for learners without one."""
        return [phase.rate for phase in self.phases]

    def _repr_html_(self) -> str:
        from arbora.drawing.page import html_table

        rows = [
            (
                f"{one.number}{' (best)' if one.number == self.best else ''}", f"{one.loss:.5f}",
                *("" if score is None else f"{score:.2f}" for score in (one.uas, one.las)),
                f"{one.seconds:.1f}",
            )
            for one in self.passes
        ]  # fmt: skip
        headings = ["pass", "loss per word", "dev UAS", "dev LAS", "seconds"]
        return html_table(headings, rows, caption=f"{len(self.passes)} passes, best {self.best}")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> History:
        """The history from `to_dict`; raises `ValueError` or `TypeError` for other values."""
        passes = [PassRecord(**record) for record in values["passes"]]
        phases = [Phase(**phase) for phase in values["phases"]]
        history = cls(passes, values["best"], phases)
        numbers = [record.number for record in passes]
        counts = [history.best, *numbers, *(n for p in phases for n in (p.before, p.start))]
        if not all(type(count) is int for count in counts):
            raise TypeError("counts of passes are not all integers")
        if numbers != list(range(1, len(passes) + 1)) or not phases:
            raise ValueError("passes are not numbered 1, 2, 3, ...")
        if history.best not in range(bool(passes), len(passes) + 1):
            raise ValueError("the best pass does not exist")
        if not all(0 <= phase.start <= phase.before <= len(passes) for phase in phases):
            raise ValueError("a phase begins at a pass that does not exist")
        if not all(isinstance(phase.rate, int | float | None) for phase in phases):
            raise TypeError("a learning rate is not a number")
        for record in passes:
            _check_record(record)
        return history


def _check_record(record: PassRecord) -> None:
    figures = [*record.figures.values(), record.loss, record.seconds]
    scores = [score for score in (record.uas, record.las) if score is not None]
    if not all(isinstance(value, int | float) for value in figures + scores):
        raise TypeError("figures of a pass are not all numbers")


class Observer(Protocol):
    """Callbacks of the training loop, for instance for a progress bar.

    An observer may have a further method `enter_run(name)`. It is called before `begin`, with the
    name of the run: pruner, parser, lists (of a reranker), reranker, or refit.
    """

    def begin(self, sentences: int, passes: int) -> None:
        """Called before training."""
        ...

    def tick(self, sentences: int) -> None:
        """Called after some sentences of a pass."""
        ...

    def end_pass(self, record: PassRecord, is_best: bool) -> None:
        """Called after each pass."""
        ...


def begin_run(observer: Observer | None, run: str, sentences: int, passes: int, done: int) -> None:
    """Tells an observer that a run begins, of which some passes are done already."""
    if observer is None:
        return
    enter = getattr(observer, "enter_run", None)
    if enter is not None:
        enter(run)
    observer.begin(sentences, passes)
    if done:
        observer.tick(done * sentences)


@dataclass(frozen=True)
class LoopSettings:
    """The maximum length of a phase, and the seed for shuffling."""

    passes: int
    patience: int
    seed: int


Parameters = dict[str, NDArray[Any]]  # of all components, as they are saved
Evaluate = Callable[[Parameters], DevScores | None]  # None: there is no dev
# Called after each pass, for a checkpoint.
AfterPass = Callable[[History, Parameters], None]


def run_loop(
    trainers: dict[str, Trainer],
    sentences: int,
    evaluate: Evaluate | None,
    settings: LoopSettings,
    *,
    history: History | None = None,
    best: Parameters | None = None,
    observer: Observer | None = None,
    tick: Tick | None = None,
    after_pass: AfterPass | None = None,
) -> tuple[Parameters, History]:
    """Runs trainers in parallel; returns the parameters of the best pass, and the history.

    A history with its best parameters, from a checkpoint or an earlier phase, is continued. The
    order of the sentences depends only on the seed and the pass. Limits apply to the current phase.
    Without `evaluate`, parameters are not evaluated between passes. `tick` replaces the observer's
    callback for sentences.
    """
    history = History() if history is None else history
    best = {} if best is None else best
    tick = tick or ((lambda _: None) if observer is None else observer.tick)
    while not _is_over(history, settings):
        number = len(history.passes) + 1
        started = time.perf_counter()
        order = np.random.default_rng([settings.seed, number]).permutation(sentences)
        reports = []
        for i, trainer in enumerate(trainers.values()):
            reports.append(trainer.run_pass(order, tick if i == 0 else (lambda _: None)))
        is_last = number - history.phases[-1].before >= settings.passes
        parameters = _rounded(trainers) if evaluate is not None or is_last else {}
        scores = None if evaluate is None else evaluate(parameters)
        report = reports[0]
        record = PassRecord(
            number,
            report.loss,
            None if scores is None else scores.uas,
            None if scores is None else scores.las,
            time.perf_counter() - started,
            report.figures,
        )
        history.passes.append(record)
        is_best = _is_best(scores, history)
        if is_best:
            history.best, best = number, best | parameters
        if after_pass is not None:
            after_pass(history, best)
        if observer is not None:
            observer.end_pass(record, is_best)
    return best, history


def _rounded(trainers: dict[str, Trainer]) -> Parameters:
    """The parameters rounded as in the model file, so that its scores are the reported ones."""
    return {
        f"{component}.{name}": np.asarray(values, dtype=np.float32)
        for component, trainer in trainers.items()
        for name, values in trainer.parameters().items()
    }


def _is_over(history: History, settings: LoopSettings) -> bool:
    before = history.phases[-1].before
    done = len(history.passes) - before
    in_vain = len(history.passes) - max(history.best, before)
    return done >= settings.passes or (done > 0 and in_vain >= settings.patience)


def _is_best(scores: DevScores | None, history: History) -> bool:
    if scores is None or history.best == 0:
        return True
    best = history.passes[history.best - 1]
    return best.uas is None or scores.deciding > DevScores(best.uas, best.las).deciding
