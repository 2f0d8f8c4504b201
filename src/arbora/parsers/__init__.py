"""Parsers: features, scorer, inference and learner in one, and the model file."""

from arbora.parsers.output import ParsedSentence, ParseOptions
from arbora.parsers.parser import Parser, load
from arbora.parsers.settings import ParserSettings

__all__ = ["ParseOptions", "ParsedSentence", "Parser", "ParserSettings", "load"]
