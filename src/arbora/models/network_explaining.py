"""Explanation of a network's scores: gradients times inputs, by word and column."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora.data import Block
from arbora.scores import Scores
from arbora.scoring import Batch

__all__ = ["network_contributions"]

_PLACES = {"form": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "character": 1,
           "encoder": 1}  # fmt: skip
_REST = ("network", (), "not attributed", "")


def network_contributions(
    scorer: Any, batch: Batch, block: Block, change: tuple[Scores, Scores]
) -> tuple[list[float], dict[tuple[str, tuple[str, ...], str, str], float]]:
    """The scores of the two trees' parts in `change`, and contributions to their difference.

    A contribution is the gradient of the difference by the vector of a word's column, times the
    vector. What these leave of the difference is a contribution of its own, since the network is
    not linear.
    """
    from arbora.neural.extra import require_torch

    require_torch("explaining a neural model")
    from arbora.neural.attribution import attributions

    found = scorer.scores(batch)[0]
    totals = []
    for one in change:
        used = one.arcs != 0.0
        value = float((found.arcs[used] * one.arcs[used]).sum())
        value += sum(float(found.tables[kind] @ one.tables[kind]) for kind in one.kinds)
        totals.append(value)
    ours, theirs = change
    difference = ours + theirs.scaled(-1.0)
    sums: dict[tuple[str, tuple[str, ...], str, str], float] = {}
    for column, word, value in attributions(scorer, batch, difference):
        atom = block.column(0, _PLACES[column])[word - 1] if word else "ROOT"
        sums[column, (atom,), f"word {word}", ""] = value
    sums[_REST] = totals[0] - totals[1] - float(np.sum(list(sums.values())))
    return totals, sums
