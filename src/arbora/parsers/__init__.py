"""`Parser`, the public interface to models and fitting."""

from arbora.models.explaining import Contribution, Explanation
from arbora.models.output import ParsedSentence
from arbora.parsers.parser import Parser
from arbora.parsers.tuning import Trial, Tuning, tune

__all__ = [
    "Contribution",
    "Explanation",
    "ParsedSentence",
    "Parser",
    "Trial",
    "Tuning",
    "tune",
]
