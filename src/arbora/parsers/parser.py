"""The parser: learns from a treebank, parses sentences, is saved to a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np

from arbora.data import Block, Format, Sentence, read_blocks, read_conllu
from arbora.data.blocks import CHUNK_SIZE
from arbora.data.source import ReadPath
from arbora.data.whole import TreebankSource, is_file, read_whole
from arbora.errors import ArgumentError, DataError, ModelError
from arbora.evaluation import Scores, evaluate
from arbora.features import Encoded, WordClusters, read_clusters
from arbora.inference import LoopyTrees, ProjectiveTrees, SecondOrderTrees, SpanningTrees
from arbora.inference.packed import available_threads
from arbora.parsers.checkpoint import Checkpoint
from arbora.parsers.decoding import BlockDecoder
from arbora.parsers.explaining import Explanation, check_word, explain_arc
from arbora.parsers.explaining_parts import explain_in_tree
from arbora.parsers.fitting import Fit, fit_model
from arbora.parsers.model import Model
from arbora.parsers.model_file import from_bytes, read_model, to_bytes, write_model
from arbora.parsers.output import ParsedBlock, ParsedSentence, ParseOptions, parse_block
from arbora.parsers.settings import ParserSettings
from arbora.scores import Parts
from arbora.training.loop import History, Observer

__all__ = ["Parser", "load"]

_SMALLEST_CHUNK = 1 << 14  # bytes read at a time where sentences have many trees


class Parser:
    """A dependency parser.

    `Parser(learner="loglinear", trees="nonprojective", ...)` takes the options of `ParserSettings`
    and stores them; `fit` learns. `threads=None` uses all cores; results do not depend on it.
    """

    def __init__(self, *, threads: int | None = None, **options: Any) -> None:
        known = ParserSettings.__dataclass_fields__
        for name in options:
            if name not in known:
                raise ArgumentError(
                    f"a parser has no option {name!r}; the options are {', '.join(known)}."
                )
        self.settings = ParserSettings(**options)
        self.threads = available_threads() if threads is None else threads
        if not isinstance(self.threads, int) or self.threads < 1:
            raise ArgumentError(f"threads is a number of threads, not {threads!r}.")
        self.history: History | None = None
        self._model: Model | None = None

    @classmethod
    def from_model(cls, model: Model, threads: int | None = None) -> Parser:
        parser = cls(threads=threads)
        parser.settings, parser._model = model.settings, model
        return parser

    def __repr__(self) -> str:
        changed = [
            f"{name}={value!r}"
            for name, value in self.settings.to_dict().items()
            if value != getattr(ParserSettings(), name)
        ]
        state = "untrained" if self._model is None else f"{len(self._model.labels)} labels"
        return f"<Parser({', '.join(changed)}): {state}>"

    @property
    def model(self) -> Model:
        """What was learnt."""
        if self._model is None:
            raise ModelError("this parser has not learnt yet: call fit, or load a model.")
        return self._model

    def fit(
        self,
        train: TreebankSource,
        dev: TreebankSource | None = None,
        *,
        start: Parser | None = None,
        word_clusters: str | os.PathLike[str] | WordClusters | None = None,
        licence: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        observer: Observer | None = None,
        format: Format | None = None,  # noqa: A002  # the public name
        skip_bad: bool = False,
        on_error: Callable[[DataError], object] | None = None,
    ) -> Parser:
        """Learns from annotated sentences: a path, an open file or a list.

        The best pass is chosen on `dev`, or without it on the last tenth of `train`, after which
        (`refit`) everything is learnt for as many passes. `start` is a parser to go on from.
        `licence` is that of the data, for the model's card. With `checkpoint` (the path that the
        model will have) each pass is saved beside it, and `resume` goes on from there.
        """

        def block_of(source: TreebankSource, what: str) -> Block:
            block = read_whole(source, format, skip_bad=skip_bad, on_error=on_error, trees=True)
            if not (np.asarray(block.heads) >= 0).any():
                name = source if isinstance(source, str | os.PathLike) else f"the {what} data"
                raise DataError(f"no word has a head, so it is no use as {what} data", str(name), 1)
            return block

        if resume and checkpoint is None:
            raise ArgumentError("resume goes on from a checkpoint: say beside which file it is.")
        if start is not None and word_clusters is not None:
            raise ArgumentError("the parser to start from keeps its own word clusters.")
        train_block = block_of(train, "training")
        dev_block = None if dev is None else block_of(dev, "dev")
        if isinstance(word_clusters, str | os.PathLike):
            word_clusters = read_clusters(word_clusters)
        fit = Fit(
            self.settings, self.threads, None if start is None else start.model, word_clusters,
            observer, checkpoint, resume,
        )  # fmt: skip
        model, self.history = fit_model(fit, train_block, dev_block)
        files = {"train": _file_name(train), "dev": _file_name(dev)}
        self._model = model.with_card(
            files=files, history=_without_times(self.history), licence=_licences(start, licence)
        )
        return self

    def parse(
        self, source: ReadPath | Iterable[Sentence], **options: Any
    ) -> Iterator[ParsedSentence] | list[ParsedSentence]:
        """Parses a file (giving an iterator) or sentences (giving a list).

        Options as in `ParseOptions`: decode, trees, kbest, samples, seed. Heads and labels that
        the sentences already have make no difference.
        """
        how = ParseOptions.checked(**({"probabilities": True} | options))
        if isinstance(source, Sentence):
            raise ArgumentError("parse takes several sentences; put the one into a list.")
        if is_file(source):
            return self._parse_file(cast("ReadPath", source), how)
        block = read_whole(source)
        return list(parse_block(self.decoder(how), block, how)) if len(block) else []

    def _parse_file(self, path: ReadPath, how: ParseOptions) -> Iterator[ParsedSentence]:
        for parsed in self.parse_blocks(path, how):
            yield from parsed[0]

    def parse_blocks(
        self,
        path: ReadPath,
        options: ParseOptions,
        *,
        format: Format | None = None,  # noqa: A002  # the public name
        skip_bad: bool = False,
        on_error: Callable[[DataError], object] | None = None,
    ) -> Iterator[tuple[ParsedBlock, int]]:
        """A file parsed in bounded memory: blocks, each with the bytes read so far."""
        decoder, first = self.decoder(options), 0
        trees = options.kbest or options.samples or 1
        size = max(CHUNK_SIZE // trees, _SMALLEST_CHUNK)
        for chunk in read_blocks(path, format, skip_bad, on_error, chunk_size=size):
            if len(chunk.block):
                yield parse_block(decoder, chunk.block, options, first), chunk.bytes_read
                first += len(chunk.block)

    def decoder(self, options: ParseOptions | None = None) -> BlockDecoder:
        options = options or ParseOptions()
        if options.decode == "max-z" and not self.model.hidden:
            raise ArgumentError("decode='max-z' needs a model with hidden clusters.")
        if self.model.pruner is not None:
            _check_higher_order(options, self.model.settings.inference)
        return BlockDecoder(self.model, self.threads, options.decode, options.trees)

    def distribution(
        self, sentence: Sentence
    ) -> SpanningTrees | ProjectiveTrees | SecondOrderTrees:
        """The distribution over the trees of a sentence, as an object to question.

        Labels have a place of their own in it for joint models; others sum over nothing. Of models
        of higher order, only exact ones have a distribution of that order; for others it is that
        of the first-order model inside.
        """
        encoded, decoder = self._ready(sentence)
        if self.model.settings.inference == "exact":
            return SecondOrderTrees(self._parts_of(sentence), root=self.model.root)
        trees = decoder.distribution(encoded, np.array([0]), self.model.temperature)
        kind = ProjectiveTrees if trees.trees == "projective" else SpanningTrees
        return kind(trees.scores(0), root=self.model.root)

    def beliefs(self, sentence: Sentence) -> LoopyTrees:
        """What a model that propagates beliefs thinks of the trees of a sentence."""
        settings = self.model.settings
        if settings.inference != "bp":
            raise ArgumentError(
                "this model has no beliefs, which are of inference='bp': ask for its distribution."
            )
        return LoopyTrees(
            self._parts_of(sentence), settings.trees, self.model.root, settings.bp_iterations or 4,
            settings.damping or 0.0, factors=settings.factors or "pairs",
        )  # fmt: skip

    def _ready(self, sentence: Sentence) -> tuple[Encoded, BlockDecoder]:
        block = read_whole([sentence])
        return Encoded(block, self.model.features, self.model.word_clusters), self.decoder()

    def _parts_of(self, sentence: Sentence) -> Parts:
        """Scores of higher order at the model's temperature."""
        encoded, decoder = self._ready(sentence)
        parts = decoder.summed_parts(encoded, np.array([0]))
        assert parts is not None
        return parts.sentence(0)

    def explain(
        self, sentence: Sentence, word: int, head: int | None = None, against: int | None = None
    ) -> Explanation:
        """Which features gave `word` its head (by default the parse's), and not another.

        The other head is `against`, by default the best-scoring rival. Words count from 1. Arcs
        of joint labels or hidden clusters are explained with the best of these; arcs of higher
        orders with all parts that would change if nothing but the head did.
        """
        block = read_whole([sentence])
        check_word(block, word)
        higher = self.model.pruner is not None
        heads = np.empty(0, dtype=np.int32)
        if head is None or higher:
            heads = parse_block(self.decoder(), block, ParseOptions()).trees.heads
            head = int(heads[word - 1]) if head is None else head
        if higher:
            return explain_in_tree(self.model, block, heads, word, head, against)
        return explain_arc(self.model, block, word, head, against)

    def evaluate(self, gold: TreebankSource, **options: Any) -> Scores:
        """How well the parser does on annotated sentences."""
        if is_file(gold):
            gold = read_conllu(cast("ReadPath", gold))
        sentences = list(cast("Iterable[Sentence]", gold))
        return evaluate(sentences, self.parse(sentences, **({"probabilities": False} | options)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one file, which appears when it is whole.

        A checkpoint of its training beside it has done its duty then and is removed.
        """
        write_model(self.model, path)
        Checkpoint.remove_beside(path)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._model is None:
            return _unfitted, (self.settings, self.threads)
        return _from_bytes, (to_bytes(self._model), self.threads)


def _check_higher_order(options: ParseOptions, inference: str | None) -> None:
    """Refuses what needs other sums over trees of higher order than the model has."""
    for name in ("kbest", "samples"):
        if getattr(options, name) is not None and inference != "exact":
            raise ArgumentError(
                f"{name} needs a first-order model or inference='exact'; this model finds best "
                "trees only."
            )
    decoders = {"exact": ("map", "mbr"), "bp": ("mbr",)}.get(inference or "", ("map",))
    if options.decode not in (None, *decoders):
        kind = "trees by expected correct arcs (mbr)" if inference == "bp" else "best trees (map)"
        raise ArgumentError(
            f"decode={options.decode!r} needs a first-order model; this one finds {kind}."
        )
    if inference == "exact" and options.trees == "nonprojective":
        raise ArgumentError("this model sums over projective trees: it finds no others.")
    if inference == "bp" and options.certificates:
        raise ArgumentError(
            "belief propagation proves nothing about its trees, so there are no certificates: "
            "learn with inference='dual' or 'exact'."
        )


def load(path: str | os.PathLike[str], threads: int | None = None) -> Parser:
    """A parser from a model file."""
    return Parser.from_model(read_model(path), threads)


def _file_name(source: object) -> str | None:
    """What a file is called, without the folders that mean nothing elsewhere."""
    if source == "-" or not isinstance(source, str | os.PathLike):
        return None
    return os.path.basename(source)  # noqa: PTH119  # a Path is no shorter


def _licences(start: Parser | None, licence: str | None) -> str | None:
    """Those of all the data that the model has seen."""
    earlier = None if start is None else start.model.card.get("licence")
    return "; ".join(dict.fromkeys(filter(None, (earlier, licence)))) or None


def _without_times(history: History) -> dict[str, Any]:
    """The history for the card; the same training gives the same card."""
    values = history.to_dict()
    for record in values["passes"]:
        del record["seconds"]
    return values


def _unfitted(settings: ParserSettings, threads: int) -> Parser:
    return Parser(threads=threads, **settings.to_dict())


def _from_bytes(data: bytes, threads: int) -> Parser:
    return Parser.from_model(from_bytes(data), threads)
