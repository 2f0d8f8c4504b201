"""Questions to a corpus: patterns of words and arcs, counts with intervals, searches."""

from arbora.corpus.counting import CountRow, Counts, Hit, count, grep
from arbora.corpus.files import CorpusFile, corpus_files
from arbora.corpus.pattern import Pattern
from arbora.corpus.pattern_parser import read_pattern
from arbora.corpus.statistics import Bias, Figures, estimate_bias, interval
from arbora.errors import PatternError

__all__ = [
    "Bias",
    "CorpusFile",
    "CountRow",
    "Counts",
    "Figures",
    "Hit",
    "Pattern",
    "PatternError",
    "corpus_files",
    "count",
    "estimate_bias",
    "grep",
    "interval",
    "read_pattern",
]
