"""Distributions over trees as JAX functions: exact sums and gradients of padded batches.

`SpanningTrees` and `ProjectiveTrees` of `arbora` over arrays of JAX, with the extra `jax`:
`pip install "arbora[jax]"`. The compiled kernels run on the host (`jax.pure_callback`), in float64
whatever the dtype; answers have the dtype of the scores. All work under `jax.jit`, `jax.grad` and
`jax.vmap`. `log_partition` and `log_prob` can be differentiated twice, the others once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from arbora.errors import ArgumentError, ShapeError
from arbora.inference import ProjectiveTrees as HostProjective
from arbora.inference import SpanningTrees as HostSpanning
from arbora.inference.arguments import as_count, check_choice
from arbora.types import Root

try:
    import jax
    import jax.numpy as jnp
except ImportError as problem:
    raise ImportError("arbora.jax requires JAX: pip install 'arbora[jax]'.") from problem

__all__ = ["ProjectiveTrees", "SpanningTrees", "Trees"]

Array = Any  # jax.Array, also while it is traced


class Trees(NamedTuple):
    """Heads (B, N), -1 in the padding, and scores (B,)."""

    heads: Array
    scores: Array


class _Settings(NamedTuple):
    host: Any  # the class of the NumPy library
    root: Root


def _batch(settings: _Settings, scores: Any, lengths: Any) -> tuple[Any, list[tuple[int, slice]]]:
    """The batch in NumPy, and for every sentence its number and the cells that it uses."""
    wide, words = np.asarray(scores, dtype=np.float64), np.asarray(lengths)
    pieces = [np.ascontiguousarray(wide[i, : n + 1, : n + 1]) for i, n in enumerate(words.tolist())]
    batch = settings.host.batch(pieces, settings.root)
    return batch, [(i, slice(n + 1)) for i, n in enumerate(words.tolist())]


def _padded(pieces: list[Any], sides: list[tuple[int, slice]], like: Any) -> Any:
    answer = np.zeros(like.shape, dtype=like.dtype)
    for (i, side), piece in zip(sides, pieces, strict=True):
        answer[i, side, side] = piece
    return answer


def _host_number(question: Any, settings: _Settings, scores: Any, lengths: Any) -> Any:
    return np.asarray(question(_batch(settings, scores, lengths)[0]), dtype=scores.dtype)


def _host_log_prob(settings: _Settings, scores: Any, lengths: Any, heads: Any) -> Any:
    batch, sides = _batch(settings, scores, lengths)
    rows = [np.asarray(heads)[i, : side.stop - 1] for i, side in sides]
    return np.asarray(batch.log_prob(rows), scores.dtype)


def _host_marginals(settings: _Settings, scores: Any, lengths: Any) -> Any:
    batch, sides = _batch(settings, scores, lengths)
    return _padded(batch.marginals, sides, scores)


def _host_vjp(settings: _Settings, scores: Any, lengths: Any, direction: Any) -> Any:
    batch, sides = _batch(settings, scores, lengths)
    wide = np.asarray(direction, dtype=np.float64)
    return _padded(batch.vjp([wide[i, side, side] for i, side in sides]), sides, scores)


def _host_best(settings: _Settings, scores: Any, lengths: Any) -> tuple[Any, Any]:
    trees = _batch(settings, scores, lengths)[0].argmax()
    heads = np.full((scores.shape[0], scores.shape[1] - 1), -1, dtype=np.int32)
    for i, tree in enumerate(trees):
        heads[i, : len(tree)] = tree.heads
    return heads, np.array([tree.score for tree in trees], dtype=scores.dtype)


def _host_sample(settings: _Settings, k: int, scores: Any, lengths: Any, seed: Any) -> Any:
    heads = np.full((scores.shape[0], k, scores.shape[1] - 1), -1, dtype=np.int32)
    for i, drawn in enumerate(_batch(settings, scores, lengths)[0].sample(k, int(seed))):
        heads[i, :, : drawn.shape[1]] = drawn
    return heads


_call = partial(jax.pure_callback, vmap_method="sequential")  # a mapped axis is a loop


def _ask(function: Any, axes: int, settings: _Settings, scores: Array, *others: Array) -> Array:
    like = jax.ShapeDtypeStruct(scores.shape[:axes], scores.dtype)
    return _call(partial(function, settings), like, scores, *others)


def _differentiable(function: Any, axes: int, pull: Callable[..., Any]) -> Callable[..., Array]:
    """A question of the host with its gradient, `pull(settings, arguments, d_answer)`."""
    question = jax.custom_vjp(partial(_ask, function, axes), nondiff_argnums=(0,))
    question.defvjp(lambda settings, *given: (question(settings, *given), given), pull)
    return question


def _pull_log_prob(settings: _Settings, given: Any, d: Array) -> Any:
    scores, lengths, heads = given
    arcs = _arcs(heads, scores, lengths) - _marginals(settings, scores, lengths)
    return d[:, None, None] * arcs, None, None


def _pull_entropy(settings: _Settings, given: Any, d: Array) -> Any:
    """d H is minus the covariance of each arc with the score of the tree."""
    scores = jnp.where(jnp.isfinite(given[0]), given[0], 0.0)
    return -d[:, None, None] * _ask(_host_vjp, 3, settings, *given, scores), None


_marginals = _differentiable(
    _host_marginals, 3, lambda settings, given, d: (_ask(_host_vjp, 3, settings, *given, d), None)
)
_log_partition = _differentiable(  # d log Z = marginals, which have a derivative of their own
    partial(_host_number, lambda batch: batch.log_partition),
    1,
    lambda settings, given, d: (d[:, None, None] * _marginals(settings, *given), None),
)
_log_prob = _differentiable(_host_log_prob, 1, _pull_log_prob)
_entropy = _differentiable(partial(_host_number, lambda b: b.entropy()), 1, _pull_entropy)


def _arcs(heads: Array, scores: Array, lengths: Array) -> Array:
    sides = jnp.arange(scores.shape[1])
    words = (sides[1:] <= lengths[:, None])[:, None, :]
    arcs = (heads[:, None, :] == sides[:, None]) & words
    return jnp.pad(arcs, ((0, 0), (0, 0), (1, 0))).astype(scores.dtype)


class SpanningTrees:
    """Distributions over all dependency trees of a padded batch; see `arbora.torch`.

    Scores are (B, N+1, N+1), [head, modifier]; lengths, (B,), count words, by default all N.
    """

    host: ClassVar[Any] = HostSpanning

    def __init__(self, scores: Array, *, root: Root = "single", lengths: Any = None) -> None:
        check_choice(root, ("single", "multi"), "root")
        if not jnp.issubdtype(scores.dtype, jnp.floating):
            raise ArgumentError(f"scores must be of a float dtype, not {scores.dtype}.")
        if scores.ndim != 3 or scores.shape[1] != scores.shape[2] or scores.shape[1] < 2:
            raise ShapeError(f"scores must have shape (B, N+1, N+1), not {scores.shape}.")
        full = np.full(scores.shape[:1], scores.shape[1] - 1)
        self.scores, self.lengths = scores, jnp.asarray(full if lengths is None else lengths)
        self._settings = _Settings(self.host, root)

    @property
    def log_partition(self) -> Array:
        """log Z, (B,)."""
        return _log_partition(self._settings, self.scores, self.lengths)

    @property
    def marginals(self) -> Array:
        """P(arc), in the shape of the scores."""
        return _marginals(self._settings, self.scores, self.lengths)

    def log_prob(self, heads: Array) -> Array:
        """log P of heads (B, N), -inf if they are no tree; those of the padding are not read."""
        return _log_prob(self._settings, self.scores, self.lengths, heads)

    def entropy(self) -> Array:
        """Entropy in nats, (B,)."""
        return _entropy(self._settings, self.scores, self.lengths)

    def argmax(self) -> Trees:
        """The best trees, without gradient."""
        batch, side, _ = self.scores.shape
        shapes = ((batch, side - 1), jnp.int32), ((batch,), self.scores.dtype)
        like = tuple(jax.ShapeDtypeStruct(*shape) for shape in shapes)
        fixed = jax.lax.stop_gradient(self.scores)
        return Trees(*_call(partial(_host_best, self._settings), like, fixed, self.lengths))

    def sample(self, key: Array, k: int = 1) -> Array:
        """Heads (B, k, N) of exact draws, without gradient."""
        count, (batch, side) = as_count(k, "k"), self.scores.shape[:2]
        like = jax.ShapeDtypeStruct((batch, count, side - 1), jnp.int32)
        given = jax.lax.stop_gradient(self.scores), self.lengths
        seed = jax.random.randint(key, (), 0, 2**31 - 1)
        return _call(partial(_host_sample, self._settings, count), like, *given, seed)


class ProjectiveTrees(SpanningTrees):
    """Distributions over trees without crossing arcs."""

    host: ClassVar[Any] = HostProjective
