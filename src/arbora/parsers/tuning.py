"""Grid search: trains with every combination of a grid and keeps the best on dev."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, cast

from arbora.data import Sentence, read_conllu
from arbora.data.source import ReadPath
from arbora.data.treebank import TreebankSource, is_file
from arbora.errors import ArgumentError
from arbora.options import (
    MiraOptions,
    ParserOptions,
    PerceptronOptions,
    current_names,
    public_options,
    spelled,
)
from arbora.parsers.parser import Parser
from arbora.spread import Spread, answered, one_after_another

__all__ = ["Trial", "Tuning", "default_grid", "tune"]

_FACTORS = {
    "regularization": (0.1, 1.0, 10.0),
    "rate": (0.5, 1.0, 2.0),
    "largest_step": (0.1, 1.0, 10.0),
}


@dataclass(frozen=True)
class Trial:
    """One combination of the grid, with its best pass and dev scores."""

    options: dict[str, Any]
    uas: float
    las: float | None
    best_pass: int
    passes: int
    seconds: float

    @property
    def deciding(self) -> float:
        """The dev score that trials are ordered by: LAS, or UAS without labels."""
        return self.uas if self.las is None else self.las


@dataclass(frozen=True)
class Tuning:
    """The trials, best first, and the best parser."""

    trials: tuple[Trial, ...]
    parser: Parser
    rule: str

    def _repr_html_(self) -> str:
        from arbora.drawing.page import html_table

        names = list(self.trials[0].options) if self.trials else []
        rows = [
            (
                place, *(one.options[name] for name in names), f"{one.uas:.2f}",
                "" if one.las is None else f"{one.las:.2f}", one.best_pass,
            )
            for place, one in enumerate(self.trials, start=1)
        ]  # fmt: skip
        headings = ["trial", *names, "dev UAS", "dev LAS", "best pass"]
        return html_table(headings, rows, caption=f"{len(rows)} trials, rule {self.rule}")


def default_grid(options: ParserOptions) -> dict[str, list[Any]]:
    """Values around the defaults of the learner's most important options."""
    own = options.keywords()
    if isinstance(options.learner, MiraOptions):
        names = ["largest_step"]
    elif isinstance(options.learner, PerceptronOptions):
        return {"batch_size": [1, 4, 16]}
    else:
        names = [name for name in ("regularization", "rate") if isinstance(own.get(name), float)]
    return {
        name: [float(f"{own[name] * factor:.6g}") for factor in _FACTORS[name]] for name in names
    }


def tune(
    train: TreebankSource,
    dev: TreebankSource | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    threads: int | None = None,
    on_trial: Callable[[int, int], object] | None = None,
    on_result: Callable[[Trial], object] | None = None,
    spread: Spread = one_after_another,
    **options: Any,
) -> Tuning:
    """Trains with every combination of the values in `grid` and compares them on dev.

    `grid` maps option names to lists of values; the default is `default_grid`. Other keywords are
    options of `Parser` or `Parser.fit` and apply to all trials. Without `dev`, the last tenth of
    `train` is held out. `on_trial` is called with the number of each trial and the number of
    trials, `on_result` with each `Trial`. `spread` runs the trials elsewhere, with one thread each
    unless `threads` says more; then files that options name must be there, too.
    """
    options, deprecated = current_names(options)
    if grid is not None:
        grid, in_grid = current_names(grid)
        deprecated += in_grid
    for warning in deprecated:
        warnings.warn(warning, DeprecationWarning, stacklevel=2)
    known = public_options(ParserOptions)
    fixed = {name: options.pop(name) for name in tuple(options) if name in known}
    chosen: dict[str, Sequence[Any]]
    chosen = {**default_grid(ParserOptions.from_keywords(fixed))} if grid is None else dict(grid)
    for name in chosen:
        if name in fixed and grid is not None:
            raise ArgumentError(
                f"{spelled(name)} is given both in the grid and as an option: choose one."
            )
    points = _points(chosen, fixed)
    reading = {name: options.pop(name) for name in _READING if name in options}
    train = _sentences(train, reading)
    dev = None if dev is None else _sentences(dev, reading)
    setting = _Setting(threads, train, dev, fixed, options, on_trial, len(points))
    found: dict[int, Trial] = {}
    best: tuple[float, int, Parser] | None = None
    with closing(spread(_try, setting, list(enumerate(points, start=1)))) as answers:
        for place, answer in answers:
            trial, parser = answered(answer)
            found[place] = trial
            if best is None or (trial.deciding, -place) > best[:2]:  # the first of equals
                best = (trial.deciding, -place, parser)
            if on_result is not None:
                on_result(trial)
    assert best is not None
    trials = [found[place] for place in sorted(found)]
    trials.sort(key=lambda trial: -trial.deciding)
    chosen_parser = best[2]
    if dev is None and fixed.get("refit", True):
        chosen_parser = Parser(threads=threads, **(fixed | trials[0].options)).fit(
            train, None, **options
        )
    chosen_parser.threads = Parser(threads=threads).threads  # those of this machine
    return Tuning(tuple(trials), chosen_parser, chosen_parser.model.card["dev"]["rule"])


@dataclass(frozen=True)
class _Setting:
    """What all trials share."""

    threads: int | None
    train: list[Sentence]
    dev: list[Sentence] | None
    fixed: dict[str, Any]
    options: dict[str, Any]
    on_trial: Callable[[int, int], object] | None
    count: int

    def __reduce__(self) -> tuple[Any, ...]:
        """Elsewhere, a trial has one thread unless more are asked for, and nobody watches."""
        options = {name: value for name, value in self.options.items() if name != "observer"}
        return _Setting, (
            self.threads or 1, self.train, self.dev, self.fixed, options, None, self.count,
        )  # fmt: skip


def _try(setting: _Setting, point: tuple[int, dict[str, Any]]) -> tuple[Trial, Parser]:
    """Trains with one combination of the grid."""
    number, values = point
    if setting.on_trial is not None:
        setting.on_trial(number, setting.count)
    started = time.perf_counter()
    trying = setting.fixed | values | {"refit": False}
    parser = Parser(threads=setting.threads, **trying)
    parser.fit(setting.train, setting.dev, **setting.options)
    return _trial(values, parser, time.perf_counter() - started), parser


_READING = ("format", "skip_bad", "on_error")


def _points(grid: dict[str, Sequence[Any]], fixed: dict[str, Any]) -> list[dict[str, Any]]:
    """All combinations, checked before training."""
    for name, values in grid.items():
        if name not in public_options(ParserOptions):
            raise ArgumentError(f"the grid has an unknown option {name!r}.")
        if isinstance(values, str) or not len(values):
            raise ArgumentError(f"the grid must have a list of values for {name}, not {values!r}.")
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    for point in points:
        ParserOptions.from_keywords(fixed | point)
    return points


def _sentences(source: TreebankSource, reading: dict[str, Any]) -> list[Sentence]:
    """The sentences as a list, so that standard input is read once and errors are reported once."""
    if is_file(source):
        source = read_conllu(cast("ReadPath", source), trees=True, **reading)
    return list(cast("Iterable[Sentence]", source))


def _trial(point: dict[str, Any], parser: Parser, seconds: float) -> Trial:
    card = parser.model.card
    if card["dev"] is None:
        raise ArgumentError(
            "there are no dev sentences to compare the trials on: give dev, or more training data."
        )
    scores = card["dev"]
    return Trial(point, scores["uas"], scores["las"], card["best_pass"], card["passes"], seconds)
