"""The treebanks that a parser is trained on and calibrated with."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.data.treebank import TreebankSource, read_treebank, several_files
from arbora.errors import ArgumentError, DataError

__all__ = ["file_name", "read_annotated", "set_aside"]


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
