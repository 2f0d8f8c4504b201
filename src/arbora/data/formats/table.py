"""The table of formats: to add one, write a reader and a writer and add a line."""

from __future__ import annotations

from arbora.data.block import Layout
from arbora.data.formats.brackets import BracketReader
from arbora.data.formats.column_format import ColumnFormat
from arbora.data.formats.conll2008 import CONLL2008
from arbora.data.formats.conll2009 import CONLL2009
from arbora.data.formats.conllu import CONLLU
from arbora.data.formats.conllx import CONLLX
from arbora.data.formats.plain_words import HorizontalReader, VerticalReader
from arbora.data.formats.protocols import Format, Sign
from arbora.errors import ArgumentError, DataError

__all__ = ["FORMATS", "format_named", "layout_named", "recognise"]

FORMATS: dict[str, Format] = {
    "conllu": Format("CoNLL-U", CONLLU, CONLLU),
    "conllx": Format("CoNLL-X", CONLLX, CONLLX),
    "conll2008": Format("CoNLL-2008", CONLL2008, CONLL2008),
    "conll2009": Format("CoNLL-2009", CONLL2009, CONLL2009),
    "ptb": Format(
        "Penn Treebank brackets", BracketReader(), CONLLU, read_only=True,
        endings=(".mrg", ".parse"),
    ),
    "horizontal": Format("one sentence per line", HorizontalReader(), CONLLU, read_only=True),
    "vertical": Format("one word per line", VerticalReader(), CONLLU, read_only=True),
}  # fmt: skip


def format_named(name: str) -> Format:
    """The entry of a name."""
    if not isinstance(name, str) or name not in FORMATS:
        raise ArgumentError(
            f"there is no format {name!r}: choose one of {', '.join(FORMATS)}, or leave it out to "
            "have it recognised."
        )
    return FORMATS[name]


def layout_named(name: str) -> Layout:
    """The layout of the blocks that a format is read into."""
    reader = format_named(name).reader
    return reader.layout if isinstance(reader, ColumnFormat) else CONLLU.layout


def recognise(beginning: bytes, file: str) -> tuple[str, bool]:
    """The format of a file with this beginning, and whether it was recognised.

    The format with the highest sign. A file that no format recognises is read as CoNLL-U, whose
    reader reports the error in it; one that fits several formats is an error.
    """
    signs = {name: entry.reader.recognises(beginning) for name, entry in FORMATS.items()}
    highest = max(signs.values())
    if highest is Sign.no:
        return "conllu", False
    found = [name for name, sign in signs.items() if sign is highest]
    if len(found) > 1:
        raise DataError(
            f"the file may be {' or '.join(FORMATS[name].title for name in found)}; say which with "
            f"format ({', '.join(found)})",
            file,
            1,
        )
    # CoNLL-U is also the default; other formats are possible only with their own columns
    return found[0], highest is Sign.certain or found[0] != "conllu"
