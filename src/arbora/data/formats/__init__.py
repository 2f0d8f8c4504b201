"""File formats: a reader and a writer of each, in one table."""

from arbora.data.block import Layout
from arbora.data.formats.column_format import ColumnFormat
from arbora.data.formats.lines import Items, Words
from arbora.data.formats.protocols import Format, Piece, Place, Reader, Sign, Writer
from arbora.data.formats.table import FORMATS, format_named, layout_named, recognise

__all__ = [
    "FORMATS",
    "ColumnFormat",
    "Format",
    "Items",
    "Layout",
    "Piece",
    "Place",
    "Reader",
    "Sign",
    "Words",
    "Writer",
    "format_named",
    "layout_named",
    "recognise",
]
