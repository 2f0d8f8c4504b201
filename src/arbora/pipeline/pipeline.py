"""`Pipeline`: a parser with the stages that run before it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arbora.arrays import as_count
from arbora.data import Block, Chunk, Sentence
from arbora.data.blocks import is_parquet_file
from arbora.data.source import ReadPath, Source, check_path, open_source
from arbora.data.treebank import TreebankSource, read_treebank
from arbora.errors import ArboraError, ArgumentError, DataError
from arbora.models.columns import COLUMNS, check_columns, is_empty
from arbora.models.ensemble import ensemble_of
from arbora.models.lengths import check_lengths
from arbora.models.model import Model, StoredStage
from arbora.models.model_file import from_bytes, read_model, to_bytes
from arbora.models.tag_draws import TagDraws
from arbora.options import ParseOptions, StageOptions
from arbora.options.build import build
from arbora.parsers import Parser
from arbora.parsers.parser import chunk_size
from arbora.pipeline.batches import SegmentedText, joined, separate
from arbora.pipeline.document import Document, TagProbabilities
from arbora.pipeline.installed import find_model
from arbora.pipeline.texts import PEEKED, is_clean, looks_like_text
from arbora.segmentation import Segmenter
from arbora.tagging import Lemmatiser, Tagger

if TYPE_CHECKING:
    from arbora.fitting.fit import Fit
    from arbora.pipeline.training import StageProgress

__all__ = ["STAGES", "TEXT", "Pipeline", "load"]

# The stages that a model file may have, in the order in which they run.
STAGES: dict[str, Any] = {"segmenter": Segmenter, "tagger": Tagger, "lemmatiser": Lemmatiser}

TEXT = "text"  # the name of the format

_AT_ONCE = 1 << 16  # characters of texts that are parsed at once
_NO_TEXT = (
    "{} model takes no text, because it has no segmenter: give it CoNLL-U, with tabs between the "
    "columns, or train one on CoNLL-U with arbora train or arbora.Pipeline."
)


@dataclass
class _Training:
    """What `fit` trains besides the parser, and the entry of the card about it."""

    options: StageOptions
    on_stage: StageProgress | None
    stages: dict[str, StoredStage] = field(default_factory=dict)
    card: dict[str, Any] = field(default_factory=dict)
    trained_on: dict[str, int] = field(default_factory=dict)
    dev: Block | None = None


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
        return self

    def _after_fit(self) -> None:
        """Adds the stages, and fits the temperature of averages over tags."""
        self._model = self.model.with_card(
            stages=self._training.card, trained_on=self._training.trained_on
        )
        self._take(self._training.stages)
        if self._training.dev is not None and self.tagger is not None:
            from arbora.pipeline.averaging import fit_averaging

            averaging = fit_averaging(self, self._training.dev)
            self._model = self.model.with_card(averaging=averaging)

    def _before_fit(
        self, fit: Fit, train: Block, dev: Block | None
    ) -> tuple[Fit, Block, Block | None]:
        """Trains the stages, or takes those of the model to continue from."""
        self._training.trained_on = {"sentences": len(train), "words": train.total_words}
        self._training.dev = dev
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
        from arbora.pipeline.training import mixed

        own = self._training
        earlier = start.card.get("stages") or {}
        before = Pipeline.from_model(start, self.threads)
        retag = ParseOptions(retag=True, allow_missing=True)
        predicts = own.options.folds > 0 and before.tagger is not None
        own.stages = start.stages
        own.card = {
            "trained": {name: {} for name in start.stages}, "skipped": {}, "measured_on": None,
            "folds": 0, "mixed": False, **earlier,
        }  # fmt: skip
        if not predicts:
            own.card |= {"folds": 0, "mixed": False}
            return train, dev
        found = before.prepare(train, retag)
        if own.options.mix and not is_empty(train, COLUMNS["upos"]):
            found = mixed(train, found)
        return found, None if dev is None else before.prepare(dev, retag)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, which is replaced only when it is complete.

        Afterwards the training checkpoints beside it are removed.
        """
        super().save(path)
        beside = self._checkpoint_beside
        if beside is not None and os.path.realpath(beside) == os.path.realpath(path):
            from arbora.fitting.sealed_file import remove_sealed
            from arbora.pipeline.stage_checkpoint import stage_checkpoint_path

            remove_sealed(stage_checkpoint_path(beside))

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
        how = _one_tree(options)
        (document,) = self._documents([self._segmented(text)], how)
        return document

    def pipe(
        self, texts: Iterable[str], *, batch_size: int = 256, **options: Any
    ) -> Iterator[Document]:
        """Parses texts, with the options of `parse`; the documents are those of `read`, in order.

        Up to `batch_size` texts are parsed at once, which is much faster if they are short, and
        fewer of long ones, so that the memory is bounded.
        """
        if isinstance(texts, str):
            raise ArgumentError("pipe() takes several texts: call the pipeline with a single one.")
        most, how = as_count(batch_size, "batch_size"), _one_tree(options)
        if how.tag_samples:  # draws depend on the number of the sentence in its text
            most = 1
        waiting: list[SegmentedText] = []
        for text in texts:
            try:
                waiting.append(self._segmented(text))
            except ArboraError:  # after the texts before it
                yield from self._documents(waiting, how)
                raise
            if len(waiting) == most or sum(len(one.text) for one in waiting) >= _AT_ONCE:
                yield from self._documents(waiting, how)
                waiting = []
        yield from self._documents(waiting, how)

    def _segmented(self, text: str) -> SegmentedText:
        return SegmentedText(text, self._segmenter().segment(text))

    def _documents(self, texts: list[SegmentedText], how: ParseOptions) -> Iterator[Document]:
        for one in texts:
            if one.n_sentences:
                seen = self.unfamiliar()
                seen.add(one.found.block)
                seen.warn()
        empty = not any(one.n_sentences for one in texts)
        return separate(texts, None if empty else self.parse_block(joined(texts), how))

    def tag_probabilities(self, sentences: Iterable[Sentence]) -> list[TagProbabilities]:
        """For each sentence, or each of a document, the probabilities of UPOS tags of its words.

        They are those of the tagger given the words, whatever tags the sentence has.
        """
        if self.tagger is None:
            raise ArgumentError(
                "tag_probabilities requires a model with a tagger: train one with arbora.Pipeline."
            )
        block = read_treebank(list(sentences))
        found = self.tagger.tag(block, retag=True, posterior=True, threads=self.threads)
        assert found.posterior is not None
        parts = np.split(found.posterior, np.cumsum(block.n_words)[:-1])
        return [TagProbabilities(self.tagger.upos, part) for part in parts]

    def prepare(self, block: Block, options: ParseOptions) -> Block:
        """The block with the tags and lemmas that it lacks, from the model's own stages."""
        if self.tagger is None:
            return super().prepare(block, options)
        block = self.tagger(block, retag=options.retag, threads=self.threads)
        filled = [*self.tagger.columns]
        if self.lemmatiser is not None:
            block = self.lemmatiser(block, relemmatise=options.retag)
            filled.append("lemma")
        if not options.allow_missing:
            settings = self.model.encoder.settings
            check_columns(block, settings, "this model cannot fill them in", filled)
        return block

    def draw_tags(self, block: Block, options: ParseOptions) -> TagDraws:
        """Drawings of the tags that the input lacks, with the lemmas that follow from them.

        The first are the best tags: on dev, this is better than another drawing.
        """
        if self.tagger is None:
            return super().draw_tags(block, options)
        how: dict[str, Any] = {"retag": options.retag, "threads": self.threads}
        drawn, more = [self.tagger(block, **how)], options.tag_samples - 1
        if more:
            drawn += self.tagger.samples(block, more, options.seed, **how)
        finished = drawn
        if self.lemmatiser is not None and self.model.encoder.settings.lemma:
            finished = [self.lemmatiser(one, relemmatise=options.retag) for one in drawn]
        return TagDraws.found(block, drawn, finished)

    def chunks(
        self,
        path: ReadPath | Source,
        options: ParseOptions,
        *,
        format: str | None = None,  # noqa: A002  # the public name
        skip_bad: bool = False,
        on_error: Callable[[DataError], object] | None = None,
        sentences_before: int = 0,
    ) -> Iterator[Chunk]:
        """A file in blocks. Raw text is segmented, if it is recognised or the format is `text`.

        Its sentences are numbered from `sentences_before` + 1.
        """
        if is_parquet_file(path):
            yield from super().chunks(path, options, format=format)
            return
        with open_source(path) as source:
            if format is None and looks_like_text(beginning := source.peek(PEEKED)):
                if self.segmenter is not None:
                    format = TEXT  # noqa: A001
                elif is_clean(beginning) and not skip_bad:
                    raise ArgumentError(_NO_TEXT.format(f"{source.name} looks like text, but this"))
            if format != TEXT:
                yield from super().chunks(
                    source, options, format=format, skip_bad=skip_bad, on_error=on_error
                )
                return
            for whole in self._segmenter().blocks(source, sentences_before=sentences_before):
                check_lengths(whole, options.max_words)
                for block in _pieces(whole, chunk_size(options)):
                    yield Chunk(block, (), source.position, source.total)

    def _advice_on_text(self) -> str:
        if self.segmenter is None:
            return super()._advice_on_text()
        return "call the pipeline itself, as in nlp(text), to parse a text"

    def _segmenter(self) -> Segmenter:
        if self.segmenter is None:
            raise ArgumentError(_NO_TEXT.format("this"))
        return self.segmenter

    def __reduce__(self) -> tuple[Any, ...]:
        if self._model is None:
            return super().__reduce__()
        return _from_bytes, (to_bytes(self._model), self.threads)


def load(
    model: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    threads: int | None = None,
) -> Pipeline:
    """A pipeline from a model file, or from an installed model by its name (default: `en`).

    Several models of the same treebank and order make an ensemble, whose scores are their mean. It
    has the stages of the first.
    """
    if isinstance(model, list | tuple) and model:
        return Pipeline.from_model(ensemble_of([load(one).model for one in model]), threads)
    if model is not None and not isinstance(model, str | os.PathLike):
        raise ArgumentError(f"a model is loaded from a path, not from {type(model).__name__}.")
    path = find_model(model)
    check_path(path)
    return Pipeline.from_model(read_model(path), threads)


def _one_tree(options: dict[str, Any]) -> ParseOptions:
    how = build(ParseOptions, {"probabilities": True} | options)
    if how.kbest is not None or how.samples is not None:
        raise ArgumentError("a document has one tree per sentence: use parse() for several.")
    return how


def _from_bytes(data: bytes, threads: int) -> Pipeline:
    return Pipeline.from_model(from_bytes(data), threads)


def _pieces(block: Block, size: int) -> Iterator[Block]:
    """A block in several, each of about `size` bytes."""
    start, room = 0, size
    for i in range(len(block)):
        room -= len(block.text(i))
        if room <= 0 or i + 1 == len(block):
            text = block.texts(start, i + 1)
            yield Block(text, block.layout, first_sentence=block.first_sentence + start)
            start, room = i + 1, size
