"""The report of a reproduction: a page in Markdown, the same as JSON, and plots."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbora.data.temporary_files import temporary_path
from arbora.errors import unwritable
from arbora.reproduction.claims import Verdict, judge, verdict_lines
from arbora.reproduction.recipe import Recipe, Way
from arbora.reproduction.results import Results
from arbora.reproduction.tables import WAYS, Table, markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Report", "Runs", "write_report"]

_ROOM = 28  # letters below a panel
_LINES = (("#2b5c8a", "o-"), ("#c44e52", "s-"), ("#8c8c3e", "^--"), ("#6b4c9a", "d:"))


@dataclass(frozen=True)
class Runs:
    """How many runs have no result, how many there are, and the processor time of the others."""

    missing: int = 0
    every: int = 0
    processor_seconds: float = 0.0


@dataclass(frozen=True)
class Report:
    """Everything that was found, and where it was written."""

    recipe: Recipe
    tables: dict[str, Table]
    verdicts: list[dict[Way, Verdict]]
    files: list[Path]


def write_report(
    results: Results,
    tables: dict[str, Table],
    command: str,
    out: Path,
    runs: Runs,
) -> Report:
    """Writes PAPER.md, PAPER.json, the plots, and times, which differ between runs, apart."""
    recipe = results.recipe
    verdicts = [judge(results, tables, claim) for claim in recipe.claims]
    written = [path for table in tables.values() for path in _plot(recipe, table, out)]
    page = _page(results, tables, verdicts, command, {path.stem for path in written}, runs)
    contents = json.dumps(_as_dict(results, tables, verdicts, command), indent=1)
    times = {
        "machine": _machine(),
        "runs": runs.every - runs.missing,
        "processor_minutes": round(runs.processor_seconds / 60, 1),
        "tables": {name: table.times for name, table in tables.items() if table.times},
    }
    texts = {".md": page, ".json": contents, "-times.json": json.dumps(times, indent=1)}
    for ending, text in texts.items():
        path = out / f"{recipe.paper}{ending}"
        _write(path, text.rstrip() + "\n")
        written.append(path)
    return Report(recipe, tables, verdicts, written)


def _page(
    results: Results,
    tables: dict[str, Table],
    verdicts: list[dict[Way, Verdict]],
    command: str,
    plots: set[str],
    runs: Runs,
) -> str:
    recipe = results.recipe
    lines = [f"# {recipe.citation}: {recipe.title}", ""]
    lines += [f"The paper's tables by its own recipe, written by `{command}`.", ""]
    if results.quick is not None:
        lines += ["**A quick run on a part of the data: these figures are not results.**", ""]
    if runs.missing:
        told = f"**{runs.missing} of {runs.every} runs are missing: their cells are empty, and"
        lines += [f"{told} verdicts are of those that are here.**", ""]
    lines += _explanation(recipe)
    lines += ["## Claims", "", "| | claim | section | verdict | figure |", _RULE_OF_CLAIMS]
    for number, (claim, found) in enumerate(zip(recipe.claims, verdicts, strict=True), 1):
        decision, figure = verdict_lines(claim, found)
        section = claim.section or "-"
        lines.append(f"| {number} | {claim.text} | {section} | {decision} | {figure} |")
    lines += ["", "## Tables", ""]
    for spec in recipe.tables:
        if spec.name not in tables:
            continue
        where = f" ({_place(spec.section)})" if spec.section else ""
        lines += [f"### {_heading(spec.name)}: {spec.title}{where}", ""]
        if f"{recipe.paper}-{spec.name}" in plots:
            lines += [f"![{spec.title}]({recipe.paper}-{spec.name}.svg)", ""]
        lines += [markdown(tables[spec.name]), ""]
    lines += _deviations(recipe)
    return "\n".join(lines)


def _machine() -> dict[str, Any]:
    """What the runs took their time on, as far as the system tells."""
    cpu = Path("/proc/cpuinfo")
    text = cpu.read_text(encoding="utf-8", errors="replace") if cpu.exists() else ""
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    processor = names[0] if names else platform.processor() or platform.machine()
    return {"processor": processor, "cores": os.cpu_count(), "system": platform.system()}


_RULE_OF_CLAIMS = "| ---: | --- | --- | --- | --- |"


def _place(section: str) -> str:
    return f"section {section}" if section[0].isdecimal() else section


def _heading(name: str) -> str:
    return f"Table {name}" if name.isdecimal() else (name[0].upper() + name[1:]).replace("-", " ")


def _explanation(recipe: Recipe) -> list[str]:
    lines = [
        "*Published* figures are the paper's. *As printed* is the paper's recipe on our data, "
        "*ours* today's defaults for the same kind of parser. *Original data* is the paper's own "
        "treebank, a *stand-in* another treebank of the language. Evaluation rule: "
        f"{recipe.rule or 'that of the file format'}.",
        "", "## Recipe", "", "| paper | what the paper does, and what is done here |",
        "| --- | --- |",
    ]  # fmt: skip
    lines += [f"| {where} | {what} |" for where, what in recipe.protocol]
    return [*lines, ""]


def _deviations(recipe: Recipe) -> list[str]:
    found = [f"- {one.name}: {one.deviation}" for one in recipe.systems if one.deviation]
    lines = ["## Where the recipe differs from the paper", "", *found] if found else []
    remarks = [f"- {remark}" for remark in recipe.remarks]
    return [*lines, "", *(["## Remarks", "", *remarks] if remarks else [])]


def _as_dict(
    results: Results, tables: dict[str, Table], verdicts: list[dict[Way, Verdict]], command: str
) -> dict[str, Any]:
    recipe = results.recipe
    return {
        "paper": recipe.paper,
        "command": command,
        "versions": {name: version(name) for name in ("arbora", "numpy", "scipy")},
        "python": platform.python_version(),
        "quick": results.quick is not None,
        "tables": {
            name: {"title": table.title, "cells": table.values, "notes": table.notes}
            for name, table in tables.items()
        },
        "claims": [
            {
                "claim": claim.text, "section": claim.section, "note": claim.note,
                "verdicts": {
                    WAYS[way]: {"decision": one.decision, "figure": one.figure}
                    for way, one in found.items()
                },
            }
            for claim, found in zip(recipe.claims, verdicts, strict=True)
        ],
    }  # fmt: skip


def _plot(recipe: Recipe, table: Table, out: Path) -> list[Path]:
    """A panel per treebank with a line per name; nothing without matplotlib."""
    if not table.curves:
        return []
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        return []
    mpl.rcParams.update({"svg.hashsalt": "arbora", "svg.fonttype": "none", "font.size": 11})
    figure = Figure(figsize=(3.8 * len(table.curves), 3.3), layout="constrained")
    for place, (title, lines) in enumerate(table.curves.items(), 1):
        axes = figure.add_subplot(1, len(table.curves), place)
        _draw(axes, table, title, lines)
        if place == 1:
            axes.legend(frameon=False)
    path = out / f"{recipe.paper}-{table.name}.svg"
    temporary = temporary_path(path)
    try:
        figure.savefig(temporary, format="svg", metadata={"Date": None}, facecolor="white")
        temporary.replace(path)
    except OSError as error:
        raise unwritable(os.fspath(path), error) from error
    return [path]


def _draw(axes: Axes, table: Table, title: str, lines: dict[str, list[float | None]]) -> None:
    for (name, values), (colour, style) in zip(lines.items(), _LINES, strict=False):
        known = [(place, value) for place, value in enumerate(values) if value is not None]
        axes.plot(*zip(*known, strict=True), style, color=colour, label=name, linewidth=1.8)
    axes.set_xticks(range(len(table.axis)), table.axis)
    if sum(map(len, table.axis)) > _ROOM:
        axes.tick_params(axis="x", rotation=60, labelsize=8)
    axes.set(xlabel=table.axis_title, title=title)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _write(path: Path, text: str) -> None:
    temporary = temporary_path(path)
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise unwritable(os.fspath(path), error) from error
