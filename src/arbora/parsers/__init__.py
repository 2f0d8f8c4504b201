"""Parsers: features, scorer, inference and learner in one, and the model file."""

from arbora.parsers.parser import Parser, load

__all__ = ["Parser", "load"]
