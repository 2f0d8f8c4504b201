"""Sizes of the treebanks and their crossing dependencies, as `arbora stats` counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arbora.data.stats import treebank_stats
from arbora.reproduction.jobs import Job
from arbora.reproduction.recipe import TableSpec
from arbora.reproduction.tables import Table
from arbora.reproduction.training import Outcome
from arbora.reproduction.treebanks import Splits

__all__ = ["measure", "table"]

_COLUMNS = ("crossing %", "non-projective %", "multi-root %", "train", "validation", "test")


def measure(splits: Splits, _: Job, __: Path) -> Outcome:
    """Words of each part; shares over training and validation data."""
    known = treebank_stats([*splits.train, *(splits.validation or [])])
    sizes = [sum(map(len, part or [])) for part in (splits.train, splits.validation, splits.test)]
    shares = [
        known.crossing_arcs_percent, known.nonprojective_arcs_percent,
        known.multiroot_sentences_percent,
    ]  # fmt: skip
    return dict(zip(_COLUMNS, [*shares, *sizes], strict=True)), {}


def table(
    spec: TableSpec, found: Sequence[tuple[Job, Mapping[str, Any], Mapping[str, float]]]
) -> Table:
    """The published figures above ours."""
    made = Table(spec.name, spec.title, ["", "", *_COLUMNS], [])
    for job, result, _ in found:
        name = f"{job.corpus.language} ({job.corpus.kind})"
        if job.corpus.language in spec.published:
            share, *words = spec.published[job.corpus.language]
            cells = [f"{share:.2f}", "", "", *(f"{count:,.0f}" for count in words)]
            made.rows.append([name, "published", *cells])
        cells = [f"{result[column]:.2f}" for column in _COLUMNS[:3]]
        cells += [f"{result[column]:,}" for column in _COLUMNS[3:]]
        made.rows.append([name, "here", *cells])
        made.values += [
            {"language": job.corpus.language, "column": column, "value": result[column]}
            for column in _COLUMNS
        ]
    return made
