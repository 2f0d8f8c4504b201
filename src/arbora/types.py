"""Value types that all layers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.names import Root, TreeClass

if TYPE_CHECKING:
    from arbora.drawing import TreeDrawing

__all__ = ["Decoded", "FloatArray", "IntArray", "Root", "Samples", "Tree", "TreeClass"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Tree:
    """A tree and its score.

    `heads[m - 1]` is the head of word m, 0 for the root symbol, as in a HEAD column. `labels` is
    None in models without labels. `score` is the model score, the sum of the arc scores.
    Trees are immutable: both arrays are read-only, and trees with the same heads and labels are
    equal. `np.asarray(tree)` is `tree.heads`.
    """

    __slots__ = ("_heads", "_labels", "_score")

    def __init__(self, heads: IntArray, labels: IntArray | None, score: float) -> None:
        self._heads = heads
        self._labels = labels
        self._score = score

    @property
    def heads(self) -> IntArray:
        """The head of every word, int32 (n,); 0 is the root symbol."""
        return self._heads

    @property
    def labels(self) -> IntArray | None:
        """The label number of every word, int32 (n,), or None without labels."""
        return self._labels

    @property
    def score(self) -> float:
        """The model score of the tree."""
        return self._score

    def __repr__(self) -> str:
        labels = "" if self.labels is None else f", labels={self.labels.tolist()}"
        return f"Tree(heads={self.heads.tolist()}{labels}, score={self.score:.6g})"

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """The arcs as pairs (head, modifier), in word order."""
        return [(int(head), word) for word, head in enumerate(self.heads, start=1)]

    def draw(
        self,
        words: Sequence[str] | None = None,
        *,
        label_names: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        width: int | None = None,
    ) -> TreeDrawing:
        """A drawing: `print` shows it as text, a notebook as a picture.

        Without `words`, their numbers stand for them. `label_names` are the names of the labels, in
        the order of their numbers. `width` is that of the text in characters; by default the
        terminal's.
        """
        from arbora.drawing import TreeDrawing

        labels = None
        if self.labels is not None:
            labels = [str(i) if label_names is None else label_names[i] for i in self.labels]
        shown = [str(word) for word in range(1, len(self) + 1)] if words is None else words
        return TreeDrawing(shown, self.heads, labels, tags=tags, width=width)

    def svg(
        self,
        words: Sequence[str] | None = None,
        *,
        label_names: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        width: float | None = None,
    ) -> str:
        """A picture of the tree as SVG; `width` is in pixels, and longer sentences have rows."""
        return self.draw(words, label_names=label_names, tags=tags).svg(width)

    def _repr_html_(self) -> str:
        return self.draw()._repr_html_() + f"<div>score {self.score:.6g}</div>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _tree, (self.heads, self.labels, self.score)

    def __len__(self) -> int:
        return len(self.heads)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.heads, dtype=dtype, copy=True if copy is None else copy)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[bytes, bytes | None]:
        return self.heads.tobytes(), None if self.labels is None else self.labels.tobytes()


def _tree(heads: IntArray, labels: IntArray | None, score: float) -> Tree:
    """A tree from a pickle, out of which arrays come writable."""
    heads.setflags(write=False)
    if labels is not None:
        labels.setflags(write=False)
    return Tree(heads, labels, score)


class Decoded(Tree):
    """The result of a search for the best tree, with a bound on its error.

    No tree scores more than `bound`. If `certified`, the tree is provably the best. `iterations`
    is the number of iterations of the search.
    """

    __slots__ = ("_bound", "_certified", "_iterations")

    def __init__(
        self, heads: IntArray, score: float, bound: float, certified: bool, iterations: int
    ) -> None:
        super().__init__(heads, None, score)
        self._bound = bound
        self._certified = certified
        self._iterations = iterations

    @property
    def bound(self) -> float:
        """An upper bound on the score of every tree."""
        return self._bound

    @property
    def gap(self) -> float:
        """An upper bound on how much better the best tree is."""
        return self._bound - self._score if self._bound > self._score else 0.0

    @property
    def certified(self) -> bool:
        """Whether the tree is provably the best."""
        return self._certified

    @property
    def iterations(self) -> int:
        """The number of iterations of the search."""
        return self._iterations

    def __repr__(self) -> str:
        known = "certified" if self.certified else f"gap={self.gap:.3g}"
        return f"Decoded(heads={self.heads.tolist()}, score={self.score:.6g}, {known})"

    def __reduce__(self) -> tuple[Any, ...]:
        known = (self.score, self.bound, self.certified, self.iterations)
        return _decoded, (self.heads, *known)


def _decoded(heads: IntArray, *known: Any) -> Decoded:
    """A tree from a pickle, out of which arrays come writable."""
    heads.setflags(write=False)
    return Decoded(heads, *known)


class Samples(NamedTuple):
    """Draws with labels: both arrays have one row per draw and one column per word."""

    heads: IntArray
    labels: IntArray
