"""Checkpoints: interrupted training resumes from its last complete pass, with the same result."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.errors import ModelError
from arbora.features import EdgeClusters, StoredEdgeClusters, WordClusters
from arbora.features.word_vectors import WordVectors
from arbora.fitting.loop import History, Parameters
from arbora.fitting.sealed_file import read_sealed, remove_sealed, write_sealed
from arbora.fitting.trainer import State, Trainer
from arbora.models.model import Model
from arbora.models.model_file import to_bytes
from arbora.models.tensor_file import Tensors, checksum_of, parse_json, with_zeros
from arbora.options import AdamOptions, ParserOptions, RiskOptions
from arbora.scoring import Scorer

if TYPE_CHECKING:
    from arbora.neural.pretrained import GivenEncoder

__all__ = [
    "LEARNT",
    "PASSES",
    "Checkpoint",
    "Saved",
    "fingerprint",
    "linear_expert",
    "path_beside",
    "remove_beside",
]

# Keys of a pruner: its completed passes, or its weights once it is trained.
PASSES, LEARNT = "passes", "learnt"

_TOO_LARGE = 1e16  # bound on weights, their sums over examples and squared gradients


def fingerprint(
    options: ParserOptions,
    blocks: list[Block | None],
    start: Model | None,
    word_clusters: WordClusters | None,
    scorer: Scorer | None = None,
    edge_clusters: EdgeClusters | None = None,
    vectors: WordVectors | None = None,
    pretrained: GivenEncoder | None = None,
) -> str:
    """A hash of the data and the options, except limits on the number of passes.

    The number of passes is included where a schedule depends on it: the temperatures of annealed
    risk, and the learning rates of Adam. A custom
    scorer is represented by its initial parameters.
    """
    optimizer = getattr(options.learner, "optimizer", None)
    scheduled = isinstance(options.learner, RiskOptions) or isinstance(optimizer, AdamOptions)
    free = ("patience",) if scheduled else ("passes", "patience")
    relevant = {name: value for name, value in options.keywords().items() if name not in free}
    digest = hashlib.sha256(json.dumps(relevant, sort_keys=True).encode())
    for block in blocks:
        digest.update(b"none" if block is None else hashlib.sha256(block.render()).digest())
    digest.update(b"none" if start is None else to_bytes(start))
    digest.update(b"none" if word_clusters is None else repr(word_clusters.rows).encode())
    if scorer is not None:
        described, arrays = scorer.state()
        digest.update(json.dumps([scorer.kind, described], sort_keys=True).encode())
        digest.update(checksum_of("", arrays).tobytes())
    if isinstance(edge_clusters, StoredEdgeClusters):
        described, arrays = edge_clusters.state()
        digest.update(json.dumps([edge_clusters.kind, described], sort_keys=True).encode())
        digest.update(checksum_of("", arrays).tobytes())
    elif edge_clusters is not None:
        digest.update(f"{edge_clusters.n_clusters} edge clusters".encode())
    if vectors is not None:
        digest.update("\n".join(vectors.words).encode())
        digest.update(vectors.vectors.tobytes())
    if pretrained is not None:
        digest.update(pretrained.digest())
    return digest.hexdigest()


@dataclass(frozen=True)
class Saved:
    """The contents of a checkpoint."""

    path: Path
    history: History
    best: Parameters
    states: dict[str, State]
    pruner: State

    def restore(self, name: str, trainer: Trainer) -> None:
        """Restores a trainer by name."""
        self._restore(trainer, self.states.get(name, {}))

    def restore_pruner(self, trainer: Trainer) -> int:
        """Restores the trainer of the pruner; returns its number of completed passes."""
        state = dict(self.pruner)
        passes = state.pop(PASSES, np.zeros(0))
        if passes.shape != (1,) or passes.dtype != np.int64 or passes[0] < 1:
            raise self._unfit()
        self._restore(trainer, state)
        return int(passes[0])

    def learnt_pruner(self, size: int) -> NDArray[np.float32]:
        """The weights of a fully trained pruner."""
        weights = self.pruner[LEARNT]
        if not _are_weights(weights, (size,)):
            raise self._unfit()
        return weights.astype(np.float32)

    def check(self, shapes: dict[str, tuple[int, ...]], phases: int) -> None:
        """Raises an error unless the contents fit the given shapes and number of phases."""
        fits = len(self.history.phases) <= phases and self.best.keys() == shapes.keys()
        if not fits or not all(_are_weights(self.best[name], shapes[name]) for name in shapes):
            raise self._unfit()

    def _restore(self, trainer: Trainer, state: State) -> None:
        own = trainer.state()
        alike = own.keys() == state.keys() and all(
            (own[key].shape, own[key].dtype) == (values.shape, values.dtype)
            and _are_numbers(values)
            for key, values in state.items()
        )
        if not alike:
            raise self._unfit()
        trainer.restore(state)

    def _unfit(self) -> ModelError:
        return ModelError(
            f"{self.path}: the checkpoint is from another version of Arbora; start a new training."
        )


def _are_numbers(values: NDArray[np.generic]) -> bool:
    """Whether all values are possible in training; a score of -inf forbids an arc."""
    numbers = values.astype(np.float64)
    return bool(((np.abs(numbers) < _TOO_LARGE) | np.isneginf(numbers)).all())


def _are_weights(values: NDArray[np.generic], shape: tuple[int, ...]) -> bool:
    right = values.shape == shape and values.dtype == np.float32
    return right and bool((np.abs(values.astype(np.float32)) < _TOO_LARGE).all())


@dataclass(frozen=True)
class Checkpoint:
    """The path of a checkpoint, and the fingerprint it must match."""

    path: Path
    fingerprint: str

    @classmethod
    def beside(cls, model_path: str | os.PathLike[str], fingerprint: str) -> Checkpoint:
        """The checkpoint of a model file."""
        return cls(path_beside(model_path), fingerprint)

    def write(
        self, trainers: dict[str, Trainer], history: History, best: Parameters, pruner: State
    ) -> None:
        """Replaces the previous checkpoint."""
        tensors: Tensors = {f"best/{name}": values for name, values in best.items()}
        tensors |= {f"pruner/{name}": values for name, values in pruner.items()}
        for name, trainer in trainers.items():
            for key, values in trainer.state().items():
                tensors[f"state/{name}/{key}"] = values
        course = json.dumps(history.to_dict())
        write_sealed(self.path, self.fingerprint, course, _without_zeros(tensors))

    def read(self) -> Saved:
        """The history so far, the best parameters, and the states of the trainers."""
        return read_sealed(self.path, self.fingerprint, self._saved)

    def _saved(self, course: str, stored: Tensors) -> Saved:
        saved = Saved(self.path, History.from_dict(parse_json(course)), {}, {}, {})
        for name, values in _with_zeros(stored).items():
            kind, _, rest = name.partition("/")
            if kind == "best":
                saved.best[rest] = np.array(values)
            elif kind == "pruner":
                saved.pruner[rest] = values
            else:
                trainer, _, key = rest.partition("/")
                saved.states.setdefault(trainer, {})[key] = values
        return saved


def path_beside(model_path: str | os.PathLike[str]) -> Path:
    """The path of the checkpoint of a model file."""
    return Path(f"{os.fspath(model_path)}.checkpoint")


def linear_expert(model_path: str | os.PathLike[str]) -> str:
    """The path beside which the linear scorer of a model with two scorers has its checkpoint."""
    return f"{os.fspath(model_path)}.linear"


def remove_beside(model_path: str | os.PathLike[str]) -> None:
    """Removes the checkpoints of a model file and their temporary files."""
    for path in (model_path, linear_expert(model_path)):
        remove_sealed(path_beside(path))


_PLACES, _VALUES, _LENGTH = "#places", "#values", "#length"
_FAR = 1 << 32


def _without_zeros(tensors: Tensors) -> Tensors:
    """Stores arrays sparsely where that is smaller, since most weights are zero."""
    stored: Tensors = {}
    for name, values in tensors.items():
        used = np.flatnonzero(values) if values.ndim == 1 and len(values) < _FAR else None
        if used is None or len(used) * (4 + values.itemsize) >= values.nbytes:
            stored[name] = np.ascontiguousarray(values)
            continue
        stored[name + _PLACES] = used.astype(np.uint32)
        stored[name + _VALUES] = values[used]
        stored[name + _LENGTH] = np.array([len(values)], dtype=np.int64)
    return stored


def _with_zeros(stored: Tensors) -> Tensors:
    tensors: Tensors = {}
    for name, values in stored.items():
        if name.endswith(_VALUES):
            plain = name.removesuffix(_VALUES)
            length = int(stored[plain + _LENGTH][0])
            tensors[plain] = with_zeros(stored[plain + _PLACES], values, length)
        elif not name.endswith((_PLACES, _LENGTH)):
            tensors[name] = values
    return tensors
