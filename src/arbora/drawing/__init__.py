"""Trees and probabilities as text, for terminals and notebooks."""

from arbora.drawing.text import heat_table, tree_text

__all__ = ["heat_table", "tree_text"]
