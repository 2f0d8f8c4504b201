"""Taggers (UPOS, XPOS, FEATS) and lemmatisers: stages that run before a parser.

Training is imported when it is first asked for, so that a trained tagger does not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arbora.tagging.lemmatiser import Lemmatised, Lemmatiser
from arbora.tagging.tagger import Tagged, Tagger

if TYPE_CHECKING:
    from arbora.tagging.lemma_training import train_lemmatiser
    from arbora.tagging.training import jackknife, train_tagger

__all__ = [
    "Lemmatised",
    "Lemmatiser",
    "Tagged",
    "Tagger",
    "jackknife",
    "train_lemmatiser",
    "train_tagger",
]

_TRAINING = {
    "jackknife": "training",
    "train_tagger": "training",
    "train_lemmatiser": "lemma_training",
}


def __getattr__(name: str) -> Any:
    if name in _TRAINING:
        from importlib import import_module

        return getattr(import_module(f"arbora.tagging.{_TRAINING[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
