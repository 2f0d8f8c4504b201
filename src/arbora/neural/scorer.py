"""The neural scorer: the interface of scorers, and fixed shards on several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ModelError
from arbora.features import Encoded, FeatureSettings
from arbora.neural.blas import one_blas_thread
from arbora.neural.context import TUNED, Context
from arbora.neural.numpy_network import NumpyNetwork
from arbora.neural.pretrained import GivenEncoder
from arbora.neural.shards import (
    Shard,
    arcs_into_words,
    flat_starts,
    make_shard,
    scatter_arcs,
    shards_of,
)
from arbora.neural.sizes import Sizes, first_parameters, parameter_shapes, roles_of
from arbora.neural.vocabulary import NeuralVocabulary, Numbered
from arbora.scores import PartKind, Scores
from arbora.scoring import Batch, Parameters, Pullback, register_scorer
from arbora.types import FloatArray, IntArray

if TYPE_CHECKING:
    import torch

    from arbora.neural.differentiation import ShardGraph

__all__ = ["NeuralScorer"]

_Some = TypeVar("_Some")
_Answer = TypeVar("_Answer")


@register_scorer
class NeuralScorer:
    """Scores of arcs, parts and labels by a recurrent network.

    Annotated batches are scored by PyTorch, with dropout if the batch has `noise`; the pullback
    then also has the gradient of the labels' cross-entropy, given the annotated heads. Other
    batches are scored by NumPy.
    """

    kind: ClassVar[str] = "neural"

    def __init__(
        self,
        sizes: Sizes,
        vocabulary: NeuralVocabulary,
        parameters: Mapping[str, NDArray[Any]],
        *,
        vectors: NDArray[np.float32] | None = None,
        reader: Context | None = None,
        dropout: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.sizes, self.vocabulary, self.dropout = sizes, vocabulary, dropout
        self.vectors = vectors  # of words in a file, which stay as they are; row 0 is zeros
        self.reader = reader  # of a pretrained encoder
        self.remembers = False  # whether the encoder reads a treebank once, for many passes
        self.threads = threads
        self._parameters: Parameters = dict(parameters)
        # The states of the sentences that were scored last, for their labels.
        self._last: tuple[Encoded, bytes, list[tuple[Shard, NDArray[Any]]]] | None = None
        self._lent = False  # whether update rules may change the parameters

    @classmethod
    def untrained(
        cls, sizes: Sizes, vocabulary: NeuralVocabulary, *, dropout: float, seed: int, threads: int,
        vectors: NDArray[np.float32] | None = None, encoder: GivenEncoder | None = None,
    ) -> Self:  # fmt: skip
        """A network with random parameters, except those of a pretrained encoder."""
        first: Parameters = dict(first_parameters(sizes, vocabulary, seed))
        if encoder is not None and sizes.tuned:
            first |= {TUNED + name: values.copy() for name, values in encoder.arrays.items()}
        reader = None if encoder is None else Context.of(encoder, sizes)
        made = cls(
            sizes, vocabulary, first, vectors=vectors, reader=reader, dropout=dropout,
            threads=threads,
        )  # fmt: skip
        made.remembers = True
        return made

    @property
    def kinds(self) -> tuple[PartKind, ...]:
        """The kinds of parts that are scored besides arcs."""
        return self.sizes.kinds

    @property
    def n_labels(self) -> int | None:
        """Number of labels of an arc, if they are scored with the arcs."""
        return self.sizes.n_labels if self.sizes.joint else None

    @property
    def label_count(self) -> int:
        """Number of labels that the network knows."""
        return self.sizes.n_labels

    def scores(self, batch: Batch) -> tuple[Scores, Pullback]:
        """The scores of a batch, and their pullback."""
        if len(batch.heads):
            return self._differentiable(batch)

        def pullback(d_scores: Scores) -> Parameters:
            return self._differentiable(batch)[1](d_scores)  # type: ignore[no-any-return]

        return self._plain(batch), pullback

    def _plain(self, batch: Batch) -> Scores:
        """The scores without gradients, by NumPy."""
        network, scores = self._network, self._empty(batch)
        pieces: list[FloatArray] = [np.empty(0)] * len(batch)

        def run(found: tuple[Shard, NDArray[Any]]) -> None:
            shard, states = found
            arcs = network.arcs(shard, states)
            if self.sizes.joint:
                arcs = arcs[..., None] + network.joint_labels(shard, states)
            scatter_arcs(shard, arcs, pieces)
            for kind in self.kinds:
                for i, columns in packed_parts(scores, kind, shard):
                    scores.piece(kind, i)[:] = network.parts(kind, states, columns)

        self._each(run, self._states(batch.encoded, batch.sentences))
        return self._filled(batch, scores, pieces)

    def _differentiable(self, batch: Batch) -> tuple[Scores, Pullback]:
        """The scores with gradients, by PyTorch."""
        from arbora.neural.differentiation import ShardGraph, merged, tensors_of

        numbered, scores = self.numbered(batch.encoded), self._empty(batch)
        tensors = tensors_of(self._parameters)
        self._remember(batch.encoded)
        pieces: list[FloatArray] = [np.empty(0)] * len(batch)

        def run(numbered_members: tuple[int, NDArray[np.int64]]) -> ShardGraph:
            number, members = numbered_members
            shard = make_shard(numbered, batch.sentences[members], members)
            graph = ShardGraph(self, tensors, batch, shard, number)
            graph.score(scores, pieces)
            return graph

        graphs = self._each(run, enumerate(shards_of(batch.n_words, training=True)))

        def pullback(d_scores: Scores) -> Parameters:
            found = self._each(lambda graph: graph.pullback(d_scores), graphs)
            return merged(found, self._parameters)

        return self._filled(batch, scores, pieces), pullback

    def label_scores(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray:
        """Scores of the labels of given trees' arcs, (words, labels)."""
        network, starts = self._network, flat_starts(encoded.n_words[sentences])
        answer = np.empty((len(heads), self.sizes.n_labels))

        def run(found: tuple[Shard, NDArray[Any]]) -> None:
            shard, states = found
            words, above = arcs_into_words(shard, heads, starts)
            values, place = network.labels(states, above, words), 0
            for member, length in zip(shard.members.tolist(), shard.lengths.tolist(), strict=True):
                rows = values[place : place + length - 1]
                answer[starts[member] : starts[member] + length - 1] = rows
                place += length - 1

        self._each(run, self._states(encoded, sentences))
        return answer

    def _states(
        self, encoded: Encoded, sentences: NDArray[np.int64]
    ) -> list[tuple[Shard, NDArray[Any]]]:
        """The shards of some sentences with the states of their tokens."""
        key = sentences.tobytes()
        last = self._last
        if not self._lent and last is not None and last[0] is encoded and last[1] == key:
            return last[2]
        numbered, network = self.numbered(encoded), self._network
        self._remember(encoded)
        learnt = self._encoder_tensors()

        def run(members: NDArray[np.int64]) -> tuple[Shard, NDArray[Any]]:
            shard = make_shard(numbered, sentences[members], members)
            context = self.context(encoded, shard, learnt)
            inside = None if context is None else context.detach().numpy()
            return shard, network.states(shard, self.given(shard), inside)

        found = self._each(run, shards_of(encoded.n_words[sentences], training=False))
        self._last = (encoded, key, found)
        return found

    def _each(self, run: Callable[[_Some], _Answer], things: Iterable[_Some]) -> list[_Answer]:
        """Runs on all things, in any order; answers come in the order of the things."""
        things = list(things)
        workers = min(self.threads, len(things))
        with one_blas_thread():
            if workers < 2:
                return [run(one) for one in things]
            with ThreadPoolExecutor(workers) as pool:
                return list(pool.map(run, things))

    def numbered(self, encoded: Encoded) -> Numbered:
        """The sentences as the network's numbers; they are looked up once."""
        found: Numbered | None = encoded.derived.get(self.vocabulary)
        if found is None:
            found = encoded.derived[self.vocabulary] = self.vocabulary.number(encoded)
        return found

    @property
    def _network(self) -> NumpyNetwork:
        return NumpyNetwork(self.sizes, self._parameters) if self._lent else self._prepared

    @cached_property
    def _prepared(self) -> NumpyNetwork:
        return NumpyNetwork(self.sizes, self._parameters)

    def given(self, shard: Shard) -> NDArray[np.float32] | None:
        """The word vectors of a file for each token, packed, if the network has any."""
        return None if self.vectors is None else self.vectors[shard.given]

    def context(
        self, encoded: Encoded, shard: Shard, tensors: Mapping[str, torch.Tensor] | None
    ) -> torch.Tensor | None:
        """The vectors of a pretrained encoder for each token, packed, if there is one.

        `tensors` are the scorer's parameters, among which there may be the encoder's.
        """
        if self.reader is None:
            return None
        learnt = None if tensors is None else _of_encoder(tensors)
        return self.reader.vectors(encoded, shard, learnt)

    def _remember(self, encoded: Encoded) -> None:
        if self.reader is not None and self.remembers:
            self.reader.remember(encoded, self._each)

    def _encoder_tensors(self) -> Mapping[str, torch.Tensor] | None:
        """The encoder's arrays among the parameters as tensors without gradients."""
        if not self.sizes.tuned:
            return None
        return self._made_tensors() if self._lent else self._kept_tensors

    @cached_property
    def _kept_tensors(self) -> Mapping[str, torch.Tensor]:
        return self._made_tensors()

    def _made_tensors(self) -> Mapping[str, torch.Tensor]:
        assert self.reader is not None
        own = {name: values for name, values in self._parameters.items() if name.startswith(TUNED)}
        return self.reader.encoder.tensors(own)

    def _empty(self, batch: Batch) -> Scores:
        if self.kinds:
            return Scores.over_mask(batch.kept, batch.n_words, self.kinds, self.threads)
        return Scores(np.empty(0), batch.n_words, self.n_labels)

    def _filled(self, batch: Batch, scores: Scores, pieces: list[FloatArray]) -> Scores:
        arcs = np.concatenate(pieces).astype(np.float64) if pieces else np.empty(0)
        if len(batch.kept):
            arcs[batch.kept == 0] = -np.inf
        return replace(scores, arcs=arcs)

    def parameters(self) -> Parameters:
        """The network's arrays by name, which update rules change in place."""
        self._lent = True
        return self._parameters

    def with_parameters(self, parameters: Mapping[str, NDArray[Any]]) -> Self:
        """The same network with other parameters."""
        other = self._copied()
        other._parameters = dict(parameters)  # noqa: SLF001  # of the same class
        return other

    def on_threads(self, threads: int) -> Self:
        """The same network on another number of threads."""
        other = self._copied()
        other.threads = threads
        return other

    def for_training(self, dropout: float, threads: int) -> Self:
        """A copy of the network whose parameters may be changed."""
        copied = {name: np.array(values) for name, values in self._parameters.items()}
        other = self.with_parameters(copied).on_threads(threads)
        other.dropout, other.remembers = dropout, True
        return other

    def _copied(self) -> Self:
        other = copy(self)
        for name in ("_prepared", "_kept_tensors"):
            other.__dict__.pop(name, None)
        other._last, other._lent = None, False  # noqa: SLF001  # likewise
        return other

    def state(self) -> tuple[dict[str, Any], Parameters]:
        """What a model file has to hold: a description for JSON, and arrays."""
        names, arrays = self.vocabulary.to_store()
        description = {"sizes": self.sizes.to_store(), "names": names}
        if self.vectors is not None:
            arrays["given.vectors"] = self.vectors
        if self.reader is not None:
            arrays |= self.reader.state()
        return description, {**arrays, **self._parameters}

    @classmethod
    def from_state(
        cls,
        description: dict[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        features: FeatureSettings,  # noqa: ARG003  # those of linear scorers
    ) -> Self:
        """The scorer that `state` described; raises if shapes do not fit the sizes."""
        sizes = Sizes.from_store(description["sizes"])
        vocabulary = NeuralVocabulary.from_store(description["names"], arrays)
        parameters: Parameters = {}
        for name, shape in parameter_shapes(sizes, vocabulary).items():
            values = arrays[name]
            if values.shape != shape or values.dtype != np.float32:
                raise ModelError(f"the scorer's {name} do not fit its sizes.")
            parameters[name] = values
        vectors = arrays.get("given.vectors")
        rows = 1 + len(vocabulary.given) if sizes.given else 0
        if (vectors is None) != (rows == 0) or (
            vectors is not None
            and (vectors.shape != (rows, sizes.given) or vectors.dtype != np.float32)
        ):
            raise ModelError("the scorer's word vectors do not fit its sizes.")
        reader = Context.from_store(sizes, arrays) if sizes.context else None
        if sizes.tuned:
            parameters |= {
                name: values for name, values in arrays.items() if name.startswith(TUNED)
            }
        return cls(sizes, vocabulary, parameters, vectors=vectors, reader=reader)


def _of_encoder(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The encoder's own among the scorer's tensors, under the encoder's names."""
    return {
        name.removeprefix(TUNED): values
        for name, values in tensors.items()
        if name.startswith(TUNED)
    }


def packed_parts(
    scores: Scores, kind: PartKind, shard: Shard
) -> Iterable[tuple[int, NDArray[np.int64]]]:
    """The parts of each sentence of a shard, with packed places for words."""
    for row, member in zip(shard.padded, shard.members.tolist(), strict=True):
        columns = scores.columns(kind, member).copy()
        for role in roles_of(kind):
            words = columns[:, role]
            columns[:, role] = np.where(words < 0, -1, row[words])
        yield member, columns
