"""Parsers: features, scorer, inference and learner in one, and the model file."""

from arbora.parsers.explaining import Contribution, Explanation
from arbora.parsers.output import ParsedSentence, ParseOptions
from arbora.parsers.parser import Parser, load
from arbora.parsers.settings import ParserSettings
from arbora.parsers.tuning import Trial, Tuning, tune

__all__ = [
    "Contribution",
    "Explanation",
    "ParseOptions",
    "ParsedSentence",
    "Parser",
    "ParserSettings",
    "Trial",
    "Tuning",
    "load",
    "tune",
]
