"""Treebanks to train on and to calibrate with, and what a model's card says of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.data.treebank import TreebankSource, read_treebank, several_files
from arbora.errors import ArgumentError, DataError
from arbora.models.model import Model

if TYPE_CHECKING:
    from arbora.fitting.loop import History

__all__ = ["file_name", "licences", "read_annotated", "set_aside", "without_times"]


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


def set_aside(dev: Block | None, share: float) -> tuple[Block | None, Block | None]:
    """The dev sentences that choose the model, and those set aside to calibrate head sets.

    The latter are spread evenly over the file.
    """
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 <= share <= 0.9:
        raise ArgumentError(f"calibration_share must be from 0 to 0.9, not {share!r}.")
    if share == 0.0:
        return dev, None
    if dev is None:
        raise ArgumentError(
            "calibration_share requires dev data, of which it sets a part aside: give dev, or "
            "calibrate the trained model on other sentences."
        )
    steps = np.floor(np.arange(len(dev) + 1) * share + 1e-9)
    aside = np.diff(steps) > 0
    if not aside.any() or aside.all():
        raise ArgumentError(
            f"there are {len(dev)} dev sentences, too few to set {share:g} of them aside for "
            "calibration."
        )

    def part(chosen: NDArray[np.bool_]) -> Block:
        return dev.reread(b"".join(dev.text(i) for i in np.flatnonzero(chosen).tolist()))

    return part(~aside), part(aside)
