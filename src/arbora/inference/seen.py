"""Distributions to look at: as a tree with probabilities, or as a table of heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arbora.types import FloatArray, Tree

if TYPE_CHECKING:
    from arbora.drawing import TreeDrawing

__all__ = ["SeenTrees", "batch_html"]


class SeenTrees:
    """Drawings of anything that has `marginals` and `mbr()`."""

    if TYPE_CHECKING:

        @property
        def marginals(self) -> FloatArray: ...
        def mbr(self) -> Tree: ...

    words: Sequence[str] | None = None
    """The words of the sentence, if they are known: drawings show them. Parsers set them."""

    def draw(
        self,
        words: Sequence[str] | None = None,
        *,
        tree: Tree | None = None,
        tags: Sequence[str] | None = None,
        threshold: float = 0.1,
        width: int | None = None,
    ) -> TreeDrawing:
        """A drawing of a tree with probabilities, and of all other arcs of at least `threshold`.

        The tree is by default the one with the most expected correct arcs. `print` shows the
        drawing as text, a notebook as a picture. Without words, their numbers stand for them.
        """
        from arbora.drawing import TreeDrawing

        shown = self.words if words is None else words
        p = self.marginals
        if shown is None:
            shown = [str(word) for word in range(1, len(p))]
        heads = (self.mbr() if tree is None else tree).heads
        return TreeDrawing.from_marginals(
            shown, heads, p, tags=tags, threshold=threshold, width=width
        )

    def svg(
        self,
        words: Sequence[str] | None = None,
        *,
        tree: Tree | None = None,
        tags: Sequence[str] | None = None,
        threshold: float = 0.1,
        width: float | None = None,
    ) -> str:
        """The same as SVG; `width` is in pixels, and longer sentences have rows."""
        return self.draw(words, tree=tree, tags=tags, threshold=threshold).svg(width)

    def _repr_html_(self) -> str:
        from arbora.drawing import heat_html

        return heat_html(self.marginals, self.words, repr(self))


def batch_html(batch: Any, first: int = 10) -> str:
    """A table of the first sentences of a batch."""
    from arbora.drawing.page import html_table

    rows = []
    for i in range(min(len(batch), first)):
        try:
            one = batch[i]
        except ValueError as error:  # a sentence without a tree, kept with errors="return"
            rows.append((i, "", "", str(error)))
        else:
            rows.append((i, one.n_words, f"{one.log_partition:.4f}", f"{one.entropy():.4f}"))
    notes = [f"{len(batch) - first:,} more sentences"] if len(batch) > first else []
    headings = ["sentence", "words", "log Z", "entropy in nats"]
    return html_table(headings, rows, caption=repr(batch), notes=notes)
