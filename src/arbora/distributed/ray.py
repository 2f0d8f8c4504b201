"""Parsing on Ray: datasets of Ray Data, and Ray as the place where other commands run.

`parse` maps a dataset; `read_conllu` and `write_conllu` are for files of CoNLL-U. `ray_cluster`
starts or joins a cluster, and `RaySpread` runs folders of files, counts, trials and reproductions
on it. Requires the extra `ray`.
"""

from __future__ import annotations

import os
from typing import Any

from arbora.distributed.cluster import ray_cluster, ray_package
from arbora.distributed.rows import SENTENCES, RowParser
from arbora.distributed.shared import Shared, worker_memory
from arbora.distributed.spreading import RaySpread, check_that_it_fits
from arbora.errors import ArgumentError
from arbora.options import ParseOptions
from arbora.options.build import build
from arbora.parsers import Parser
from arbora.pipeline import load

__all__ = ["RaySpread", "parse", "ray_cluster", "read_conllu", "worker_memory", "write_conllu"]

_BATCH_ROWS = 512


def parse(
    dataset: Any,
    model: str | os.PathLike[str] | Parser | None = None,
    *,
    column: str | None = None,
    format: str | None = None,  # noqa: A002  # the public name
    output: str = SENTENCES,
    skip_bad: bool = False,
    workers: int | tuple[int, int] | None = None,
    threads: int = 1,
    memory: int | None = None,
    batch_size: int = _BATCH_ROWS,
    **options: Any,
) -> Any:
    """Parses a dataset of Ray Data with a model: a file, a name, or a parser.

    `column` has texts, or CoNLL-U if `format` says so. Without it, rows are sentences with list
    columns, as `arbora convert --to parquet` writes them, or have their texts in `text`. The
    `output` is a row per `sentences`, with the other columns of its row, or a column `conllu` in
    every row. The order of rows is kept. `workers` are actors, or the least and the most of them
    (default: from one to as many as fit); Ray reserves `threads` cores and `memory` bytes (default:
    `worker_memory`) for each, and gives no worker more rows than it can take. Other keywords are
    options of `Parser.parse`; with `skip_bad`, malformed sentences and rows are left out.
    """
    ray = ray_package()
    if not hasattr(dataset, "map_batches"):
        raise ArgumentError(f"parse takes a dataset of Ray Data, not {type(dataset).__name__}.")
    parser = model if isinstance(model, Parser) else load(model, threads)
    known = dataset.schema(fetch_if_missing=column is None)  # or it would read the first rows
    rows = RowParser.of(
        parser, None if known is None else list(known.names), column, format, output, skip_bad,
        build(ParseOptions, options),
    )  # fmt: skip
    shared = Shared.of(rows)
    reserved = memory or worker_memory(shared.size)
    check_that_it_fits(ray, threads, reserved)
    from ray.data import ActorPoolStrategy

    if workers is None:
        cores = float(ray.cluster_resources().get("CPU", 1.0))
        workers = (1, max(1, int(cores / threads)))
    least, most = (workers, workers) if isinstance(workers, int) else workers
    found = dataset.map_batches(
        _Worker, fn_constructor_args=(shared.stored(ray),), batch_format="pyarrow",
        batch_size=batch_size, compute=ActorPoolStrategy(min_size=least, max_size=most),
        num_cpus=threads, memory=reserved, zero_copy_batch=True,
    )  # fmt: skip
    found.context.execution_options.preserve_order = True
    return found


class _Worker:
    """An actor: it unpickles the parser when it starts."""

    def __init__(self, shared: Shared) -> None:
        self._parse: RowParser = shared.value()

    def __call__(self, table: Any) -> Any:
        return self._parse(table)


def read_conllu(
    paths: str | os.PathLike[str] | list[str | os.PathLike[str]], **reading: Any
) -> Any:
    """A dataset with a row per file: its `path` and its contents, `bytes`.

    `parse(dataset, model, column="bytes", format="conllu")` parses it. Paths may be those of object
    stores that pyarrow knows, and compressed; a file must fit into a worker's memory. `reading` are
    options of `ray.data.read_binary_files`.
    """
    ray_package()
    from ray import data

    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = data.read_binary_files(
        [os.fspath(path) for path in listed], include_paths=True, **reading
    )
    found.context.execution_options.preserve_order = True
    return found


def write_conllu(dataset: Any, folder: str | os.PathLike[str]) -> None:
    """Writes parsed rows to `part-000000.conllu`, ... in a new folder, in order.

    A file is written aside and renamed, or is a single put in an object store (`s3://...`), and its
    name depends on its place in the dataset alone: a task that is repeated replaces its file.
    """
    ray_package()
    from arbora.distributed.ray_files import ConlluSink

    dataset.write_datasink(ConlluSink(os.fspath(folder)))
