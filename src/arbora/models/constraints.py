"""Arcs that a parse must or must not have, for corrections and partial annotation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.errors import ArgumentError, NoTreeError
from arbora.features import no_arc_filter
from arbora.inference.engines import FirstOrderEngine
from arbora.scores import Layout, Scores
from arbora.scoring import Batch
from arbora.types import IntArray

__all__ = ["Constraints", "check_trees", "obeying"]

Arc = tuple[int, int] | tuple[int, int, str]
Arcs = Iterable[Arc] | Sequence[Iterable[Arc]] | Mapping[int, Iterable[Arc]]

Found = TypeVar("Found")

_DEPREL = 7


@dataclass(frozen=True)
class Constraints:
    """Known heads and labels of the words of some sentences, and forbidden arcs.

    `heads` and `labels` are flat, one entry per word, -1 where unknown. `label_names` are those of
    the model, followed by names that only the constraints have. `forbidden` has a row of sentence,
    head and word for each arc. `filtered` says whether arcs that the model's arc filter excludes
    stay excluded, unless they are required. `places` names each sentence in messages.
    """

    n_words: NDArray[np.int64]
    heads: IntArray
    labels: IntArray
    label_names: tuple[str, ...]
    forbidden: NDArray[np.int64]
    places: tuple[str, ...]
    filtered: bool = True

    @classmethod
    def from_annotation(cls, block: Block, label_names: tuple[str, ...]) -> Constraints:
        """Every head in the block is required, with its label if it has one."""
        heads = np.array(block.heads, dtype=np.int32)
        texts = [label for i in range(len(block)) for label in block.column(i, _DEPREL)]
        known = [(at, text) for at, text in enumerate(texts) if heads[at] >= 0 and text != "_"]
        names, numbers = _numbered(label_names, [text for _, text in known])
        labels = np.full(len(heads), -1, dtype=np.int32)
        labels[[at for at, _ in known]] = numbers
        numbers_in_file = range(block.first_sentence + 1, block.first_sentence + 1 + len(block))
        places = tuple(f"sentence {number}" for number in numbers_in_file)
        none = np.empty((0, 3), np.int64)
        return cls(np.array(block.n_words), heads, labels, names, none, places)

    @classmethod
    def of_heads(cls, block: Block, heads: IntArray) -> Constraints:
        """Every one of the given heads is required."""
        none = np.full(len(heads), -1, dtype=np.int32)
        places = tuple(f"sentence {i + 1}" for i in range(len(block)))
        return cls(np.array(block.n_words), heads, none, (), np.empty((0, 3), np.int64), places)

    @classmethod
    def from_arcs(
        cls,
        n_words: NDArray[np.int64],
        label_names: tuple[str, ...],
        required: Arcs | None,
        forbidden: Arcs | None,
    ) -> Constraints:
        """From arcs (head, word) and, if required, (head, word, label), by sentence."""
        first = np.cumsum(n_words) - n_words
        heads = np.full(int(n_words.sum()), -1, dtype=np.int32)
        labels, wanted = heads.copy(), []
        for sentence, arc in _listed("required", required, n_words, (2, 3)):
            at = int(first[sentence]) + arc[1] - 1
            if heads[at] not in (-1, arc[0]):
                raise ArgumentError(
                    f"word {arc[1]} of sentences[{sentence}] is required to have two heads, "
                    f"{heads[at]} and {arc[0]}."
                )
            heads[at] = arc[0]
            if len(arc) == 3:
                wanted.append((at, arc[2]))
        names, numbers = _numbered(label_names, [text for _, text in wanted])
        labels[[at for at, _ in wanted]] = numbers
        rows = [(s, arc[0], arc[1]) for s, arc in _listed("forbidden", forbidden, n_words, (2,))]
        for s, head, word in rows:
            if heads[int(first[s]) + word - 1] == head:
                raise ArgumentError(
                    f"the arc ({head}, {word}) of sentences[{s}] is both required and forbidden."
                )
        array = np.array(sorted(rows), dtype=np.int64).reshape(-1, 3)
        places = tuple(f"sentences[{s}]" for s in range(len(n_words)))
        return cls(np.array(n_words), heads, labels, names, array, places)

    def of(self, sentences: NDArray[np.int64]) -> Constraints:
        """The constraints of some sentences, which are numbered from 0 again."""
        first = np.cumsum(self.n_words) - self.n_words
        places = [np.arange(first[s], first[s] + self.n_words[s]) for s in sentences.tolist()]
        words = np.concatenate(places) if places else np.empty(0, np.int64)
        rows = [
            (i, head, word)
            for i, s in enumerate(sentences.tolist())
            for _, head, word in self.forbidden[self.forbidden[:, 0] == s].tolist()
        ]
        array = np.array(rows, dtype=np.int64).reshape(-1, 3)
        return replace(
            self, n_words=self.n_words[sentences], heads=self.heads[words],
            labels=self.labels[words], forbidden=array,
            places=tuple(self.places[s] for s in sentences.tolist()),
        )  # fmt: skip

    def unfiltered(self) -> Constraints:
        """The same without the model's arc filter."""
        return replace(self, filtered=False)

    def score(self, scorer: Any, batch: Batch) -> Scores:
        """The scores of a batch; required arcs have one even if the arc filter excludes them."""
        if not self.filtered and hasattr(scorer, "with_filter"):
            scorer = scorer.with_filter(no_arc_filter())
        scores: Scores = scorer.scores(batch)[0]
        known = self.heads >= 0
        if not self.filtered or not known.any() or len(batch.kept):
            return scores
        every = scorer.scores(replace(batch, heads=self.heads))[0]
        arcs, unfiltered = (one.arcs.reshape(-1, scores.depth) for one in (scores, every))
        arcs, cells = arcs.copy(), Layout(self.n_words).arcs(self.heads)[known]
        arcs[cells] = unfiltered[cells]
        return scores.with_values(arcs.reshape(-1))

    def kept(self, mask: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The mask of a pruner with required arcs and without others."""
        mask = np.where(self.allowed(), mask, 0).astype(np.uint8)
        known = self.heads >= 0
        mask[Layout(self.n_words).arcs(np.maximum(self.heads, 0))[known]] = 1
        return mask

    def allowed(self) -> NDArray[np.bool_]:
        """The cells of the arcs that the constraints leave open, flat as scores are."""
        layout = Layout(self.n_words)
        open_cells = layout.fixed_heads(self.heads)
        sides = self.n_words + 1
        first = np.cumsum(sides**2) - sides**2
        sentence, head, word = self.forbidden.T
        open_cells[first[sentence] + head * sides[sentence] + word] = False
        return open_cells

    def apply(self, scores: Scores) -> Scores:
        """The scores with -inf for all arcs, and labels of arcs, that are not allowed."""
        arcs = scores.arcs.reshape(-1, scores.depth).copy()
        arcs[~self.allowed()] = -np.inf
        if scores.n_labels is not None:
            known = (self.labels >= 0) & (self.labels < scores.depth)
            cells = Layout(self.n_words).arcs(np.maximum(self.heads, 0))[known]
            kept = arcs[cells, self.labels[known]]
            arcs[cells] = -np.inf
            arcs[cells, self.labels[known]] = kept
        return scores.with_values(arcs.reshape(-1), dict(scores.tables))

    def with_labels(self, labels: IntArray, given_arc: Any, counts: Any = None) -> tuple[Any, Any]:
        """Labels and their probabilities with the known labels put in.

        With `counts`, every sentence is repeated as often as it says.
        """
        known = self.labels if counts is None else self._repeated(counts)
        chosen = np.where(known >= 0, known, labels).astype(np.int32)
        return chosen, given_arc if not len(given_arc) else np.where(known >= 0, 1.0, given_arc)

    def _repeated(self, counts: NDArray[np.int64]) -> IntArray:
        ends = np.cumsum(self.n_words)
        pieces = [
            np.tile(self.labels[end - n : end], count)
            for n, end, count in zip(self.n_words, ends, counts, strict=True)
        ]
        return np.concatenate(pieces) if pieces else self.labels


def obeying(
    constraints: Constraints | None,
    sentences: NDArray[np.int64],
    parse: Callable[[NDArray[np.int64], Constraints | None], Found],
) -> Iterator[Found]:
    """What `parse` finds for some sentences under their constraints, in one piece or several.

    A sentence without a tree is parsed again without the model's arc filter.
    """
    own = None if constraints is None else constraints.of(sentences)
    try:
        yield parse(sentences, own)
        return
    except NoTreeError:
        if own is None or (len(sentences) == 1 and not own.filtered):
            raise
    if len(sentences) > 1:
        for half in np.array_split(sentences, 2):
            yield from obeying(constraints, half, parse)
        return
    try:
        yield parse(sentences, own.unfiltered())
    except NoTreeError:
        raise NoTreeError(
            f"{own.places[0]}: there is no tree with these arcs, because they form a cycle, cross "
            "in a projective parser, or give a single-root parser several roots."
        ) from None


def check_trees(scores: Scores, engine: FirstOrderEngine) -> None:
    """Raises an error if a sentence has no tree over the arcs that have a score."""
    problems = engine.packed(scores).check()
    if problems:
        raise min(problems.items())[1]


def _numbered(names: tuple[str, ...], texts: list[str]) -> tuple[tuple[str, ...], list[int]]:
    """The names with those that were missing, and the number of every text."""
    every = tuple(dict.fromkeys((*names, *texts)))
    numbers = {name: number for number, name in enumerate(every)}
    return every, [numbers[text] for text in texts]


def _listed(
    what: str, given: Arcs | None, n_words: NDArray[np.int64], sizes: tuple[int, ...]
) -> list[tuple[int, Any]]:
    """Pairs of a sentence's number and an arc, checked."""
    if given is None:
        return []
    if _is_arc(given):
        raise ArgumentError(f"{what} must be a list of arcs: write [{given!r}].")
    try:
        items: Any = dict(given) if isinstance(given, Mapping) else list(given)
        if isinstance(items, list) and items and _is_arc(items[0]):
            if len(n_words) != 1:
                raise ArgumentError(
                    f"{what} has arcs, but there are {len(n_words)} sentences: give a list of arcs "
                    "for each sentence."
                )
            items = [items]
        if isinstance(items, list):
            if len(items) != len(n_words):
                raise ArgumentError(
                    f"{what} has {len(items)} lists of arcs for {len(n_words)} sentences."
                )
            items = dict(enumerate(items))
        if any(isinstance(arcs, tuple) and _has_text(arcs) for arcs in items.values()):
            raise ArgumentError(f"{what} must have arcs of word numbers, counted from 1.")
        pairs = [(sentence, tuple(arc)) for sentence, arcs in items.items() for arc in arcs]
    except TypeError:
        raise ArgumentError(
            f"{what} must be a list of arcs (head, word) for each sentence, or map sentences to "
            f"such lists, not {given!r}."
        ) from None
    for sentence, arc in pairs:
        _check_arc(what, sentence, arc, n_words, sizes)
    return pairs


def _is_arc(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) > 1 and isinstance(value[0], int | np.integer)


def _has_text(arcs: tuple[Any, ...]) -> bool:
    return any(isinstance(one, str) for one in arcs)


def _check_arc(
    what: str, sentence: Any, arc: tuple[Any, ...], n_words: NDArray[np.int64],
    sizes: tuple[int, ...],
) -> None:  # fmt: skip
    if not isinstance(sentence, int | np.integer) or not 0 <= sentence < len(n_words):
        raise ArgumentError(
            f"{what} names sentences[{sentence!r}]; there are {len(n_words)}, counted from 0."
        )
    if len(arc) not in sizes or not all(isinstance(one, int | np.integer) for one in arc[:2]):
        shape = "(head, word) or (head, word, label)" if 3 in sizes else "(head, word)"
        raise ArgumentError(f"{what} has {arc!r} in sentences[{sentence}]; an arc is {shape}.")
    n = int(n_words[sentence])
    if not 0 <= arc[0] <= n or not 1 <= arc[1] <= n or arc[0] == arc[1]:
        raise ArgumentError(
            f"{what} has the arc {arc!r} in sentences[{sentence}]: its word must be from 1 to {n}, "
            f"its head from 0 to {n} and another."
        )
    good = len(arc) < 3 or (isinstance(arc[2], str) and arc[2].strip() and "\t" not in arc[2])
    if not good:
        raise ArgumentError(f"{what} has the label {arc[2]!r} in sentences[{sentence}].")
