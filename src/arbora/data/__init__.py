"""Reading, writing and converting treebanks: several formats, lossless and in bounded memory."""

from arbora.data.block import Block
from arbora.data.blocks import Chunk, read_blocks
from arbora.data.conllu import (
    SentenceReader,
    TextJoiner,
    read_conllu,
    sentences_of,
    write_conllu,
)
from arbora.data.conversion import Conversion, convert
from arbora.data.formats import (
    FORMATS,
    ColumnFormat,
    Format,
    Items,
    Layout,
    Piece,
    Place,
    Reader,
    Sign,
    Words,
    Writer,
    format_named,
)
from arbora.data.head_rules import HeadRules, head_rules
from arbora.data.output import open_output
from arbora.data.sentence import Sentence, parse_feats
from arbora.data.stage import Stage
from arbora.data.stats import TreebankStats, treebank_stats
from arbora.data.surface import SurfaceToken, surface_tokens, treebank_text
from arbora.data.universal_tags import UNIVERSAL_TAGS, tag_map, with_universal_tags

__all__ = [
    "FORMATS",
    "UNIVERSAL_TAGS",
    "Block",
    "Chunk",
    "ColumnFormat",
    "Conversion",
    "Format",
    "HeadRules",
    "Items",
    "Layout",
    "Piece",
    "Place",
    "Reader",
    "Sentence",
    "SentenceReader",
    "Sign",
    "Stage",
    "SurfaceToken",
    "TextJoiner",
    "TreebankStats",
    "Words",
    "Writer",
    "convert",
    "format_named",
    "head_rules",
    "open_output",
    "parse_feats",
    "read_blocks",
    "read_conllu",
    "sentences_of",
    "surface_tokens",
    "tag_map",
    "treebank_stats",
    "treebank_text",
    "with_universal_tags",
    "write_conllu",
]
