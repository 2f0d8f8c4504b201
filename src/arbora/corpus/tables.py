"""Tables of counts as files: CSV, JSON and Parquet, and plots."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import asdict
from pathlib import Path

from arbora.corpus.counting import Counts
from arbora.data.compression import without_ending
from arbora.errors import ArgumentError

__all__ = ["PLOTS", "TABLES", "check_ending", "plot_bytes", "table_bytes"]

TABLES = (".csv", ".json", ".parquet")
PLOTS = (".png", ".svg", ".pdf")
_MOST_BARS = 40
_FIELDS = ("group", "count", "low", "high", "expected", "best")


def check_ending(path: str | os.PathLike[str], endings: tuple[str, ...], what: str) -> str:
    """The ending of a file's name, without that of a compression; raises for another."""
    ending = Path(without_ending(os.fspath(path))).suffix.lower()
    if ending not in endings:
        raise ArgumentError(
            f"{os.fspath(path)}: the name of a {what} must end in {', '.join(endings[:-1])} or "
            f"{endings[-1]}."
        )
    return ending


def table_bytes(counts: Counts, ending: str) -> bytes:
    """The counts as the contents of a file: a row for each group, or one for the total."""
    if ending == ".json":
        return (json.dumps(counts.to_dict(), indent=1, ensure_ascii=False) + "\n").encode()
    rows = [asdict(row) for row in counts.rows]
    if ending == ".csv":
        made = io.StringIO(newline="")
        writer = csv.DictWriter(made, _FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return made.getvalue().encode()
    from arbora.data.arrow import pyarrow

    arrow = pyarrow()
    import pyarrow.parquet as parquet

    columns = {name: [row[name] for row in rows] for name in _FIELDS}
    types = [
        arrow.string(), arrow.float64(), arrow.int64(), arrow.int64(), arrow.float64(),
        arrow.int64(),
    ]  # fmt: skip
    table = arrow.table(columns, schema=arrow.schema(list(zip(_FIELDS, types, strict=True))))
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def plot_bytes(counts: Counts, ending: str) -> bytes:
    """A plot of the counts with their intervals, and of those in best trees."""
    from arbora.drawing.counts import draw_counts

    rows = counts.rows[:_MOST_BARS]
    axes = draw_counts(
        [row.group or "all" for row in rows], [row.count for row in rows],
        [(row.low, row.high) for row in rows], [row.best for row in rows], counts.level,
        counts.pattern,
    )  # fmt: skip
    made = io.BytesIO()
    metadata = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.savefig(made, format=ending[1:], metadata=metadata[ending])
    return made.getvalue()
