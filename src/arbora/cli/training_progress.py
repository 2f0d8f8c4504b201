"""Training progress: a bar on a terminal, and one line per pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from arbora.cli.progress import Bar

if TYPE_CHECKING:
    from arbora.fitting.loop import PassRecord

__all__ = ["TrainingProgress", "number_text"]


class TrainingProgress:
    """An `Observer` of the training loop that shows progress; `done` is the last complete pass.

    `later` names the runs that follow the first one: of a reranker, and of the retraining.
    """

    def __init__(
        self,
        bar: Bar,
        *,
        lines: bool = True,
        prefix: str = "",
        later: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self.done = 0
        self._later, self._runs = later, 0
        self._bar = bar
        self._lines = lines
        self._prefix = prefix
        self._sentences = self._passes = 0

    def begin(self, sentences: int, passes: int) -> None:
        if self.done:  # a later run, after the best pass was found
            self._bar.restart()
            if self._lines:
                self._bar.write(self._later()[self._runs])
            self._runs += 1
        self._sentences, self._passes = sentences, passes
        self._bar.expect(sentences * passes)
        self._show_pass(1)

    def tick(self, sentences: int) -> None:
        self._bar.advance(sentences)

    def end_pass(self, record: PassRecord, is_best: bool) -> None:
        self.done = record.number
        self._bar.reached(record.number * self._sentences)
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
