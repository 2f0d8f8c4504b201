"""`Pipeline`: a parser with the stages that run before it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block, Chunk
from arbora.data.source import ReadPath, check_path
from arbora.errors import ArgumentError, DataError
from arbora.models.columns import check_columns
from arbora.models.model import Model, StoredStage
from arbora.models.model_file import from_bytes, read_model, to_bytes
from arbora.models.output import parse_block
from arbora.options import ParseOptions
from arbora.options.build import build
from arbora.parsers import Parser
from arbora.pipeline.document import Document
from arbora.segmentation import Segmented, Segmenter
from arbora.tagging import Lemmatiser, Tagger

__all__ = ["STAGES", "Pipeline", "load"]

StageKind = TypeVar("StageKind")

# The stages that a model file may have, in the order in which they run.
STAGES: dict[str, Any] = {"segmenter": Segmenter, "tagger": Tagger, "lemmatiser": Lemmatiser}

TEXT = "text"  # the name of the format


class Pipeline(Parser):
    """A parser with the stages that run before it: segmenter, tagger, lemmatiser, each optional.

    Called with a text, it answers with a `Document`. It has all methods of `Parser`; sentences
    without tags and lemmas get them from the stages. `arbora.load` makes one from a model file,
    `fit` trains a parser alone, and `arbora.pipeline.train_stages` the stages.
    """

    segmenter: Segmenter | None = None
    tagger: Tagger | None = None
    lemmatiser: Lemmatiser | None = None

    @classmethod
    def from_model(cls, model: Model, threads: int | None = None) -> Pipeline:
        """A pipeline with a trained model and its stages."""
        pipeline = cls(threads=threads)
        pipeline.options, pipeline._model = model.options, model
        for name, stored in model.stages.items():
            if name in STAGES:
                setattr(pipeline, name, STAGES[name].from_store(stored.settings, stored.tensors))
        return pipeline

    def with_stages(
        self,
        segmenter: Segmenter | None = None,
        tagger: Tagger | None = None,
        lemmatiser: Lemmatiser | None = None,
    ) -> Pipeline:
        """The same trained parser with other stages."""
        given = {"segmenter": segmenter, "tagger": tagger, "lemmatiser": lemmatiser}
        stored = {
            name: StoredStage(stage.settings(), stage.tensors())
            for name, stage in given.items()
            if stage is not None
        }
        made = Pipeline.from_model(replace(self.model, stages=stored), self.threads)
        made.history = self.history
        return made

    def __call__(self, source: Any, /) -> Any:
        """The `Document` of a text; a block, as for any `Stage`, is parsed to a block."""
        if isinstance(source, str):
            return self.read(source)
        if not isinstance(source, Block):
            raise ArgumentError(
                f"a pipeline is called with a text or a Block, not {type(source).__name__}: use "
                "parse() for sentences."
            )
        return super().__call__(source)

    def read(self, text: str, **options: Any) -> Document:
        """Segments and parses a text, with the options of `parse`."""
        how = build(ParseOptions, {"probabilities": True} | options)
        if how.kbest is not None or how.samples is not None:
            raise ArgumentError("a document has one tree per sentence: use parse() for several.")
        found = self._segmenter().segment(text)
        if not len(found.block):
            return Document(text, (), ())
        block = self.prepare(found.block, how)
        parsed = tuple(parse_block(self.decoder(how), block, how))
        return Document(text, parsed, _places(found))

    def pipe(self, texts: Iterable[str], **options: Any) -> Iterator[Document]:
        """Parses texts one after the other."""
        if isinstance(texts, str):
            raise ArgumentError("pipe() takes several texts: call the pipeline with a single one.")
        for text in texts:
            yield self.read(text, **options)

    def prepare(self, block: Block, options: ParseOptions) -> Block:
        """The block with the tags and lemmas that it lacks, from the model's own stages."""
        if self.tagger is None:
            return super().prepare(block, options)
        block = self.tagger(block, retag=options.retag, threads=self.threads)
        if self.lemmatiser is not None:
            block = self.lemmatiser(block, retag=options.retag, threads=self.threads)
        if not options.allow_missing:
            check_columns(block, self.model.encoder.settings, "this model cannot fill them in")
        return block

    def chunks(
        self,
        path: ReadPath,
        options: ParseOptions,
        *,
        format: str | None = None,  # noqa: A002  # the public name
        skip_bad: bool = False,
        on_error: Callable[[DataError], object] | None = None,
    ) -> Iterator[Chunk]:
        """A file in blocks; with format `text`, raw text is segmented."""
        if format != TEXT:
            yield from super().chunks(
                path, options, format=format, skip_bad=skip_bad, on_error=on_error
            )
            return
        for block in self._segmenter().blocks(path):
            yield Chunk(block, "conllu", 0)

    def _segmenter(self) -> Segmenter:
        if self.segmenter is None:
            raise ArgumentError(
                "this model takes no text, because it has no segmenter: give it CoNLL-U, or train "
                "a model with arbora train on a treebank with text."
            )
        return self.segmenter

    def __reduce__(self) -> tuple[Any, ...]:
        if self._model is None:
            return super().__reduce__()
        return _from_bytes, (to_bytes(self._model), self.threads)


def load(path: str | os.PathLike[str], threads: int | None = None) -> Pipeline:
    """A pipeline from a model file."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"a model is loaded from a path, not from {type(path).__name__}.")
    check_path(path)
    return Pipeline.from_model(read_model(path), threads)


def _from_bytes(data: bytes, threads: int) -> Pipeline:
    return Pipeline.from_model(from_bytes(data), threads)


def _places(found: Segmented) -> tuple[NDArray[np.int64], ...]:
    """For each sentence, the start and end of its words in the text."""
    tokens = np.repeat(np.arange(len(found.starts)), found.n_words)
    both = np.stack([found.starts[tokens], found.ends[tokens]], axis=1)
    return tuple(np.split(both, np.cumsum(found.block.n_words)[:-1]))
