"""Progress bars on standard error, drawn only on a terminal.

```python
with byte_progress("parsing", total=path.stat().st_size) as bar:
    bar.reached(bytes_read)

with step_progress("training", total=passes * sentences, unit="sentences") as bar:
    bar.show(**{"pass": "3/10", "objective": "1.21e4", "UAS": "87.31", "LAS": "84.02"})
    bar.advance(batch_size)
```
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, Task

__all__ = ["Bar", "byte_progress", "clock_text", "step_progress"]

WIDE = 100  # terminal width from which the unit of the speed is shown


class Bar:
    """A progress bar, visible or not."""

    def __init__(self, progress: Progress | None, description: str, total: float | None) -> None:
        self._progress = progress
        self._figures: dict[str, str] = {}
        if progress is not None:
            self._task = progress.add_task(description, total=total, figures="", left=None)

    def expect(self, total: float) -> None:
        """Sets the total number of steps."""
        if self._progress is not None:
            self._progress.update(self._task, total=total)

    def restart(self, description: str = "") -> None:
        """Resets the bar to 0, with another description if one is given."""
        self._figures.clear()
        if self._progress is not None:
            told = {"description": description} if description else {}
            self._progress.reset(self._task, figures="", **told)  # type: ignore[arg-type]  # texts

    def left(self, seconds: float | None) -> None:
        """Shows this time instead of the one that the bar would estimate."""
        if self._progress is not None:
            self._progress.update(self._task, left=seconds)

    def advance(self, steps: float = 1) -> None:
        """Adds completed steps."""
        if self._progress is not None:
            self._progress.advance(self._task, steps)

    def reached(self, done: float) -> None:
        """Sets the number of completed steps or bytes."""
        if self._progress is not None:
            self._progress.update(self._task, completed=done)

    def show(self, **figures: str) -> None:
        """Shows figures beside the bar, in addition to those shown before."""
        self._figures.update(figures)
        if self._progress is not None:
            text = " ".join(f"[dim]{name}[/dim] {value}" for name, value in self._figures.items())
            self._progress.update(self._task, figures=text)

    def write(self, line: str) -> None:
        """Prints a line above the bar; also without a terminal."""
        if self._progress is not None:
            self._progress.console.print(line, highlight=False, markup=False)
        else:
            sys.stderr.write(line + "\n")


def clock_text(seconds: float) -> str:
    """Minutes and seconds, 1:05, or hours too, 2:00:07."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def byte_progress(description: str, total: int | None, *, quiet: bool = False) -> Iterator[Bar]:
    """A bar by bytes, with speed and time left; `total=None` (a pipe) shows the bytes read."""
    with nullcontext() if quiet else _progress("bytes") as progress:
        yield Bar(progress, description, total)


@contextmanager
def step_progress(
    description: str, total: int | None, unit: str = "steps", *, quiet: bool = False
) -> Iterator[Bar]:
    """A bar by steps, with figures, steps per second and time left; invisible if `quiet`."""
    with nullcontext() if quiet else _progress(unit) as progress:
        yield Bar(progress, description, total)


@contextmanager
def _progress(unit: str) -> Iterator[Progress | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as parts
    from rich.console import Console
    from rich.table import Column
    from rich.text import Text

    console = Console(stderr=True)
    shown_unit = f" {unit}" if console.width >= WIDE else ""

    class Speed(parts.ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            text = "" if speed is None else f"{speed:,.0f}{shown_unit}/s"
            return Text(text, style="dim", no_wrap=True)

    class TimeLeft(parts.TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            left = task.fields.get("left")
            return super().render(task) if left is None else Text(clock_text(left), "cyan")

    in_bytes = unit == "bytes"
    whole = Column(no_wrap=True)
    columns = [
        parts.TextColumn("{task.description}", table_column=whole),
        parts.BarColumn(bar_width=16 if in_bytes else 8, style="dim", complete_style="cyan"),
        parts.DownloadColumn()
        if in_bytes
        else parts.TextColumn("{task.fields[figures]}", table_column=whole),
        parts.TransferSpeedColumn() if in_bytes else Speed(),
        TimeLeft(compact=True),
    ]
    with parts.Progress(*columns, console=console, transient=True) as progress:
        yield progress
