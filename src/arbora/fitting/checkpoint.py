"""Checkpoints: an interrupted training goes on from its last complete pass, to the same result."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as save_tensors

from arbora.data import Block, open_output
from arbora.errors import ModelError
from arbora.features import WordClusters
from arbora.fitting.loop import History
from arbora.fitting.trainer import State, Trainer
from arbora.models.model import Model
from arbora.models.model_file import checksum_of, to_bytes
from arbora.options import ParserOptions, RiskOptions

__all__ = ["Checkpoint", "Saved", "fingerprint"]


def fingerprint(
    options: ParserOptions,
    blocks: list[Block | None],
    start: Model | None,
    word_clusters: WordClusters | None,
) -> str:
    """What a checkpoint belongs to: the data and the settings, but for how long to train.

    Where a temperature falls, how fast depends on the number of passes.
    """
    annealed = isinstance(options.learner, RiskOptions)
    free = ("patience",) if annealed else ("passes", "patience")
    relevant = {name: value for name, value in options.keywords().items() if name not in free}
    digest = hashlib.sha256(json.dumps(relevant, sort_keys=True).encode())
    for block in blocks:
        digest.update(b"none" if block is None else hashlib.sha256(block.render()).digest())
    digest.update(b"none" if start is None else to_bytes(start))
    digest.update(b"none" if word_clusters is None else repr(word_clusters.rows).encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class Saved:
    """What a checkpoint holds."""

    path: Path
    history: History
    best: dict[str, NDArray[Any]]
    states: dict[str, State]

    def restore(self, trainers: dict[str, Trainer]) -> None:
        """Makes the trainers go on where those were that were saved."""
        for name, trainer in trainers.items():
            try:
                trainer.restore(self.states[name])
            except (KeyError, ValueError, TypeError, IndexError):
                raise ModelError(
                    f"{self.path}: the checkpoint is of another version of Arbora; train anew."
                ) from None


@dataclass(frozen=True)
class Checkpoint:
    """Where it is kept, and what it must agree with."""

    path: Path
    fingerprint: str

    @classmethod
    def beside(cls, model_path: str | os.PathLike[str], fingerprint: str) -> Checkpoint:
        return cls(_path_beside(model_path), fingerprint)

    def write(
        self, trainers: dict[str, Trainer], history: History, best: dict[str, NDArray[Any]]
    ) -> None:
        tensors = {f"best/{name}": values for name, values in best.items()}
        for name, trainer in trainers.items():
            for key, values in trainer.state().items():
                tensors[f"state/{name}/{key}"] = values
        stored, course = _without_zeros(tensors), json.dumps(history.to_dict())
        metadata = {
            "fingerprint": self.fingerprint, "history": course,
            "checksum": checksum_of(course, stored).tobytes().hex(),
        }  # fmt: skip
        with open_output(self.path) as write:
            write(save_tensors(stored, metadata))

    def read(self) -> Saved:
        """The history so far, the best parameters, and the states of the trainers."""
        if not self.path.exists():
            raise ModelError(f"{self.path}: there is no checkpoint to resume; train without it.")
        try:
            with safe_open(self.path, framework="numpy") as file:
                metadata = file.metadata() or {}
                stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            course = metadata["history"]
            if metadata["checksum"] != checksum_of(course, stored).tobytes().hex():
                raise ValueError("altered or damaged")
            tensors = _with_zeros(stored)
            history = History.from_dict(json.loads(course))
        except (SafetensorError, KeyError, ValueError, TypeError, IndexError, OSError):
            raise ModelError(f"{self.path}: this is not a whole checkpoint; train anew.") from None
        if metadata.get("fingerprint") != self.fingerprint:
            raise ModelError(
                f"{self.path}: the checkpoint is of other data or settings; train anew without it."
            )
        best: dict[str, NDArray[Any]] = {}
        states: dict[str, State] = {}
        for name, values in tensors.items():
            kind, _, rest = name.partition("/")
            if kind == "best":
                best[rest] = np.array(values)
            else:
                trainer, _, key = rest.partition("/")
                states.setdefault(trainer, {})[key] = values
        return Saved(self.path, history, best, states)

    @staticmethod
    def remove_beside(model_path: str | os.PathLike[str]) -> None:
        """Removes it, and what killed trainings left half-written."""
        path = _path_beside(model_path)
        for leftover in [path, *path.parent.glob(f".{glob.escape(path.name)}.*.tmp")]:
            leftover.unlink(missing_ok=True)


def _path_beside(model_path: str | os.PathLike[str]) -> Path:
    return Path(f"{os.fspath(model_path)}.checkpoint")


_PLACES, _VALUES, _LENGTH = "#places", "#values", "#length"
_FAR = 1 << 32


def _without_zeros(tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The same with only what is not zero, where that is smaller: most of a table mostly is."""
    stored: dict[str, NDArray[Any]] = {}
    for name, values in tensors.items():
        used = np.flatnonzero(values) if values.ndim == 1 and len(values) < _FAR else None
        if used is None or len(used) * (4 + values.itemsize) >= values.nbytes:
            stored[name] = np.ascontiguousarray(values)
            continue
        stored[name + _PLACES] = used.astype(np.uint32)
        stored[name + _VALUES] = values[used]
        stored[name + _LENGTH] = np.array([len(values)], dtype=np.int64)
    return stored


def _with_zeros(stored: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    tensors: dict[str, NDArray[Any]] = {}
    for name, values in stored.items():
        if name.endswith(_VALUES):
            plain = name.removesuffix(_VALUES)
            tensors[plain] = np.zeros(int(stored[plain + _LENGTH][0]), dtype=values.dtype)
            tensors[plain][stored[plain + _PLACES]] = values
        elif not name.endswith((_PLACES, _LENGTH)):
            tensors[name] = values
    return tensors
