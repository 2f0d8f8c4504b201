"""Scorers: what computes the scores of arcs and parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from arbora.options.declare import Component, option

__all__ = ["LinearNeuralOptions", "LinearOptions", "NeuralOptions", "ScorerOptions"]


@dataclass(frozen=True)
class LinearOptions(Component):
    """Weights times hashed features."""

    tag: ClassVar[str] = "linear"


@dataclass(frozen=True)
class NeuralOptions(Component):
    """A recurrent network with biaffine arcs and labels (Dozat & Manning 2017)."""

    tag: ClassVar[str] = "neural"
    width: int = option(
        300, "Neural scorer: units of each direction of the LSTM.", "Model", low=4, high=4096
    )
    layers: int = option(2, "Neural scorer: layers of the LSTM.", "Model", low=1, high=8)
    arc_width: int = option(
        300, "Neural scorer: size of a word's vector as head or modifier.", "Model",
        low=2, high=4096,
    )  # fmt: skip
    label_width: int = option(
        100, "Neural scorer: size of a word's vector for labels.", "Model", low=2, high=4096
    )
    rank: int = option(
        64, "Neural scorer: rank of the scores of parts, in higher orders.", "Model",
        low=1, high=1024,
    )  # fmt: skip
    dropout: float = option(
        0.33, "Neural scorer: share of inputs and units that are dropped in training.", "Learning",
        low=0.0, high=0.9, kept=False,
    )  # fmt: skip
    fine_tune: bool = option(
        False, "Pretrained encoder: learn its arrays too; otherwise they stay as they are.",
        "Learning",
    )  # fmt: skip
    encoder_layers: int = option(
        4, "Pretrained encoder: the number of last layers whose mean is a word's vector.", "Model",
        low=1, high=1000,
    )  # fmt: skip
    encoder_rate: float = option(
        5e-5, "Learning rate of a fine-tuned encoder.", "Learning", low=1e-12, high=1.0, kept=False
    )


@dataclass(frozen=True)
class LinearNeuralOptions(NeuralOptions):
    """A linear and a neural scorer, whose scores are added with weights chosen on dev."""

    tag: ClassVar[str] = "linear+neural"


ScorerOptions = LinearOptions | NeuralOptions | LinearNeuralOptions
