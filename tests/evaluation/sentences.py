"""Small sentences with scores that are easy to count."""

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


def perturbed(sentences, rng, share=0.3):
    """Real sentences with some heads and labels changed; still trees with the same roots."""
    for each in sentences:
        heads = each.heads.copy()
        for word in np.flatnonzero(rng.random(len(each)) < share) + 1:
            head = int(rng.integers(1, len(each) + 1))
            if heads[word - 1] != 0 and not _below(heads, head, word):
                heads[word - 1] = head
        labels = [
            rng.choice(["dep", f"{label}:other", label.split(":")[0]])
            if rng.random() < share
            else label
            for label in each.labels
        ]
        yield each.with_tree(heads, labels)


def _below(heads, word, top):
    while word not in (0, top):
        word = heads[word - 1]
    return word == top
