"""Report formatting: tables on a terminal, plain text in a pipe, JSON for programs."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = [
    "describe_dev_tags",
    "describe_head_sets",
    "describe_pruning",
    "describe_reranking",
    "describe_stages",
    "figure",
    "p_value",
    "report_console",
    "shown_card",
    "table",
    "write_json",
]


_PIPE = 200  # columns if the width is unknown; wide enough that nothing is cut


def write_json(answer: Mapping[str, Any]) -> None:
    """Writes one JSON object to standard output; NaN and infinities become null."""
    text = json.dumps(_finite(answer), indent=2, ensure_ascii=False, allow_nan=False)
    # json escapes the other control characters
    sys.stdout.write(re.sub("[\x7f-\x9f]", lambda c: f"\\u{ord(c[0]):04x}", text) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def report_console() -> Console:
    """Standard output; in a pipe without escape codes, and wide unless COLUMNS says otherwise."""
    from rich.console import Console

    class ReportConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    if sys.stdout.isatty():
        return ReportConsole(highlight=False, soft_wrap=False)
    wanted = os.environ.get("COLUMNS", "")
    width = int(wanted) if wanted.isdecimal() and int(wanted) else _PIPE
    stream = cast("IO[str]", _Trimmed(sys.stdout))
    return ReportConsole(file=stream, width=width, highlight=False, soft_wrap=False)


class _Trimmed:
    """A stream that drops trailing spaces of lines."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(re.sub(r" +(?=\n)", "", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> Table:
    """A table with one rule under the headings, names to the left and figures to the right.

    Cells are markup: text from files must go through `plain` first.
    """
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
    """A number with a fixed number of decimals, or a dash for None."""
    return "-" if value is None else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def describe_pruning(card: dict[str, Any]) -> str | None:
    """The figures of a higher-order model's first-order pruner on dev; None for other models."""
    if "pruning" not in card:
        return None
    figures = card["pruning"]
    return (
        f"{figures['arcs_per_word']:.1f} arcs per word are kept, including "
        f"{figures['oracle_uas']:.2f} % of the gold arcs"
    )


def describe_reranking(card: dict[str, Any]) -> str | None:
    """The figures of a reranker's lists on dev; None for other models and without dev."""
    figures = card.get("reranking") or {}
    if figures.get("oracle_uas") is None:
        return None
    return (
        f"the first trees of the lists have UAS {figures['first_uas']:.2f}, the best "
        f"{figures['oracle_uas']:.2f}"
    )


def describe_head_sets(card: dict[str, Any]) -> str | None:
    """What head sets were calibrated on; None for other models."""
    figures = card.get("head_sets")
    if figures is None:
        return None
    return (
        f"calibrated on {figures['words']:,} words in {figures['sentences']:,} sentences, "
        f"{'own tags' if figures['own_tags'] else 'tags of the input'}"
    )


def shown_card(card: dict[str, Any]) -> dict[str, Any]:
    """The card without long lists that mean nothing to a reader."""
    shown = {name: value for name, value in card.items() if name != "vocabulary"}
    if card.get("head_sets") is not None:
        counts = ("words", "sentences", "own_tags")
        shown["head_sets"] = {name: card["head_sets"][name] for name in counts}
    return shown


_FIGURES = (
    ("words", "words"), ("sentences", "sentences"), ("upos", "UPOS"), ("xpos", "XPOS"),
    ("feats", "FEATS"), ("lemma", "lemmas"),
)  # fmt: skip


def describe_dev_tags(card: dict[str, Any]) -> str:
    """Which tags dev had when the parser was scored."""
    stages = card.get("stages") or {}
    if not stages.get("folds"):
        return ""
    both = stages.get("mixed") and stages.get("measured_on") != "dev"  # held-out sentences
    return ", gold and predicted tags" if both else ", predicted tags"


def describe_stages(card: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and figures of the stages before a parser, and why others are missing."""
    stages = card.get("stages") or {"trained": {}, "skipped": {}}
    where = {"dev": " (dev)", "folds": " (cross-validation)"}.get(stages.get("measured_on") or "")
    lines = []
    for name in ("segmenter", "tagger", "lemmatiser"):
        measured = stages["trained"].get(name, {})
        told = [f"{title} {figure(measured[key])}" for key, title in _FIGURES if key in measured]
        if name in stages["trained"]:
            lines.append((name, ", ".join(told) + (where or "") if told else "trained"))
        elif name in stages["skipped"]:
            lines.append((name, f"none: {stages['skipped'][name]}"))
    return lines
