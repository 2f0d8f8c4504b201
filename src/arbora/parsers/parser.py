"""`Parser`, a thin interface to models and fitting."""

from __future__ import annotations

import os
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

from arbora.data import Block, Chunk, Sentence, Stage, read_blocks
from arbora.data.blocks import CHUNK_SIZE
from arbora.data.conllu import sentences_of
from arbora.data.source import ReadPath, Source, check_path
from arbora.data.treebank import TreebankSource, is_file, read_treebank
from arbora.errors import ArgumentError, DataError, ModelError, unreadable
from arbora.features import EdgeClusters, SourceClusters, WordClusters, read_clusters
from arbora.features.word_vectors import WordVectors, read_vectors
from arbora.inference.packed import available_threads
from arbora.models.columns import check_columns
from arbora.models.constraints import Arcs, Constraints
from arbora.models.decoding import Decoder
from arbora.models.hidden_clusters import HiddenClusters
from arbora.models.lengths import check_lengths
from arbora.models.model import Model
from arbora.models.model_file import from_bytes, read_model, to_bytes, write_model
from arbora.models.output import ParsedBlock, ParsedSentence, parse_block
from arbora.models.tag_draws import TagDraws
from arbora.models.vocabulary import Unfamiliar, Vocabulary
from arbora.options import (
    Component,
    FirstOrderOptions,
    LinearOptions,
    ParseOptions,
    ParserOptions,
    current_names,
)
from arbora.options.build import build
from arbora.options.keywords import ParserKeywords
from arbora.parsers.calibrating import Calibrating
from arbora.parsers.questions import Questions
from arbora.parsers.training_data import (
    file_name,
    licences,
    read_annotated,
    set_aside,
    without_times,
)
from arbora.scoring import Scorer

if TYPE_CHECKING:  # loading and parsing do not need these modules
    from arbora.evaluation import AttachmentScores
    from arbora.fitting.fit import Fit
    from arbora.fitting.loop import History, Observer

__all__ = ["Parser", "chunk_size"]

ScorerName = Literal["linear", "neural", "linear+neural"]

_SMALLEST_CHUNK = 1 << 14  # minimum number of bytes read at a time


def chunk_size(options: ParseOptions) -> int:
    """The bytes of a file that are parsed at once, so that all their trees fit in memory."""
    return max(
        CHUNK_SIZE // (options.kbest or options.samples or options.tag_samples or 1),
        _SMALLEST_CHUNK,
    )


class Parser(Questions, Calibrating):
    """A dependency parser.

    `Parser(learner="loglinear", trees="nonprojective", ...)` stores its options; `fit` trains the
    model. Defaults depend on the other options, and options without effect raise an error.
    `scorer` is "linear", "neural" or "linear+neural", or a scorer of your own. `threads=None` uses
    all cores; results do not depend on the number of threads.
    """

    def __init__(
        self,
        *,
        scorer: Scorer | Component | ScorerName | None = None,
        threads: int | None = None,
        **options: Unpack[ParserKeywords],
    ) -> None:
        given: dict[str, Any] = dict(options)
        if isinstance(scorer, str | Component):
            given, scorer = given | {"scorer": scorer}, None
        if scorer is not None and not isinstance(scorer, Scorer):
            raise ArgumentError(
                "scorer must be linear, neural, linear+neural or an object with the methods of "
                f"arbora.scoring.Scorer, not {scorer!r}."
            )
        self._given, deprecated = current_names(given)
        for warning in deprecated:
            warnings.warn(warning, DeprecationWarning, stacklevel=2)
        self.options = ParserOptions.from_keywords(self._given)
        self.threads = available_threads() if threads is None else threads
        if not isinstance(self.threads, int) or self.threads < 1:
            raise ArgumentError(f"threads must be a positive whole number, not {threads!r}.")
        self.scorer: Scorer | None = scorer
        self.history: History | None = None
        self._model: Model | None = None
        self._checkpoint_beside: str | os.PathLike[str] | None = None

    @classmethod
    def from_model(cls, model: Model, threads: int | None = None) -> Parser:
        """A parser with a trained model."""
        parser = cls(threads=threads)
        parser.options, parser._model = model.options, model
        return parser

    def __repr__(self) -> str:
        default = ParserOptions.from_keywords({}).keywords()
        changed = [
            f"{name}={value!r}"
            for name, value in self.options.keywords().items()
            if value != default.get(name, value)
        ]
        state = "untrained" if self._model is None else f"{len(self._model.labels)} labels"
        return f"<Parser({', '.join(changed)}): {state}>"

    @property
    def model(self) -> Model:
        """The trained model."""
        if self._model is None:
            raise ModelError("this parser is not trained: call fit(), or load a model.")
        return self._model

    def fit(
        self,
        train: TreebankSource,
        dev: TreebankSource | None = None,
        *,
        start: Parser | None = None,
        word_clusters: str | os.PathLike[str] | WordClusters | None = None,
        vectors: str | os.PathLike[str] | WordVectors | None = None,
        encoder: str | os.PathLike[str] | None = None,
        edge_clusters: str | os.PathLike[str] | Parser | EdgeClusters | None = None,
        licence: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        observer: Observer | None = None,
        format: str | None = None,  # noqa: A002  # the public name
        skip_bad: bool = False,
        on_error: Callable[[DataError], object] | None = None,
        sources: bool = True,
        calibration_share: float = 0.0,
    ) -> Parser:
        """Trains on annotated sentences: a path, an open file, a list of these, or of sentences.

        The best pass is chosen on `dev`. Without `dev`, the last tenth of `train` is held out to
        find the best number of passes; then (`refit`) the parser is retrained on all sentences.
        `start` is a trained parser to continue from; its options apply unless others are given.
        `vectors` are word vectors for a neural scorer: `WordVectors`, or a file of GloVe, word2vec
        or fastText. `encoder` is a pretrained encoder for a neural scorer: a folder of Hugging
        Face's transformers. `edge_clusters` are clusters of edges whose shares become features:
        `EdgeClusters`, or a parser with hidden clusters or its file, for the posteriors of these.
        `licence` is the licence of the data, for the model card. With `checkpoint`, the path of the
        future model file, each pass is saved beside it, and `resume` continues from there. If the
        sentences are from several files, or have comments `# arbora.source = NAME`, the source of a
        sentence is a feature of first-order models, unless `sources` is False. With
        `calibration_share`, that share of dev is used for nothing but `calibrate`, at the end.
        """
        from arbora.fitting.experts import fit_parser
        from arbora.fitting.fit import Fit, check_fit
        from arbora.neural.encoder_folder import read_encoder

        if resume and checkpoint is None:
            raise ArgumentError("resume requires checkpoint, the path of the model file.")
        if start is not None:
            own = {"word_clusters": word_clusters, "vectors": vectors, "encoder": encoder}
            self._check_start(**own, edge_clusters=edge_clusters)
            self.options = start.model.options.continued(self._given)
        reading: dict[str, Any] = {"format": format, "skip_bad": skip_bad, "on_error": on_error}
        train_block = read_annotated(train, "training", **reading)
        dev_block = None if dev is None else read_annotated(dev, "dev", **reading)
        dev_block, aside = set_aside(dev_block, calibration_share)
        if isinstance(word_clusters, str | os.PathLike):
            word_clusters = read_clusters(word_clusters)
        if isinstance(vectors, str | os.PathLike):
            vectors = read_vectors(vectors)
        clusters = self._edge_clusters(edge_clusters)
        if clusters is None and sources and start is None and self._can_have_sources():
            clusters = SourceClusters.of(train_block)
        fit = Fit(
            self.options, self.threads, self.scorer, None if start is None else start.model,
            word_clusters, observer, checkpoint, resume, clusters, vectors=vectors,
            pretrained=None if encoder is None else read_encoder(encoder),
        )  # fmt: skip
        check_fit(fit)
        fit, train_block, dev_block = self._before_fit(fit, train_block, dev_block)
        model, self.history = fit_parser(fit, train_block, dev_block)
        self._checkpoint_beside = checkpoint
        files = {"train": file_name(train), "dev": file_name(dev)}
        seen = Vocabulary.of_block(train_block, model.encoder.settings)
        if start is not None:
            seen = seen.joined(start.model.vocabulary)
        self._model = model.with_card(
            files=files, history=without_times(self.history), vocabulary=seen.to_card(),
            licence=licences(None if start is None else start.model, licence),
        )  # fmt: skip
        self._after_fit()
        return self if aside is None else self.calibrate(aside)

    def _check_start(self, **given: object) -> None:
        """Raises for what a parser to continue from has already."""
        for name, value in {**given, "scorer": self.scorer}.items():
            if value is not None:
                raise ArgumentError(f"{name} cannot be combined with start, which has its own.")

    def _can_have_sources(self) -> bool:
        """Whether the source of a sentence can be a feature; see `check_edge_clusters`."""
        order = self.options.order
        first = isinstance(order, FirstOrderOptions) and not order.clusters
        linear = self.scorer is None and isinstance(self.options.scorer, LinearOptions)
        return first and self.options.labels != "joint" and linear

    def _before_fit(
        self, fit: Fit, train: Block, dev: Block | None
    ) -> tuple[Fit, Block, Block | None]:
        """What the parser is trained on; a pipeline trains its stages here."""
        return fit, train, dev

    def _after_fit(self) -> None:
        """Called with the trained model; a pipeline adds its stages here."""

    def _edge_clusters(
        self, given: str | os.PathLike[str] | Parser | EdgeClusters | None
    ) -> EdgeClusters | None:
        if given is not None and self.scorer is not None:
            raise ArgumentError("edge_clusters cannot be combined with scorer.")
        if isinstance(given, str | os.PathLike):
            given = Parser.from_model(read_model(given), self.threads)
        if isinstance(given, Parser):
            return HiddenClusters(given.model.on_threads(self.threads))
        return given

    def parse(
        self,
        source: ReadPath | Iterable[Sentence],
        /,
        *,
        required: Arcs | None = None,
        forbidden: Arcs | None = None,
        **options: Any,
    ) -> Iterator[ParsedSentence] | list[ParsedSentence]:
        """Parses a file (returns an iterator) or sentences (returns a list).

        The options are those of `ParseOptions`: decode, trees, kbest, samples, tag_samples, seed,
        keep_heads, source, max_words. Existing heads and labels are ignored unless `keep_heads` is
        given. For a list of sentences, `required` has arcs (head, word) or (head, word, label) that
        the trees must have, and `forbidden` arcs (head, word) that they must not have: a list of
        arcs for each sentence, a mapping from the sentence's place to such a list, or, for one
        sentence, the arcs alone. The probabilities are then those given these arcs. With
        `tag_samples`, they are given these arcs for each drawing of the tags, and then averaged.
        """
        how = build(ParseOptions, {"probabilities": True} | options)
        known = required is not None or forbidden is not None
        if known and (how.keep_heads or is_file(source)):
            raise ArgumentError(
                "required and forbidden need a list of sentences, and cannot be combined with "
                "keep_heads."
            )
        if isinstance(source, Sentence):
            raise ArgumentError("parse() takes a list of sentences: put the sentence into a list.")
        if is_file(source):
            self._check_named(source)
            return self._parse_file(cast("ReadPath", source), how)
        block = read_treebank(source)
        check_lengths(block, how.max_words)
        if not len(block):
            return []
        constraints = None
        if known:
            labels = self.model.labels
            constraints = Constraints.from_arcs(block.n_words, labels, required, forbidden)
        seen = self.unfamiliar()
        seen.add(block)
        seen.warn()
        return list(self.parse_block(block, how, constraints))

    def _check_named(self, source: object) -> None:
        """Raises an error at once for a name without a file; with spaces it is probably a text."""
        if not isinstance(source, str) or source == "-":
            return
        check_path(source)
        if os.path.exists(source):  # noqa: PTH110  # a text may be too long for a path
            return
        if source.split() == [source]:
            raise unreadable(source, FileNotFoundError("no such file or directory"))
        beginning = textwrap.shorten(source, 40, placeholder=" ...")
        raise ArgumentError(f"{beginning!r} is not a file; {self._advice_on_text()}.")

    def _advice_on_text(self) -> str:
        return "this model takes no text: give it files, or sentences in a list"

    def _parse_file(self, path: ReadPath, how: ParseOptions) -> Iterator[ParsedSentence]:
        decoder, seen = self.decoder(how), self.unfamiliar()
        for chunk in self.chunks(path, how):
            seen.add(chunk.block)
            if len(chunk.block):
                yield from self.parse_block(chunk.block, how, decoder=decoder)
        seen.warn()

    def unfamiliar(self) -> Unfamiliar:
        """A counter of what of some input was not in the training data."""
        return Unfamiliar(self.model.vocabulary)

    def __call__(self, block: Block, /) -> Block:
        """The parser as a `Stage`: the block with HEAD and DEPREL replaced."""
        return self.stage(ParseOptions())(block)

    def stage(self, options: ParseOptions) -> Stage:
        """The parser as a `Stage` with options; refuses those that it cannot honour."""
        decoder = self.decoder(options)

        def stage(block: Block, /) -> Block:
            if not len(block):
                return block
            parsed = self.parse_block(block, options, decoder=decoder)
            return parsed.to_block(options.probabilities, options.certificates)

        return stage

    def parse_block(
        self,
        block: Block,
        options: ParseOptions,
        constraints: Constraints | None = None,
        decoder: Decoder | None = None,
    ) -> ParsedBlock:
        """Parses every sentence of a block, after the stages before the parser."""
        decoder = self.decoder(options) if decoder is None else decoder
        prepared = self.prepare(block, options)
        draws = self.draw_tags(block, options) if options.tag_samples else None
        return parse_block(decoder, prepared, options, constraints, draws)

    def draw_tags(self, block: Block, options: ParseOptions) -> TagDraws:  # noqa: ARG002
        """Drawings of the block's tags; a parser without a tagger has none."""
        raise ArgumentError(
            "tag_samples requires a model with a tagger: train one with arbora.Pipeline."
        )

    def prepare(self, block: Block, options: ParseOptions) -> Block:
        """The block itself, if it has the columns that the model uses; else raises an error."""
        if options.retag:
            raise ArgumentError(
                "retag requires a model with a tagger: train one with arbora train or "
                "arbora.Pipeline."
            )
        if not options.allow_missing:
            check_columns(block, self.model.encoder.settings, "tag them first")
        return block

    def chunks(
        self,
        path: ReadPath | Source,
        options: ParseOptions,
        *,
        format: str | None = None,  # noqa: A002  # the public name
        skip_bad: bool = False,
        on_error: Callable[[DataError], object] | None = None,
        sentences_before: int = 0,  # noqa: ARG002  # for raw text, which `Pipeline` takes
    ) -> Iterator[Chunk]:
        """A file in blocks that can be parsed in bounded memory, whatever the options are."""
        return read_blocks(
            path, format, skip_bad, on_error, chunk_size=chunk_size(options),
            max_words=options.max_words,
        )  # fmt: skip

    def decoder(self, options: ParseOptions | None = None) -> Decoder:
        """The model ready to parse; unsupported options raise an error."""
        how = options or ParseOptions()
        model = self.model if how.source is None else self.model.with_source(how.source)
        return Decoder.for_options(model, self.threads, how)

    def fit_weights(self, dev: TreebankSource) -> float:
        """Fits the temperature of `sample_weighted` on annotated sentences; it is saved with the
        model."""
        temperature = self.weights_temperature(read_annotated(dev, "dev"))
        self._model = self.model.with_card(weighting={"temperature": temperature})
        return temperature

    def evaluate(self, gold: TreebankSource, **options: Any) -> AttachmentScores:
        """Parses annotated sentences and scores the result."""
        from arbora.evaluation import evaluate

        how = build(ParseOptions, options)
        block = read_treebank(gold)
        parsed: Iterable[Sentence] = ()
        if len(block):
            parsed = self.parse_block(block, how)
        return evaluate(list(sentences_of(block)), list(parsed))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, which is replaced only when it is complete.

        Afterwards the training checkpoint beside it is removed.
        """
        write_model(self.model, path)
        beside = self._checkpoint_beside
        if beside is not None and os.path.realpath(beside) == os.path.realpath(path):
            from arbora.fitting.checkpoint import remove_beside

            remove_beside(beside)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._model is None:
            return _unfitted, (self._given, self.threads, self.scorer)
        return _from_bytes, (to_bytes(self._model), self.threads)


def _unfitted(options: dict[str, Any], threads: int, scorer: Scorer | None) -> Parser:
    return Parser(scorer=scorer, threads=threads, **options)


def _from_bytes(data: bytes, threads: int) -> Parser:
    return Parser.from_model(from_bytes(data), threads)
