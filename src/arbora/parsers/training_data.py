"""Treebanks to train on, and what a model's card says of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from arbora.data import Block
from arbora.data.treebank import TreebankSource, read_treebank, several_files
from arbora.errors import DataError
from arbora.models.model import Model

if TYPE_CHECKING:
    from arbora.fitting.loop import History

__all__ = ["file_name", "licences", "read_annotated", "without_times"]


def read_annotated(source: TreebankSource, what: str, **reading: Any) -> Block:
    """A treebank in one block; raises if no word has a head."""
    block = read_treebank(source, trees=True, **reading)
    if not (np.asarray(block.heads) >= 0).any():
        name = source if isinstance(source, str | os.PathLike) else f"the {what} data"
        raise DataError(f"no word has a head; {what} data must be annotated", str(name), 1)
    return block


def file_name(source: object) -> str | None:
    """The name of a file without its folders, or the names of several."""
    if (files := several_files(source)) is not None:
        return ", ".join(filter(None, map(file_name, files))) or None
    if source == "-" or not isinstance(source, str | os.PathLike):
        return None
    return os.path.basename(source)  # noqa: PTH119  # a Path is no shorter


def licences(start: Model | None, licence: str | None) -> str | None:
    """The licences of all training data, including that of `start`."""
    earlier = None if start is None else start.card.get("licence")
    return "; ".join(dict.fromkeys(filter(None, (earlier, licence)))) or None


def without_times(history: History) -> dict[str, Any]:
    """The history without times, so that the same training gives the same card."""
    values = history.to_dict()
    for record in values["passes"]:
        del record["seconds"]
    return values
