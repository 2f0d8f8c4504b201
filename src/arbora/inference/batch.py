"""Distributions of many sentences: answers are lists, computed in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import ArboraError, ArgumentError, NoTreeError, ShapeError
from arbora.inference.arguments import (
    as_array,
    as_count,
    as_scores,
    as_seed,
    as_values,
    check_choice,
)
from arbora.inference.decoding import minimum_bayes_risk
from arbora.inference.packed import Packed, PackedSums, available_threads
from arbora.inference.packing import pack, pack_list, pack_stack
from arbora.inference.seen import batch_html
from arbora.types import FloatArray, Root, Samples

if TYPE_CHECKING:
    from arbora.inference.constraints import Arc
    from arbora.inference.distribution import TreeDistribution
    from arbora.inference.risk import ArcLoss

__all__ = ["TreeBatch"]

D = TypeVar("D", bound="TreeDistribution")


class TreeBatch(Generic[D]):
    """Distributions of many sentences, made by `SpanningTrees.batch` or `ProjectiveTrees.batch`.

    Has the methods of a single distribution. Each answer is a list with one entry per sentence, and
    so is each argument that belongs to sentences. `batch[i]` is the distribution of
    sentence i. With `errors="return"`, the entry of a sentence without a distribution is its
    error. Answers do not depend on the number of threads.
    """

    def __init__(
        self,
        kind: type[D],
        packed: Packed,
        failures: dict[int, ArboraError],
        size: int,
        errors: Literal["raise", "return"],
    ) -> None:
        self._kind = kind
        self._packed = packed
        self._failures = failures
        self._size = size
        self._errors: Literal["raise", "return"] = errors
        self._places: dict[int, int] | None = None
        self._sums: PackedSums | None = None

    @classmethod
    def create(
        cls,
        kind: type[D],
        scores: Iterable[ArrayLike] | ArrayLike,
        root: Root,
        *,
        lengths: ArrayLike | None,
        threads: int | None,
        errors: Literal["raise", "return"],
    ) -> TreeBatch[D]:
        """A batch of distributions of one class; see `SpanningTrees.batch`."""
        check_choice(root, ("single", "multi"), "root")
        check_choice(errors, ("raise", "return"), "errors")
        workers = available_threads() if threads is None else as_count(threads, "threads")
        failures: dict[int, ArboraError] = {}
        stack = _stack(scores) if lengths is None else None
        if stack is not None:
            packed, impossible = pack_stack(stack, kind.trees, root, workers)
            size = len(stack)
        else:
            sentences = _sentences(scores, lengths)
            size = len(sentences)
            plain = pack_list(sentences, kind.trees, root, workers)
            if plain is not None:
                packed, impossible = plain
            else:
                arrays, failures = _readable(sentences, errors)
                keys = np.array(list(arrays), dtype=np.int64)
                packed, impossible = pack(list(arrays.values()), kind.trees, root, workers, keys)
        for place, error in impossible.items():
            i = int(packed.sentences[place])
            failures[i] = located(i, error)
            if errors == "raise":
                raise failures[i]
        if impossible:
            packed = packed.select([p for p in range(len(packed)) if p not in impossible])
        return cls(kind, packed, failures, size, errors)

    @property
    def _place(self) -> dict[int, int]:
        """Where in the pack a sentence is."""
        if self._places is None:
            self._places = {i: place for place, i in enumerate(self._packed.sentences.tolist())}
        return self._places

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, i: int) -> D: ...
    @overload
    def __getitem__(self, i: slice) -> list[D]: ...
    def __getitem__(self, i: int | slice) -> D | list[D]:
        if isinstance(i, slice):
            return [self[index] for index in range(self._size)[i]]
        index = range(self._size)[i]  # raises IndexError, understands negative numbers
        if index in self._failures:
            raise self._failures[index]
        place = self._place[index]
        one = self._kind._from_packed(self._packed.select([place]))
        if self._sums is not None:
            one._sums = self._packed.sums_of(self._sums, place)
            if self._sums.marginals.size:
                one._marginals = self._packed.piece(self._sums.marginals, place)
        return one

    def __iter__(self) -> Iterator[D]:
        return (self[i] for i in range(self._size))

    def __repr__(self) -> str:
        return f"<{self._size} sentences of {self._kind.__name__}, root={self._packed.root!r}>"

    def _repr_html_(self) -> str:
        return batch_html(self)

    @property
    def log_partition(self) -> list[Any]:
        """log Z: a list with one number per sentence."""
        return self._all(self._log_sums().log_partition.tolist())

    @property
    def marginals(self) -> list[Any]:
        """P(arc): a list with one array per sentence, in the shape of its scores."""
        return self._all(self._packed.split(self._all_marginals()))

    def argmax(self) -> list[Any]:
        """The best trees: a list with one `Tree` per sentence."""
        return self._all(self._packed.argmax())

    def mbr(self, loss: Sequence[ArcLoss] | Callable[..., Any] | None = None) -> list[Any]:
        """The trees with the least expected loss: a list with one `Tree` per sentence.

        By default the loss is the number of wrong arcs; else one loss per sentence, or a
        function for all of them.
        """
        if loss is None:
            return self._all(minimum_bayes_risk(self._packed, self._all_marginals()))
        self._all_marginals()
        losses = [loss] * self._size if callable(loss) else loss
        return self._each(lambda one, its: one.mbr(its), loss=losses)

    def greedy(self, by: Literal["score", "marginal"] = "score") -> list[Any]:
        """Each word's best head, chosen independently: a list with one `Tree` per sentence."""
        if by == "marginal":
            self._all_marginals()
        return self._each(lambda one: one.greedy(by))

    def kbest(self, k: int) -> list[Any]:
        """The k best trees, best first: a list of lists of `Tree`."""
        return self._all(self._packed.kbest(as_count(k, "k")))

    def sample(self, k: int = 1, seed: int | None = None) -> list[Any]:
        """Exact draws: a list with one array (k, n) per sentence, or `Samples` with labels."""
        drawn = self._packed.sample(as_count(k, "k"), as_seed(seed))
        return self._all(
            [heads if labels is None else Samples(heads, labels) for heads, labels in drawn]
        )

    def arc_margins(self) -> list[Any]:
        """How much better the best tree with an arc is than the best without it: arrays."""
        if self._packed.n_labels is None:
            return self._all(self._packed.margins())
        return self._each(lambda one: one.arc_margins())

    def entropy(self) -> list[Any]:
        """Entropy in nats: a list with one number per sentence."""
        self._all_marginals()
        return self._each(lambda one: one.entropy())

    def log_prob(self, heads: Sequence[Any], labels: Sequence[Any] | None = None) -> list[Any]:
        """log P of heads, (n,) or (k, n) per sentence; labels likewise or None."""
        self._log_sums()
        given = [None] * self._size if labels is None else labels
        return self._each(lambda one, h, chosen: one.log_prob(h, chosen), heads=heads, labels=given)

    def kl(self, other: TreeBatch[Any]) -> list[Any]:
        """KL(self || other) of each pair of distributions."""
        return self._compare(lambda one, q: one.kl(q), other)

    def cross_entropy(self, other: TreeBatch[Any]) -> list[Any]:
        """Cross-entropy of each pair of distributions."""
        return self._compare(lambda one, q: one.cross_entropy(q), other)

    def expect(self, values: Sequence[ArrayLike]) -> list[Any]:
        """Expectations of additive functions, given as arrays in the shape of the scores."""
        self._all_marginals()
        return self._each(lambda one, v: one.expect(v), values=values)

    def vjp(self, d_marginals: Sequence[ArrayLike]) -> list[Any]:
        """Gradients through the marginals: one array per sentence, in and out."""
        flat = self._flat_values(d_marginals, "d_marginals")
        return self._all(self._packed.vjp(self._all_marginals(), flat))

    def variance(self, values: Sequence[ArrayLike]) -> list[Any]:
        """Variances of additive functions, given as arrays in the shape of the scores."""
        return [max(0.0, v) if isinstance(v, float) else v for v in self.covariance(values, values)]

    def covariance(self, a: Sequence[ArrayLike], b: Sequence[ArrayLike]) -> list[Any]:
        """Covariances of two additive functions per sentence."""
        products = self._packed.split(self._flat_values(a, "a"))
        with_arcs = self._packed.vjp(self._all_marginals(), self._flat_values(b, "b"))
        pairs = zip(products, with_arcs, strict=True)
        return self._all([float(np.sum(x * y)) for x, y in pairs])

    def constrain(
        self,
        required: Sequence[Iterable[Arc]] | None = None,
        forbidden: Sequence[Iterable[Arc]] | None = None,
    ) -> list[Any]:
        """The constrained distributions, a list; constraints are lists of arcs per sentence."""
        nothing: list[Iterable[Arc]] = [()] * self._size
        return self._each(
            lambda one, yes, no: one.constrain(yes, no),
            required=nothing if required is None else required,
            forbidden=nothing if forbidden is None else forbidden,
        )

    # Helpers.

    def _log_sums(self) -> PackedSums:
        if self._sums is None:
            self._sums = self._packed.sums(marginals=False)
        return self._sums

    def _all_marginals(self) -> FloatArray:
        """Of all sentences, flat."""
        if self._sums is None or (len(self._packed) and not self._sums.marginals.size):
            self._sums = self._packed.sums(marginals=True)
        return self._sums.marginals

    def _flat_values(self, values: Sequence[ArrayLike], what: str) -> FloatArray:
        listed = self._listed(values, what)
        pieces = []
        for i, place in self._place.items():
            try:
                pieces.append(as_values(listed[i], self._packed.scores(place), what).reshape(-1))
            except ArboraError as error:
                raise located(i, error) from None
        return np.concatenate(pieces) if pieces else np.empty(0)

    def _all(self, answers: Sequence[Any]) -> list[Any]:
        """Answers in the places of their sentences, errors in the places of the others."""
        if not self._failures:
            return list(answers)
        return [
            self._failures[i] if i in self._failures else answers[self._place[i]]
            for i in range(self._size)
        ]

    def _each(self, question: Callable[..., Any], **arguments: Any) -> list[Any]:
        """Calls a method of each distribution with its entries of the arguments."""
        shares = [self._listed(values, name) for name, values in arguments.items()]
        answers: list[Any] = []
        for i in self._place:
            try:
                answers.append(question(self[i], *(share[i] for share in shares)))
            except ArboraError as error:
                answers.append(located(i, error))
                if self._errors == "raise":
                    raise answers[-1] from None
        return self._all(answers)

    def _compare(self, question: Callable[..., Any], other: TreeBatch[Any]) -> list[Any]:
        if not isinstance(other, TreeBatch):
            raise ArgumentError(
                f"a batch is compared with a batch, not with {type(other).__name__}."
            )
        self._all_marginals(), other._log_sums()

        def ask(one: D, i: int) -> Any:
            return other._failures[i] if i in other._failures else question(one, other[i])

        self._listed(other, "other")
        return self._each(ask, index=range(self._size))

    def _listed(self, values: Any, what: str) -> Any:
        """A list, or a batch, with one entry per sentence."""
        return values if isinstance(values, TreeBatch) and len(values) == self._size else (
            one_per_sentence(values, self._size, what)
        )  # fmt: skip


def one_per_sentence(values: Any, size: int, what: str) -> list[Any]:
    """A list with `size` entries, one per sentence."""
    try:
        listed = list(values)
    except TypeError:
        raise ShapeError(f"{what} must have one entry per sentence, not {values!r}.") from None
    if len(listed) != size:
        raise ShapeError(
            f"{what}: there are {size} sentences, but {len(listed)} entries: give one per sentence."
        )
    return listed


def _stack(scores: object) -> NDArray[Any] | None:
    """The scores as one array, if that is what they are: sentences of the same length."""
    if not hasattr(scores, "__array__") and not hasattr(scores, "__dlpack__"):
        return None
    array = as_array(scores, "scores")  # type: ignore[arg-type]  # it says it is an array
    if array.ndim not in (3, 4) or array.dtype.kind not in "fiub" or not len(array):
        return None
    if array.shape[1] != array.shape[2] or array.shape[1] < 2 or array.size == 0:
        return None  # checked sentence by sentence, for a better message
    return array


def _readable(
    sentences: Sequence[ArrayLike], errors: Literal["raise", "return"]
) -> tuple[dict[int, NDArray[Any]], dict[int, ArboraError]]:
    """The sentences that have the shape of scores, and the errors of the others."""
    arrays: dict[int, NDArray[Any]] = {}
    failures: dict[int, ArboraError] = {}
    for i, sentence in enumerate(sentences):
        try:
            array = as_scores(sentence)
            _check_same_labels(array, next(iter(arrays.values()), array))
            arrays[i] = array
        except ArboraError as error:
            failures[i] = located(i, error)
            if errors == "raise":
                raise failures[i] from None
    return arrays, failures


def _sentences(
    scores: Iterable[ArrayLike] | ArrayLike, lengths: ArrayLike | None
) -> Sequence[ArrayLike]:
    """The sentences of a list, or of a padded array cut to its lengths (words, without root)."""
    if lengths is None:
        try:
            return list(scores)  # type: ignore[arg-type]  # anything iterable will do
        except TypeError:
            raise ArgumentError(
                f"a batch needs a list of scores, or an array, not {type(scores).__name__}."
            ) from None
    padded = as_array(scores, "scores")  # type: ignore[arg-type]  # checked by its shape
    words = as_array(lengths, "lengths")
    if padded.ndim not in (3, 4) or padded.shape[1] != padded.shape[2]:
        raise ShapeError(
            f"padded scores must have shape (sentences, n+1, n+1), or "
            f"(sentences, n+1, n+1, L) with labels, not {padded.shape}."
        )
    if words.shape != padded.shape[:1] or (len(words) and words.dtype.kind not in "iu"):
        raise ShapeError(f"lengths must be {len(padded)} whole numbers, one per sentence.")
    if (words < 1).any() or (words >= padded.shape[1]).any():
        i = int(np.argmax((words < 1) | (words >= padded.shape[1])))
        raise ShapeError(
            f"the length of sentence {i} is {words[i]}: it must be from 1 to {padded.shape[1] - 1}."
        )
    return [padded[i, : n + 1, : n + 1] for i, n in enumerate(words.tolist())]


def _check_same_labels(scores: NDArray[Any], first: NDArray[Any]) -> None:
    if scores.ndim != first.ndim or scores.shape[2:] != first.shape[2:]:
        raise ArgumentError(
            "all sentences of a batch must have the same number of labels: "
            f"the shapes are {first.shape} and {scores.shape}."
        )


def located(i: int, error: ArboraError) -> ArboraError:
    """The same error with the number of its sentence."""
    message = f"sentence {i}: {error}"
    if isinstance(error, NoTreeError):
        return NoTreeError(message, error.word)
    return type(error)(message)
