"""Stages one after the other: text to sentences, words, tags, lemmas and trees."""

from typing import TYPE_CHECKING, Any

from arbora.options import StageOptions
from arbora.pipeline.document import Document, TagProbabilities
from arbora.pipeline.pipeline import Pipeline, load

if TYPE_CHECKING:
    from arbora.pipeline.training import train_stages

__all__ = ["Document", "Pipeline", "StageOptions", "TagProbabilities", "load", "train_stages"]


def __getattr__(name: str) -> Any:
    if name == "train_stages":  # parsing does not need what trains
        from arbora.pipeline import training

        return training.train_stages
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
