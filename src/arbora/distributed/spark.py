"""Parsing on Spark: data frames, and a function for SQL. Requires the extra `spark`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from arbora.data.arrow import pyarrow
from arbora.data.parquet import sentence_schema
from arbora.distributed.requirements import required
from arbora.distributed.rows import CONLLU, NUMBER, SENTENCES, RowParser
from arbora.distributed.shared import BroadcastContents, Shared
from arbora.errors import ArgumentError
from arbora.options import ParseOptions
from arbora.options.build import build
from arbora.parsers import Parser
from arbora.pipeline import load

__all__ = ["parse", "register"]

_VALUE = "value"  # the column of the tables that the SQL function makes


def parse(
    dataframe: Any,
    model: str | os.PathLike[str] | Parser | None = None,
    *,
    column: str | None = None,
    format: str | None = None,  # noqa: A002  # the public name
    output: str = SENTENCES,
    skip_bad: bool = False,
    threads: int = 1,
    **options: Any,
) -> Any:
    """Parses a data frame of Spark with a model: a file, a name, or a parser.

    `column` has texts, or CoNLL-U if `format` says so. Without it, rows are sentences with list
    columns, as `arbora convert --to parquet` writes them, or have their texts in `text`. The
    `output` is a row per `sentences`, with the other columns of its row, or a column `conllu` in
    every row. The model is broadcast, and every Python worker unpickles it once. `threads` are
    those of a worker (`spark.task.cpus`). Other keywords are options of `Parser.parse`; with
    `skip_bad`, malformed sentences and rows are left out.
    """
    required("pyspark")
    if not hasattr(dataframe, "mapInArrow"):
        raise ArgumentError(f"parse takes a data frame of Spark, not {type(dataframe).__name__}.")
    parser = model if isinstance(model, Parser) else load(model, threads)
    rows = RowParser.of(
        parser, list(dataframe.columns), column, format, output, skip_bad,
        build(ParseOptions, options),
    )  # fmt: skip
    shared = _broadcast(dataframe.sparkSession, Shared.of(rows))
    kept = rows.kept(list(dataframe.columns))
    return dataframe.mapInArrow(_Mapped(shared), _schema(dataframe, kept, rows.added))


def register(
    session: Any,
    model: str | os.PathLike[str] | Parser | None = None,
    name: str = "arbora_parse",
    *,
    format: str = "text",  # noqa: A002  # the public name
    skip_bad: bool = False,
    threads: int = 1,
    **options: Any,
) -> Any:
    """Registers a function for SQL: `SELECT arbora_parse(body) FROM posts`.

    Its argument is a text, or CoNLL-U if `format` says so, and its value is CoNLL-U; null for null,
    and with `skip_bad` for what cannot be parsed. The other options are those of `parse`. Returns
    the function, for use with data frames.
    """
    required("pyspark")
    if not hasattr(session, "udf"):
        raise ArgumentError(f"register takes a session of Spark, not {type(session).__name__}.")
    from pyspark.sql.functions import pandas_udf

    parser = model if isinstance(model, Parser) else load(model, threads)
    rows = RowParser.of(
        parser, [_VALUE], _VALUE, format, CONLLU, skip_bad, build(ParseOptions, options)
    )
    function = pandas_udf(_function(_broadcast(session, Shared.of(rows))), "string")
    return session.udf.register(name, function)


def _broadcast(session: Any, shared: Shared) -> Shared:
    """The value as a broadcast variable; with Spark Connect, which has none, it comes along."""
    try:
        variable = session.sparkContext.broadcast(shared.fetch())
    except Exception as error:
        if type(error).__module__.startswith("pyspark.errors"):
            return shared
        raise
    return Shared(shared.key, shared.size, BroadcastContents(variable))


class _Mapped:
    """The function of `mapInArrow`."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        arrow = pyarrow()
        rows: RowParser = self._shared.value()
        for batch in batches:
            yield from rows(arrow.Table.from_batches([batch])).to_batches()


def _function(shared: Shared) -> Any:
    """The function of SQL, over series of pandas."""
    import pandas as pd

    def arbora_parse(values: Any) -> Any:
        arrow = pyarrow()
        rows: RowParser = shared.value()
        table = arrow.table({_VALUE: arrow.array(values, from_pandas=True)})
        return pd.Series(rows.texts(table), dtype=object)

    arbora_parse.__annotations__ = {"values": pd.Series, "return": pd.Series}  # Spark reads them
    return arbora_parse


def _schema(dataframe: Any, kept: list[str], added: list[str]) -> Any:
    """The columns of the parsed data frame, in the order of `RowParser`."""
    from pyspark.sql import types

    arrow = pyarrow()
    texts, number = types.StringType(), types.IntegerType()
    other = types.StructType().add("before", number).add("line", texts)
    by_type = {
        arrow.string(): texts, arrow.binary(): types.BinaryType(),
        arrow.list_(arrow.string()): types.ArrayType(texts),
        arrow.list_(arrow.int32()): types.ArrayType(number),
    }  # fmt: skip
    known = {
        field.name: by_type.get(field.type, types.ArrayType(other))
        for field in sentence_schema(arrow)
    }
    known |= {NUMBER: number, CONLLU: texts}
    answer = types.StructType([dataframe.schema[name] for name in kept])
    for name in added:
        answer = answer.add(name, known[name])
    return answer
