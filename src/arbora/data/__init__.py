"""Reading and writing treebanks: CoNLL-U and CoNLL-X, lossless and in bounded memory."""

from arbora.data.blocks import Block, Chunk, Format, read_blocks
from arbora.data.conllu import (
    SentenceReader,
    joined_texts,
    read_conllu,
    sentences_of,
    write_conllu,
)
from arbora.data.output import open_output
from arbora.data.sentence import Sentence, parse_feats
from arbora.data.stats import TreebankStats, treebank_stats

__all__ = [
    "Block",
    "Chunk",
    "Format",
    "Sentence",
    "SentenceReader",
    "TreebankStats",
    "joined_texts",
    "open_output",
    "parse_feats",
    "read_blocks",
    "read_conllu",
    "sentences_of",
    "treebank_stats",
    "write_conllu",
]
