"""How reports look: quiet tables on a terminal, plain text in a pipe, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["figure", "p_value", "report_console", "table", "write_json"]


def write_json(answer: Mapping[str, Any]) -> None:
    """Exactly one JSON object on standard output."""
    sys.stdout.write(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def report_console() -> Console:
    """Standard output; in a pipe without escape codes and wide enough to cut nothing."""
    from rich.console import Console

    class ReportConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = ReportConsole(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = 200
    return console


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> Table:
    """A table without lines but one: names to the left, figures to the right."""
    from rich import box
    from rich.table import Table

    made = Table(
        box=box.SIMPLE_HEAD,
        title=title or None,
        title_justify="left",
        title_style="bold",
        header_style="dim",
        border_style="dim",
        show_edge=False,
        pad_edge=False,
        padding=(0, 0, 0, 1),
    )
    for i, heading in enumerate(headings):
        made.add_column(
            heading, justify="right" if i else "left", no_wrap=i == 0, vertical="bottom"
        )
    for cells in rows:
        made.add_row(*cells)
    return made


def figure(value: float | None, digits: int = 2) -> str:
    """A number with fixed digits, or a dash where there is nothing to measure by."""
    return "-" if value is None else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "< 0.0001"
