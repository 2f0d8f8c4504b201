"""The models of a server, loaded once, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arbora.errors import ArgumentError
from arbora.models.components import FirstOrderPruner
from arbora.models.model import Model
from arbora.names import Root
from arbora.pipeline import Pipeline
from arbora.pipeline.pipeline import load
from arbora.server.refusals import NotFoundError

__all__ = ["Models", "with_root"]

# The names that UDPipe has for stages.
_UDPIPE_STAGES = {"segmenter": "tokenizer", "tagger": "tagger"}


class Models:
    """Loaded models; the first one is the default."""

    def __init__(self, pipelines: dict[str, Pipeline]) -> None:
        if not pipelines:
            raise ArgumentError("a server requires at least one model.")
        self._pipelines = pipelines
        self._aliases: dict[str, str] = {}
        for name in pipelines:  # as UDPipe does: english-ewt is also english
            parts = name.split("-")
            for end in range(len(parts), 0, -1):
                self._aliases.setdefault("-".join(parts[:end]), name)

    @classmethod
    def load(cls, given: Sequence[str], threads: int | None) -> Models:
        """Models from files, names of installed ones, or NAME=FILE; the installed one if none."""
        found: dict[str, Pipeline] = {}
        for one in given or [""]:
            name, equals, path = one.partition("=")
            if not equals:
                name, path = Path(one).name.removesuffix(".arbora") or "en", one
            if not name or name in found:
                raise ArgumentError(f"two models are named {name!r}: give one as NAME=FILE.")
            found[name] = load(path or None, threads)
        return cls(found)

    @property
    def default(self) -> str:
        """The name of the first model."""
        return next(iter(self._pipelines))

    def named(self, name: str | None) -> tuple[str, Pipeline]:
        """A model by its name, or by the beginning of it up to a hyphen."""
        if not name:
            name = self.default
        if name not in self._aliases:
            known = ", ".join(self._pipelines)
            raise NotFoundError(f"there is no model {name!r}; the models are: {known}.")
        own = self._aliases[name]
        return own, self._pipelines[own]

    def replace(self, name: str, pipeline: Pipeline) -> None:
        """Another model under the name of one."""
        self._pipelines[name] = pipeline

    def describe(self) -> list[dict[str, Any]]:
        """What each model is and can do, for the page."""
        return [_described(name, pipeline) for name, pipeline in self._pipelines.items()]

    def udpipe(self) -> dict[str, Any]:
        """The list of models as UDPipe's service has it."""
        stages = {
            name: [*(_UDPIPE_STAGES[s] for s in _stages(one) if s in _UDPIPE_STAGES), "parser"]
            for name, one in self._pipelines.items()
        }
        return {"models": stages, "default_model": self.default}


def _stages(pipeline: Pipeline) -> list[str]:
    return [
        stage
        for stage in ("segmenter", "tagger", "lemmatiser")
        if getattr(pipeline, stage) is not None
    ]


def _described(name: str, pipeline: Pipeline) -> dict[str, Any]:
    model = pipeline.model
    files = model.card.get("files") or {}
    dev = model.card.get("dev") or {}
    order = model.options.order
    inference: Any = getattr(order, "inference", None) or order
    return {
        "name": name,
        "stages": [*_stages(pipeline), "parser"],
        "labels": sorted(model.labels),
        "tags": [] if pipeline.tagger is None else sorted(pipeline.tagger.upos),
        "trees": model.decode_trees,
        "root": model.root,
        "order": model.options.keywords()["order"],
        "decoders": [one for one in inference.decoders if one in ("map", "mbr")],
        "kbest": hasattr(model.engine(), "kbest"),
        "probabilities": model.source_of_probabilities,
        "data": files.get("train"),
        "licence": model.card.get("licence"),
        "uas": dev.get("uas"),
        "las": dev.get("las"),
    }


def with_root(model: Model, root: Root | None) -> Model:
    """The model over trees with one root, or with any number of them."""
    if root is None or root == model.root:
        return model
    pruner = model.pruner
    if isinstance(pruner, FirstOrderPruner):
        pruner = replace(pruner, engine=replace(pruner.engine, root=root))
    return replace(model, root=root, pruner=pruner)
