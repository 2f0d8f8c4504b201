"""Trees as displaCy's JSON, out and in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arbora.drawing.tree_drawing import TreeDrawing
from arbora.errors import ArgumentError

__all__ = ["from_displacy", "to_displacy"]


def to_displacy(drawing: TreeDrawing) -> dict[str, Any]:
    """The words and arcs as `displacy.render(..., style="dep", manual=True)` takes them.

    Words count from 0. An arc of `dir` "left" leads to the word on its left. displaCy draws
    neither roots nor alternatives; they are left out.
    """
    tags = drawing.tags or ("",) * len(drawing)
    words = [{"text": text, "tag": tag} for text, tag in zip(drawing.words, tags, strict=True)]
    arcs: list[dict[str, Any]] = []
    for head, modifier, label, probability, alternative in drawing.arcs:
        if head == 0 or alternative:
            continue
        made: dict[str, Any] = {
            "start": min(head, modifier) - 1,
            "end": max(head, modifier) - 1,
            "label": label,
            "dir": "left" if modifier < head else "right",
        }
        arcs.append(made if probability is None else {**made, "probability": probability})
    direction = "rtl" if drawing.right_to_left else "ltr"
    return {"words": words, "arcs": arcs, "settings": {"direction": direction}}


def from_displacy(given: Mapping[str, Any], *, root: str = "root") -> TreeDrawing:
    """The drawing of what `to_displacy` or displaCy's `parse_deps` gave.

    Words without an arc to them are roots, and get the label `root`.
    """
    try:
        words = [str(word["text"]) for word in given["words"]]
        tags = [str(word.get("tag") or "") for word in given["words"]]
        arcs = [_arc(arc) for arc in given["arcs"]]
        settings = given.get("settings") or {}
        direction = settings.get("direction")
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ArgumentError(
            "this is not displaCy's JSON: words must be a list of {text, tag}, and arcs a list of "
            f"{{start, end, label, dir}} ({type(error).__name__}: {error})."
        ) from error
    heads, labels = [0] * len(words), [root] * len(words)
    probabilities = [float("nan")] * len(words)
    for head, modifier, label, probability in arcs:
        if not 0 < modifier <= len(words):
            raise ArgumentError(f"an arc leads to word {modifier - 1}, which does not exist.")
        if heads[modifier - 1]:
            raise ArgumentError(
                f"two arcs lead to word {modifier - 1} ({words[modifier - 1]}): give one."
            )
        heads[modifier - 1], labels[modifier - 1] = head, label
        probabilities[modifier - 1] = probability
    return TreeDrawing(
        words, heads, labels, tags=tags if any(tags) else None, probabilities=probabilities,
        right_to_left=None if direction is None else direction == "rtl",
    )  # fmt: skip


def _arc(arc: Mapping[str, Any]) -> tuple[int, int, str, float]:
    """Head, modifier, label and probability; words count from 1."""
    start, end = int(arc["start"]) + 1, int(arc["end"]) + 1
    if arc["dir"] not in ("left", "right"):
        raise ValueError(f"dir is {arc['dir']!r}, not left or right")
    head, modifier = (end, start) if arc["dir"] == "left" else (start, end)
    return head, modifier, str(arc["label"]), float(arc.get("probability", "nan"))
