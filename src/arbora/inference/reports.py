"""Errors from the kernels' reports about invalid or impossible scores."""

from __future__ import annotations

import numpy as np

from arbora._core import inference as kernels
from arbora.errors import ArboraError, NoTreeError, ScoreError
from arbora.types import FloatArray, TreeClass

__all__ = ["explain_report"]


def explain_report(report: tuple[int, ...], scores: FloatArray, trees: TreeClass) -> ArboraError:
    """The error for a sentence without a tree; names the cell or the word."""
    cell, head, modifier, label, problem, word = report
    if cell:
        index = [head, modifier] if scores.ndim == 2 else [head, modifier, label]
        what, advice = {
            1: ("NaN", "replace it by a number"),
            2: ("+inf", "scores must be finite, or -inf to forbid an arc"),
            3: (
                f"beyond {kernels.LARGEST_SCORE:g} in magnitude",
                "use -inf to forbid an arc and constrain() to require one",
            ),
        }[cell]
        return ScoreError(f"scores{index} is {what}: {advice}.")
    kind = "projective tree" if trees == "projective" else "tree"
    text = {
        1: f"word {word} has no possible head: every arc into it is forbidden",
        2: f"word {word} cannot be reached from the root over the allowed arcs",
        3: 'no word may be attached to the root: allow a root arc or use root="multi"',
        4: f"word {word} can only be reached over a second root arc: allow another head for it "
        'or use root="multi"',
        5: "every tree over the allowed arcs has crossing arcs: "
        f"allow another head for word {word} or use SpanningTrees",
        6: "every tree over the allowed arcs has crossing arcs: allow more arcs "
        "or use SpanningTrees",
    }[problem]
    if np.isneginf(scores[0]).all():
        text += " (all of scores[0] is -inf: scores are indexed [head, modifier], transposed?)"
    named = word if problem in (1, 2, 4, 5) else None
    return NoTreeError(f"there is no {kind}: {text}.", named)
