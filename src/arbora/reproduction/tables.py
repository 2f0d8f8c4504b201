"""Tables of a reproduction, as plain rows that Markdown and JSON are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arbora.reproduction.recipe import Column, Corpus, TableSpec, Way
from arbora.reproduction.results import Results, corpora_of

__all__ = ["WAYS", "Table", "accuracy_table", "markdown", "p_value"]

WAYS: dict[Way, str] = {"printed": "as printed", "ours": "ours"}

TIMES = ("seconds", "train_seconds")  # measures that differ between runs
_DIGITS = {"seconds": 4, "train_seconds": 4, "best_pass": 1}


@dataclass
class Table:
    """A table with its notes; `curves` has a panel per treebank, with a line per name."""

    name: str
    title: str
    headings: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)
    times: list[dict[str, Any]] = field(default_factory=list)  # values that differ between runs
    curves: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)
    axis: list[str] = field(default_factory=list)
    axis_title: str = ""


def accuracy_table(results: Results, spec: TableSpec) -> Table:
    """A row per treebank and way: the published figures, the paper's recipe, and ours."""
    table = Table(spec.name, spec.title, ["", "", *(c.title for c in spec.columns)], [])
    table.axis, table.axis_title = list(spec.axis), spec.axis_title
    found: dict[str, list[list[float | None]]] = {}
    for corpus in corpora_of(results.recipe, spec, results.corpora):
        for name, cells in _lines(results, spec, corpus):
            table.rows.append([_row_title(results, corpus), name, *_cells(spec, cells)])
            found.setdefault(name, []).append(cells)
            for column, value in zip(spec.columns, cells, strict=True):
                into = table.times if column.measure in TIMES else table.values
                into.append({
                    "language": corpus.language, "data": corpus.kind, "recipe": name,
                    "column": column.title, "value": value,
                })  # fmt: skip
            if name == WAYS["printed"] and spec.lines:
                table.curves[corpus.language] = _curves(spec, cells)
    if len(results.corpora) > 1:
        for name, rows in found.items():
            means = [_mean(list(column)) for column in zip(*rows, strict=True)]
            if name == "published" and "mean" in spec.published and results.quick is None:
                means = list(spec.published["mean"])
            table.rows.append(["**mean**", name, *_cells(spec, means)])
    table.notes += _tests(results, spec) + _choices(results, spec)
    if spec.note:
        table.notes.append(spec.note)
    return table


def _row_title(results: Results, corpus: Corpus) -> str:
    """The language and whether the data are the paper's; recipes without a paper have no such."""
    if not any(one.original for one in results.recipe.corpora):
        return corpus.language
    return f"{corpus.language} ({corpus.kind})"


def _lines(
    results: Results, spec: TableSpec, corpus: Corpus
) -> list[tuple[str, list[float | None]]]:
    lines = []
    if corpus.language in spec.published:
        lines.append(("published", list(spec.published[corpus.language])))
    for way in spec.ways:
        cells = [results.value(column, way, corpus) for column in spec.columns]
        if any(cell is not None for cell in cells):
            lines.append((WAYS[way], cells))
    return lines


def _curves(spec: TableSpec, cells: list[float | None]) -> dict[str, list[float | None]]:
    by_title = {column.title: value for column, value in zip(spec.columns, cells, strict=True)}
    return {name: [by_title[title] for title in titles] for name, titles in spec.lines.items()}


def _cells(spec: TableSpec, cells: list[float | None]) -> list[str]:
    return [_cell(column, value) for column, value in zip(spec.columns, cells, strict=True)]


def _cell(column: Column, value: float | None) -> str:
    if value is None:
        return ""
    digits = _DIGITS.get(column.measure, 2)
    return f"{value:+.{digits}f}" if column.minus else f"{value:.{digits}f}"


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) and known else None


def _tests(results: Results, spec: TableSpec) -> list[str]:
    """A sentence for each comparison of two columns."""
    lines = []
    for a, b in spec.tests:
        for way in spec.ways:
            found = results.compare(spec, a, b, way)
            if found is not None:
                lines.append(
                    f"{b} against {a}, {WAYS[way]}: {found.difference:+.2f} on average; better in "
                    f"{found.better} sentences, worse in {found.worse}; sign test "
                    f"{p_value(found.sign_p)}, permutation test {p_value(found.permutation_p)}."
                )
    return lines


def p_value(p: float) -> str:
    """A p-value in four digits."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def _choices(results: Results, spec: TableSpec) -> list[str]:
    """What validation chose for the paper's recipe, a line per treebank."""
    lines = []
    for corpus in corpora_of(results.recipe, spec, results.corpora):
        chosen: dict[str, None] = {}  # columns of the same run say the same
        for column in spec.columns:
            cell = results.cell(column.systems, "printed", corpus, column.decoder)
            if cell is not None and column.measure in ("uas", "las"):
                grid = _grid_of(results, cell.job.settings["options"])
                values = [f"{name} {value}" for name, value in grid.items()]
                values.append(f"pass {cell.found['best_pass']} of {cell.found['passes']}")
                chosen[f"{cell.system}: {', '.join(values)}"] = None
        if chosen:
            lines.append(f"Chosen on validation, {corpus.language}: {'; '.join(chosen)}.")
    return lines


def _grid_of(results: Results, options: dict[str, Any]) -> dict[str, Any]:
    """The options that are in some grid of the recipe."""
    names = {name for system in results.recipe.systems for name in system.grid}
    return {name: options[name] for name in sorted(names) if name in options}


def markdown(table: Table) -> str:
    """The table in Markdown; names to the left, figures to the right."""
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.headings)
    rule = ["---:" if all(map(_is_figure, cells)) else "---" for cells in columns]
    lines = [_line(table.headings), _line(rule), *(_line(row) for row in table.rows)]
    notes = [f"- {note}" for note in table.notes]
    return "\n".join([*lines, "", *notes]).rstrip() + "\n"


def _is_figure(cell: str) -> bool:
    return not cell or cell[0].isdecimal() or cell[0] in "+-."


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
