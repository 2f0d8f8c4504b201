"""Dual decomposition by iteration (Koo et al. 2010, sections 7.4 to 7.6, figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from arbora.inference.automata import best_walks
from arbora.inference.dual import decode_dual, dual_history
from arbora.reproduction.jobs import Job
from arbora.reproduction.measurements.scored import (
    Scored,
    scored,
    trained_parser,
    validation_sentences,
)
from arbora.reproduction.recipe import TableSpec
from arbora.reproduction.tables import Table
from arbora.reproduction.training import Outcome
from arbora.reproduction.treebanks import Splits

__all__ = ["measure_limits", "measure_recomputed", "measure_walks", "table"]

_LAST = 5000
_LIMITS = (1, 2, 5, 10, 20, 50, 100, 150, 200, 250, 350, 500, 700, 1000, 2000, _LAST)
_EDGES = (0, 1, 2, 5, 10, 20, 50, 100, 250, 500, 1000, 2000, _LAST)


def _data(splits: Splits, job: Job, folder: Path) -> Scored:
    parser = trained_parser(splits, job, folder, job.settings["options"])
    return scored(validation_sentences(splits, job.settings.get("sentences")), parser, job.rule)


def measure_recomputed(splits: Splits, job: Job, folder: Path) -> Outcome:
    """The share of automata that run in each range of iterations, while sentences are open."""
    data = _data(splits, job, folder)
    shares, running = np.zeros(_LAST), np.zeros(_LAST, dtype=np.int64)
    ran = possible = 0
    for parts, gold in zip(data.parts, data.gold, strict=True):
        history = dual_history(parts, 0, "nonprojective", data.root, _LAST)
        heads, lasted = len(gold) + 1, len(history.recomputed)
        shares[:lasted] += history.recomputed / heads
        running[:lasted] += 1
        ran, possible = ran + int(history.recomputed.sum()), possible + heads * lasted
    means = 100 * shares / np.maximum(running, 1)
    rows = []
    for low, high in pairwise(_EDGES):
        name = f"{low + 1}" if high == low + 1 else f"{low + 1}-{high}"
        weights = running[low:high]
        share = float(np.average(means[low:high], weights=weights)) if weights.any() else None
        rows.append([name, {"% automata": share, "sentences open": int(running[low])}])
    rows.append(["all", {"% automata": 100 * ran / possible, "sentences open": len(data)}])
    return {"rows": rows}, {}


def measure_limits(splits: Splits, job: Job, folder: Path) -> Outcome:
    """UAS, certificates and agreement with the last iteration, for every iteration limit."""
    data = _data(splits, job, folder)
    final = [answer.heads for answer in data.decode("subgradient", _LAST)]
    rows = []
    for limit in _LIMITS:
        answers = data.decode("subgradient", limit)
        heads = [answer.heads for answer in answers]
        same = [np.array_equal(one, other) for one, other in zip(heads, final, strict=True)]
        certified = [answer.certified[0] for answer in answers]
        cells = {
            "UAS": data.uas(heads),
            "% certified": 100 * float(np.mean(certified)),
            "% as K = 5000": 100 * float(np.mean(same)),
        }
        rows.append([str(limit), cells])
    return {"rows": rows}, {}


def measure_walks(splits: Splits, job: Job, folder: Path) -> Outcome:
    """Precision and recall of the automaton paths before the first iteration (section 7.6)."""
    data = _data(splits, job, folder)
    right = found = wanted = with_one = words = trees = 0
    for parts, gold, counted in zip(data.parts, data.gold, data.counted, strict=True):
        side = len(gold) + 1
        z = best_walks(parts)[0].arcs.reshape(side, side)[:, 1:] > 0.5
        right += int(z[gold, np.arange(len(gold))][counted].sum())
        found += int(z[:, counted].sum())
        wanted += int(counted.sum())
        with_one += int((z.sum(axis=0) == 1).sum())
        words += len(gold)
        once = decode_dual(parts, "nonprojective", data.root, 1, "subgradient")
        trees += bool(once.certified[0])
    cells = {
        "precision": 100 * right / found,
        "recall": 100 * right / wanted,
        "% words with one head": 100 * with_one / words,
        "% trees": 100 * trees / len(data),
        "UAS of the tree": data.uas([answer.heads for answer in data.decode("subgradient")]),
    }
    return {"rows": [["z", cells]]}, {}


def table(
    spec: TableSpec, found: Sequence[tuple[Job, Mapping[str, Any], Mapping[str, float]]]
) -> Table:
    """A row per range or limit, and columns for each order."""
    by_row: dict[str, dict[str, float | None]] = {}
    made = Table(spec.name, spec.title, [spec.axis_title or ""], [])
    for job, result, _ in found:
        order = f"{job.corpus.language}, {job.settings['options']['order']}"
        for name, cells in result["rows"]:
            row = by_row.setdefault(name, {})
            for column, value in cells.items():
                row[f"{order}: {column}"] = value
                made.values.append({
                    "language": job.corpus.language, "order": job.settings["options"]["order"],
                    "row": name, "column": column, "value": value,
                })  # fmt: skip
                if name != "all" and column[0] in "%U":  # shares and UAS
                    made.curves.setdefault(column, {}).setdefault(order, []).append(value)
    columns = list(next(iter(by_row.values()), {}))
    made.headings += columns
    for name, row in by_row.items():
        cells = [row.get(column) for column in columns]
        made.rows.append([name, *("" if cell is None else f"{cell:.2f}" for cell in cells)])
    made.axis, made.axis_title = [name for name in by_row if name != "all"], spec.axis_title
    if len(made.axis) == 1:  # nothing to draw
        made.curves.clear()
    return made
