"""Files that Ray Data writes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyarrow import fs
from ray.data import Datasink
from ray.data.block import BlockAccessor

from arbora.data.arrow import pyarrow
from arbora.data.parquet import sentence_schema, sentence_text
from arbora.distributed.rows import CONLLU
from arbora.errors import ArgumentError, FileError

__all__ = ["ConlluSink"]


class ConlluSink(Datasink[None]):
    """A folder of files of CoNLL-U, one for each task of writing."""

    def __init__(self, folder: str) -> None:
        if "://" in folder:
            self.files, self.folder = fs.FileSystem.from_uri(folder)
        else:
            self.files, self.folder = fs.LocalFileSystem(), os.path.abspath(folder)  # noqa: PTH100
        self._given = folder

    def on_write_start(self, schema: Any = None) -> None:  # noqa: ARG002  # as Ray calls it
        """Refuses a folder that has files."""
        selector = fs.FileSelector(self.folder, allow_not_found=True)
        found = self.files.get_file_info(selector)
        if found:
            raise FileError(
                f"{self._given} has other files in it, such as {found[0].base_name}: choose "
                "another output folder."
            )
        self.files.create_dir(self.folder, recursive=True)

    def write(self, blocks: Iterable[Any], ctx: Any) -> None:
        """Writes the rows of a task to its file."""
        text = b"".join(_contents(BlockAccessor.for_block(block).to_arrow()) for block in blocks)
        if not text:
            return
        name = f"part-{ctx.task_idx:06d}.conllu"
        target = f"{self.folder}/{name}"
        if not isinstance(self.files, fs.LocalFileSystem):
            with self.files.open_output_stream(target) as stream:  # seen when it is closed
                stream.write(text)
            return
        aside = Path(self.folder) / f".{name}.{os.getpid()}.{secrets.token_hex(6)}.tmp"
        try:
            aside.write_bytes(text)
            aside.replace(target)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise


def _contents(table: Any) -> bytes:
    """The rows of a table as CoNLL-U."""
    if CONLLU in table.column_names:
        return "".join(text for text in table.column(CONLLU).to_pylist() if text).encode()
    known = [name for name in table.column_names if name in sentence_schema(pyarrow()).names]
    if "form" not in known:
        raise ArgumentError(
            "the dataset has neither sentences nor a column conllu: parse it first."
        )
    rows = table.select(known).to_pylist()
    return b"".join(sentence_text(row, "the dataset", i) for i, row in enumerate(rows))
