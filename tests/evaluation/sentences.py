"""Small sentences to count on one's fingers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Words:
    """The part of a sentence that evaluation reads."""

    forms: list[str]
    heads: np.ndarray
    labels: list[str]
    xpos: list[str] = field(default_factory=list)
    format: str = "conllx"


def sentence(text, heads, labels=None, tags=None, format="conllx"):  # noqa: A002  # as in the class
    forms = text.split(" ")
    return Words(
        forms,
        np.array(heads, dtype=np.int32),
        labels.split(" ") if labels else ["_"] * len(forms),
        tags.split(" ") if tags else ["_"] * len(forms),
        format,
    )
