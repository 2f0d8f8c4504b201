"""Trained stages on disk, so that a resumed training does not train them again."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from arbora.data import Block
from arbora.features import WordClusters
from arbora.fitting.sealed_file import read_sealed, write_sealed
from arbora.models.tensor_file import Tensors, parse_json
from arbora.options import StageOptions
from arbora.pipeline.pipeline import STAGES
from arbora.pipeline.training import Stages

__all__ = ["StageCheckpoint", "stage_checkpoint_path"]


@dataclass(frozen=True)
class StageCheckpoint:
    """The path of a checkpoint of stages, the treebank, and the fingerprint it must match."""

    path: Path
    train: Block
    dev: Block | None
    fingerprint: str

    @classmethod
    def beside(
        cls,
        model_path: str | os.PathLike[str],
        train: Block,
        dev: Block | None,
        options: StageOptions,
        word_clusters: WordClusters | None,
    ) -> StageCheckpoint:
        """The checkpoint of a model file, for a training with these data and options."""
        digest = hashlib.sha256(json.dumps(asdict(options), sort_keys=True).encode())
        for block in (train, dev):
            digest.update(b"none" if block is None else hashlib.sha256(block.render()).digest())
        digest.update(b"none" if word_clusters is None else repr(word_clusters.rows).encode())
        return cls(stage_checkpoint_path(model_path), train, dev, digest.hexdigest())

    def write(self, stages: Stages) -> None:
        """Replaces the file."""
        stored = stages.stored()
        tensors: Tensors = {
            f"stage.{name}/{key}": values
            for name, stage in stored.items()
            for key, values in stage.tensors.items()
        }
        tensors["train"] = _text(stages.train)
        if stages.dev is not None:
            tensors["dev"] = _text(stages.dev)
        described = {
            "settings": {name: stage.settings for name, stage in stored.items()},
            "card": stages.card(),
        }
        write_sealed(self.path, self.fingerprint, json.dumps(described), tensors)

    def read(self) -> Stages:
        """The stages, and the treebank as they annotate it."""
        return read_sealed(self.path, self.fingerprint, self._stages)

    def _stages(self, text: str, tensors: Tensors) -> Stages:
        described = parse_json(text)
        made = {}
        for name, settings in described["settings"].items():
            prefix = f"stage.{name}/"
            own = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
            made[name] = STAGES[name].from_store(settings, own)
        card = described["card"]
        return Stages(
            **{name: made.get(name) for name in STAGES},
            train=self.train.reread(tensors["train"].tobytes()),
            dev=None if self.dev is None else self.dev.reread(tensors["dev"].tobytes()),
            skipped=card["skipped"], accuracy=card["trained"], measured_on=card["measured_on"],
            folds=card["folds"], mixed=card["mixed"],
        )  # fmt: skip


def stage_checkpoint_path(model_path: str | os.PathLike[str]) -> Path:
    """The path of the checkpoint of a model file's stages."""
    return Path(f"{os.fspath(model_path)}.stages.checkpoint")


def _text(block: Block) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.frombuffer(block.render(), dtype=np.uint8)
