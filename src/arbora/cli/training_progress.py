"""Training progress: a bar on a terminal, and one line per pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from arbora.cli.progress import Bar
from arbora.cli.training_plan import NAMES, TrainingPlan

if TYPE_CHECKING:
    from arbora.fitting.loop import PassRecord

__all__ = ["TrainingProgress", "number_text"]


class TrainingProgress:
    """An `Observer` of the training loop that shows progress; `done` is the last complete pass.

    `plan` estimates the time that is left, for all runs. `enter_run` and `on_stage` tell which run
    it is.
    """

    def __init__(
        self,
        bar: Bar,
        *,
        lines: bool = True,
        prefix: str = "",
        plan: Callable[[], TrainingPlan] | None = None,
    ) -> None:
        self.done = 0
        self._bar = bar
        self._lines = lines
        self._prefix = prefix
        self._make_plan, self._plan = plan, cast("TrainingPlan | None", None)
        self._run, self._runs = "", 0
        self._sentences = self._passes = self._ticks = 0

    def on_stage(self, name: str, share: float) -> None:
        """A share of the training of a stage is done."""
        if name != self._run:
            self.enter_run(name)
            self._say()
            self._bar.expect(1.0)
        self._bar.reached(share)
        self._show_time(share)

    def enter_run(self, run: str) -> None:
        """Called before `begin`, with the name of the run."""
        self._run = f"{run} again" if run == "pruner" and self.done else run

    def begin(self, sentences: int, passes: int) -> None:
        self._sentences, self._passes, self._ticks = sentences, passes, 0
        self._say()
        self._bar.expect(sentences * passes)
        self._show_pass(1)

    def tick(self, sentences: int) -> None:
        self._ticks += sentences
        self._bar.advance(sentences)
        self._show_time(self._ticks / max(1, self._sentences * self._passes))

    def _say(self) -> None:
        """Tells which run begins; the first one only if it is not the parser's."""
        if self._plan is None and self._make_plan is not None:
            self._plan = self._make_plan()
        if self._plan is not None:
            self._plan.enter(self._run)
        name = NAMES.get(self._run, "")
        self._bar.restart(name)
        if self._lines and name and (self._runs or self._run != "parser"):
            self._bar.write(name)
        self._runs += 1

    def _show_time(self, share: float) -> None:
        if self._plan is not None:
            self._plan.reached(share)
            self._bar.left(self._plan.seconds_left)

    def end_pass(self, record: PassRecord, is_best: bool) -> None:
        self.done = record.number
        self._ticks = record.number * self._sentences
        self._bar.reached(self._ticks)
        figures = _figures(record)
        self._bar.show(**figures)
        self._show_pass(min(record.number + 1, self._passes))
        if not self._lines:
            return
        speed = self._sentences / max(record.seconds, 1e-9)
        parts = [f"pass {record.number:>{len(str(self._passes))}}/{self._passes}"]
        parts += [f"{name} {value}" for name, value in figures.items()]
        parts += [f"{speed:,.0f} sentences/s", f"{record.seconds:.1f} s"]
        self._bar.write("  ".join(parts) + ("  best" if is_best and record.uas is not None else ""))

    def _show_pass(self, number: int) -> None:
        self._bar.show(**{"pass": f"{self._prefix}{number}/{self._passes}"})


def _figures(record: PassRecord) -> dict[str, str]:
    figures = {"loss": number_text(record.loss)}
    figures |= {name.replace("_", " "): number_text(v) for name, v in record.figures.items()}
    if record.uas is not None:
        figures["UAS"] = f"{record.uas:.2f}"
    if record.las is not None:
        figures["LAS"] = f"{record.las:.2f}"
    return figures


def number_text(value: float) -> str:
    """A number with four significant digits."""
    return f"{value:.4g}"
