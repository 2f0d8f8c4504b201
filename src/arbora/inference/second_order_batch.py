"""Second-order distributions of many sentences: answers are lists, computed in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.arrays import as_list
from arbora.errors import ArboraError, ArgumentError
from arbora.inference.arguments import as_count, as_seed, check_choice
from arbora.inference.batch import located, one_per_sentence
from arbora.inference.packed import available_threads
from arbora.inference.packed_second_order import PackedSecondOrder, SecondOrderSums
from arbora.inference.packing import pack
from arbora.inference.part_lists import PartLists
from arbora.inference.seen import batch_html
from arbora.scores import PartKind, Parts, Scores
from arbora.types import FloatArray, Root, Tree

if TYPE_CHECKING:
    from arbora.inference.risk import ArcLoss
    from arbora.inference.second_order import SecondOrderTrees

__all__ = ["SecondOrderBatch"]

Maker = Callable[[FloatArray, PartLists, Root, int], "SecondOrderTrees"]


class SecondOrderBatch:
    """Distributions of many sentences, made by `SecondOrderTrees.batch`.

    `batch[i]` is the distribution of sentence i, with all its methods; those below answer for all
    sentences at once, in lists. With `errors="return"`, the entry of a sentence without a
    distribution is its error. Answers do not depend on the number of threads.
    """

    def __init__(
        self,
        make: Maker,
        sentences: dict[int, Parts],
        failures: dict[int, ArboraError],
        root: Root,
        threads: int,
    ) -> None:
        self._make = make
        self._sentences = sentences
        self._failures = failures
        packed = Scores.joined(list(sentences.values()), threads) if sentences else None
        self._packed = None if packed is None else PackedSecondOrder(packed, root, threads)
        self._root: Root = root
        self._sums: SecondOrderSums | None = None

    @classmethod
    def create(
        cls,
        make: Maker,
        parts: Iterable[Parts],
        root: Root,
        *,
        threads: int | None,
        errors: Literal["raise", "return"],
    ) -> SecondOrderBatch:
        """A batch; see `SecondOrderTrees.batch`."""
        check_choice(root, ("single", "multi"), "root")
        check_choice(errors, ("raise", "return"), "errors")
        workers = available_threads() if threads is None else as_count(threads, "threads")
        sentences = as_list(parts, "a batch takes a list of Parts")
        for i, one in enumerate(sentences):
            if not isinstance(one, Parts):
                raise ArgumentError(f"sentence {i} must be Parts, not {type(one).__name__}.")
        _, impossible = pack([one.arcs for one in sentences], "projective", root, workers)
        failures = {i: located(i, error) for i, error in impossible.items()}
        if failures and errors == "raise":
            raise next(iter(failures.values()))
        possible = {i: one for i, one in enumerate(sentences) if i not in failures}
        return cls(make, possible, failures, root, workers)

    def __len__(self) -> int:
        return len(self._sentences) + len(self._failures)

    def __getitem__(self, i: int) -> SecondOrderTrees:
        index = range(len(self))[i]  # raises IndexError, understands negative numbers
        if index in self._failures:
            raise self._failures[index]
        parts = self._sentences[index]
        return self._make(parts.arcs, PartLists.of(parts), self._root, index)

    def __iter__(self) -> Iterator[SecondOrderTrees]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} sentences of SecondOrderTrees, root={self._root!r}>"

    def _repr_html_(self) -> str:
        return batch_html(self)

    @property
    def log_partition(self) -> list[Any]:
        """log Z: a list with one number per sentence."""
        sums = self._all_sums()
        return self._all([] if sums is None else sums.log_partition.tolist())

    @property
    def marginals(self) -> list[Any]:
        """P(arc): a list with one array (n+1, n+1) per sentence."""
        sums = self._all_sums()
        return self._all([] if sums is None else self._squares(sums.marginals.arcs))

    @property
    def part_marginals(self) -> list[Any]:
        """P(part): one dictionary per sentence, of arrays (k,) by kind."""
        sums = self._all_sums()
        return self._all([] if sums is None else self._parts(sums.marginals.tables))

    def entropy(self) -> list[Any]:
        """Entropy in nats: a list with one number per sentence."""
        return self._all([] if self._packed is None else self._packed.entropy().tolist())

    def argmax(self) -> list[Any]:
        """The best trees: a list with one `Tree` per sentence."""
        if self._packed is None:
            return self._all([])
        heads, scores = self._packed.argmax()
        pieces = np.split(heads, np.cumsum(self._n_words())[:-1])
        pairs = zip(pieces, scores.tolist(), strict=True)
        return self._all([Tree(piece, None, score) for piece, score in pairs])

    def kbest(self, k: int) -> list[Any]:
        """The k best trees, best first: a list of lists of `Tree`."""
        if self._packed is None:
            return self._all([])
        heads, scores, counts = self._packed.kbest(as_count(k, "k"))
        words = np.split(heads, np.cumsum(counts * self._n_words())[:-1])
        ranked = np.split(scores, np.cumsum(counts)[:-1])
        return self._all([
            [Tree(row, None, float(s)) for row, s in zip(w.reshape(len(r), -1), r, strict=True)]
            for w, r in zip(words, ranked, strict=True)
        ])  # fmt: skip

    def sample(self, k: int = 1, seed: int | None = None) -> list[Any]:
        """Exact draws: a list with one array (k, n) per sentence."""
        if self._packed is None:
            return self._all([])
        count = as_count(k, "k")
        drawn = self._packed.sample(count, as_seed(seed), np.array(list(self._sentences)))
        pieces = np.split(drawn, np.cumsum(count * self._n_words())[:-1])
        return self._all([piece.reshape(count, -1) for piece in pieces])

    def mbr(self, loss: Sequence[ArcLoss] | Callable[..., Any] | None = None) -> list[Any]:
        """The trees with the least expected loss: a list with one `Tree` per sentence.

        By default the loss is the number of wrong arcs; else one loss per sentence, or a
        function for all of them.
        """
        losses = [loss] * len(self) if loss is None or callable(loss) else loss
        return self._each(lambda one, its: one.mbr(its), loss=losses)

    def log_prob(self, heads: Sequence[Any]) -> list[Any]:
        """log P of heads, (n,) or (k, n) per sentence."""
        return self._each(lambda one, h: one.log_prob(h), heads=heads)

    def vjp(
        self,
        d_marginals: Sequence[ArrayLike],
        d_part_marginals: Sequence[Mapping[PartKind, ArrayLike]] | None = None,
    ) -> list[Any]:
        """Gradients through the marginals: a list with one `PartGradient` per sentence."""
        parts = [{}] * len(self) if d_part_marginals is None else d_part_marginals
        return self._each(
            lambda one, d, p: one.vjp(d, p), d_marginals=d_marginals, d_part_marginals=parts
        )

    # Helpers.

    def _all_sums(self) -> SecondOrderSums | None:
        if self._sums is None and self._packed is not None:
            self._sums = self._packed.sums()
        return self._sums

    def _n_words(self) -> NDArray[np.int64]:
        return np.array([one.n_words for one in self._sentences.values()])

    def _squares(self, flat: FloatArray) -> list[FloatArray]:
        sides = self._n_words() + 1
        pieces = np.split(flat, np.cumsum(sides * sides)[:-1])
        return [piece.reshape(side, side) for piece, side in zip(pieces, sides, strict=True)]

    def _parts(self, tables: dict[PartKind, FloatArray]) -> list[dict[PartKind, FloatArray]]:
        answer = []
        for place, parts in enumerate(self._sentences.values()):
            assert self._packed is not None
            bounds = {kind: self._packed.parts.bounds(kind, place) for kind in parts.kinds}
            answer.append(
                {kind: parts.listed(kind, tables[kind][where]) for kind, where in bounds.items()}
            )
        return answer

    def _all(self, answers: Sequence[Any]) -> list[Any]:
        """Answers in the places of their sentences, errors in the places of the others."""
        found = dict(zip(self._sentences, answers, strict=True))
        return [self._failures[i] if i in self._failures else found[i] for i in range(len(self))]

    def _each(self, question: Callable[..., Any], **arguments: Sequence[Any]) -> list[Any]:
        """Calls a method of each distribution with its entries of the arguments."""
        shares = [one_per_sentence(values, len(self), what) for what, values in arguments.items()]
        return self._all(
            [question(self[i], *(share[i] for share in shares)) for i in self._sentences]
        )
