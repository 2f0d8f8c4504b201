"""`Pipeline`: a parser with the stages that run before it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block, Chunk
from arbora.data.source import ReadPath, check_path
from arbora.data.treebank import TreebankSource
from arbora.errors import ArgumentError, DataError
from arbora.models.columns import check_columns
from arbora.models.lengths import check_lengths
from arbora.models.model import Model, StoredStage
from arbora.models.model_file import from_bytes, read_model, to_bytes
from arbora.models.tag_draws import TagDraws
from arbora.options import ParseOptions, StageOptions
from arbora.options.build import build
from arbora.parsers import Parser
from arbora.pipeline.document import Document
from arbora.pipeline.installed import find_model
from arbora.pipeline.texts import looks_like_text
from arbora.segmentation import Segmented, Segmenter
from arbora.tagging import Lemmatiser, Tagger

if TYPE_CHECKING:
    from arbora.fitting.fit import Fit
    from arbora.pipeline.training import StageProgress

__all__ = ["STAGES", "TEXT", "Pipeline", "load"]

# The stages that a model file may have, in the order in which they run.
STAGES: dict[str, Any] = {"segmenter": Segmenter, "tagger": Tagger, "lemmatiser": Lemmatiser}

TEXT = "text"  # the name of the format


@dataclass
class _Training:
    """What `fit` trains besides the parser, and the entry of the card about it."""

    options: StageOptions
    on_stage: StageProgress | None
    stages: dict[str, StoredStage] = field(default_factory=dict)
    card: dict[str, Any] = field(default_factory=dict)


class Pipeline(Parser):
    """A parser with the stages that run before it: segmenter, tagger, lemmatiser, each optional.

    Called with a text, it answers with a `Document`. It has all methods of `Parser`; sentences
    without tags and lemmas get them from the stages. `arbora.load` makes one from a model file.
    """

    segmenter: Segmenter | None = None
    tagger: Tagger | None = None
    lemmatiser: Lemmatiser | None = None
    _training: _Training

    @classmethod
    def from_model(cls, model: Model, threads: int | None = None) -> Pipeline:
        """A pipeline with a trained model and its stages."""
        pipeline = cls(threads=threads)
        pipeline.options, pipeline._model = model.options, model
        return pipeline._take(model.stages)

    def fit(
        self,
        train: TreebankSource,
        dev: TreebankSource | None = None,
        *,
        stages: StageOptions | None = None,
        on_stage: StageProgress | None = None,
        **keywords: Any,
    ) -> Pipeline:
        """Trains the stages, and then the parser on tags and lemmas as they will predict them.

        The other keywords are those of `Parser.fit`. `on_stage` is called with the name of what is
        trained (segmenter, tagger, lemmatiser, folds) and the share of it that is done. A parser to
        continue from (`start`) keeps its own stages, and its tagger and lemmatiser annotate the new
        sentences unless `folds` is 0.
        """
        self._training = _Training(StageOptions() if stages is None else stages, on_stage)
        super().fit(train, dev, **keywords)
        self._model = self.model.with_card(stages=self._training.card)
        return self._take(self._training.stages)

    def _before_fit(
        self, fit: Fit, train: Block, dev: Block | None
    ) -> tuple[Fit, Block, Block | None]:
        """Trains the stages, or takes those of the model to continue from."""
        if fit.start is not None:
            return fit, *self._annotated(fit.start, train, dev)
        from arbora.fitting.checkpoint import path_beside
        from arbora.pipeline.stage_checkpoint import StageCheckpoint
        from arbora.pipeline.training import train_stages

        own, place, clusters = self._training, fit.checkpoint_beside, fit.word_clusters
        saved = None
        if place is not None:
            saved = StageCheckpoint.beside(place, train, dev, own.options, clusters)
        if fit.resume and place is not None and saved is not None:
            made = saved.read()
            fit = replace(fit, resume=path_beside(place).exists())
        else:
            made = train_stages(
                train, dev, own.options, threads=self.threads, word_clusters=clusters,
                progress=own.on_stage,
            )  # fmt: skip
            if saved is not None:
                saved.write(made)
        own.stages, own.card = made.stored(), made.card()
        return fit, made.train, made.dev

    def _annotated(
        self, start: Model, train: Block, dev: Block | None
    ) -> tuple[Block, Block | None]:
        """The treebank as the stages of the model to continue from annotate it."""
        own = self._training
        earlier = start.card.get("stages") or {}
        before = Pipeline.from_model(start, self.threads)
        retag = ParseOptions(retag=True, allow_missing=True)
        predicts = own.options.folds > 0 and before.tagger is not None
        own.stages = start.stages
        own.card = {"trained": {name: {} for name in start.stages}, "skipped": {}} | earlier
        own.card |= {"folds": earlier.get("folds", 0) if predicts else 0}
        own.card |= {"measured_on": earlier.get("measured_on")}
        if not predicts:
            return train, dev
        return before.prepare(train, retag), None if dev is None else before.prepare(dev, retag)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, which is replaced only when it is complete.

        Afterwards the training checkpoints beside it are removed.
        """
        super().save(path)
        beside = self._checkpoint_beside
        if beside is not None and os.path.realpath(beside) == os.path.realpath(path):
            from arbora.pipeline.stage_checkpoint import StageCheckpoint

            StageCheckpoint.remove_beside(beside)

    def _take(self, stages: dict[str, StoredStage]) -> Pipeline:
        """This pipeline with other stages."""
        self._model = replace(self.model, stages=stages)
        for name, stored in stages.items():
            if name in STAGES:
                setattr(self, name, STAGES[name].from_store(stored.settings, stored.tensors))
        return self

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
        seen = self.unfamiliar()
        seen.add(found.block)
        seen.warn()
        parsed = tuple(self.parse_block(found.block, how))
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
            block = self.lemmatiser(block, relemmatise=options.retag)
        if not options.allow_missing:
            check_columns(block, self.model.encoder.settings, "this model cannot fill them in")
        return block

    def draw_tags(self, block: Block, options: ParseOptions) -> TagDraws:
        """Drawings of the tags that the input lacks, with the lemmas that follow from them."""
        if self.tagger is None:
            return super().draw_tags(block, options)
        drawn = self.tagger.samples(
            block, options.tag_samples, options.seed, retag=options.retag, threads=self.threads
        )
        finished = drawn
        if self.lemmatiser is not None and self.model.encoder.settings.lemma:
            finished = [self.lemmatiser(one, relemmatise=options.retag) for one in drawn]
        return TagDraws.found(block, drawn, finished)

    def chunks(
        self,
        path: ReadPath,
        options: ParseOptions,
        *,
        format: str | None = None,  # noqa: A002  # the public name
        skip_bad: bool = False,
        on_error: Callable[[DataError], object] | None = None,
    ) -> Iterator[Chunk]:
        """A file in blocks. Raw text is segmented, if it is recognised or the format is `text`."""
        if format is None and self.segmenter is not None and looks_like_text(path):
            format = TEXT  # noqa: A001  # the public name
        if format != TEXT:
            yield from super().chunks(
                path, options, format=format, skip_bad=skip_bad, on_error=on_error
            )
            return
        done = 0
        for block in self._segmenter().blocks(path):
            check_lengths(block, options.max_words)
            done += block.size
            yield Chunk(block, (), done, None)

    def _advice_on_text(self) -> str:
        if self.segmenter is None:
            return super()._advice_on_text()
        return "call the pipeline itself, as in nlp(text), to parse a text"

    def _segmenter(self) -> Segmenter:
        if self.segmenter is None:
            raise ArgumentError(
                "this model takes no text, because it has no segmenter: give it CoNLL-U, or train "
                "one with arbora.Pipeline."
            )
        return self.segmenter

    def __reduce__(self) -> tuple[Any, ...]:
        if self._model is None:
            return super().__reduce__()
        return _from_bytes, (to_bytes(self._model), self.threads)


def load(model: str | os.PathLike[str] | None = None, threads: int | None = None) -> Pipeline:
    """A pipeline from a model file, or from an installed model by its name (default: `en`)."""
    if model is not None and not isinstance(model, str | os.PathLike):
        raise ArgumentError(f"a model is loaded from a path, not from {type(model).__name__}.")
    path = find_model(model)
    check_path(path)
    return Pipeline.from_model(read_model(path), threads)


def _from_bytes(data: bytes, threads: int) -> Pipeline:
    return Pipeline.from_model(from_bytes(data), threads)


def _places(found: Segmented) -> tuple[NDArray[np.int64], ...]:
    """For each sentence, the start and end of its words in the text."""
    tokens = np.repeat(np.arange(len(found.starts)), found.n_words)
    both = np.stack([found.starts[tokens], found.ends[tokens]], axis=1)
    return tuple(np.split(both, np.cumsum(found.block.n_words)[:-1]))
