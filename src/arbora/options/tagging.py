"""Options of taggers and lemmatisers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from arbora.options.declare import Component, option

__all__ = ["LemmatiserOptions", "TaggerOptions"]


@dataclass(frozen=True)
class TaggerOptions(Component):
    """Options of `train_tagger`."""

    tag: ClassVar[str] = "tagger"
    passes: int = option(
        8, "Passes over the training sentences; the best one on dev is kept.", "Learning",
        low=1, high=10_000,
    )  # fmt: skip
    rate: float = option(0.1, "Learning rate of AdaGrad.", "Learning", low=1e-9, high=1e6)
    regularization: float = option(
        1.0, "Strength of the L2 regulariser: X / 2 times the sum of squared weights.", "Learning",
        low=0.0, high=1e12,
    )  # fmt: skip
    bits: int = option(
        16, "At most 2^X features are kept for UPOS, and half as many for XPOS and FEATS.", "Model",
        low=8, high=26,
    )  # fmt: skip
    seed: int = option(
        0, "Random seed of the order of the sentences.", "Learning", low=0, high=2**63 - 1
    )


@dataclass(frozen=True)
class LemmatiserOptions(Component):
    """Options of `train_lemmatiser`."""

    tag: ClassVar[str] = "lemmatiser"
    passes: int = option(
        6, "Passes over the training words; the best one on dev is kept.", "Learning",
        low=1, high=10_000,
    )  # fmt: skip
    rate: float = option(0.1, "Learning rate of AdaGrad.", "Learning", low=1e-9, high=1e6)
    regularization: float = option(
        1.0, "Strength of the L2 regulariser: X / 2 times the sum of squared weights.", "Learning",
        low=0.0, high=1e12,
    )  # fmt: skip
    bits: int = option(18, "The table has 2^X weights.", "Model", low=8, high=26)
    seed: int = option(
        0, "Random seed of the order of the words.", "Learning", low=0, high=2**63 - 1
    )
