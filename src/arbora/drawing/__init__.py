"""Trees and probabilities as text, for terminals and notebooks."""

from arbora.drawing.text import heat_table, make_printable, tree_text

__all__ = ["heat_table", "make_printable", "tree_text"]
