"""Counts and searches over corpora of any size, in bounded memory."""

from __future__ import annotations

import heapq
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from arbora.corpus.estimator import Estimator, Grouping, Rows, count_annotated
from arbora.corpus.files import corpus_files
from arbora.corpus.pattern import Pattern, known_column
from arbora.corpus.pattern_parser import read_pattern
from arbora.corpus.statistics import Bias, Figures, estimate_bias, interval
from arbora.data import Block, Sentence, read_blocks
from arbora.data.source import ReadPath, source_name
from arbora.errors import ArgumentError, DataError
from arbora.models.draws import is_weighted, weight_temperature
from arbora.options import ParseOptions
from arbora.parsers import Parser
from arbora.spread import Spread, answered, one_after_another

__all__ = ["CountRow", "Counts", "Hit", "count", "grep"]

_DRAWS = 16
_FILE_BITS = 40  # of a sentence's key: the number of a sentence in its file

IntervalCovers = Literal["nothing", "doubt", "doubt and bias"]


@dataclass(frozen=True)
class CountRow:
    """A count: corrected by the gold sample if there is one, with its interval, and others.

    `expected` is the sum of probabilities, `best` the count in the trees that the parser chooses.
    """

    group: str
    count: float
    low: int
    high: int
    expected: float
    best: int


@dataclass(frozen=True)
class Counts:
    """The answer of `count`."""

    pattern: str
    level: float
    sentences: int
    words: int
    total: CountRow
    groups: list[CountRow] = field(default_factory=list)
    by: str | None = None
    bias: Bias | None = None
    effective: float | None = None  # the mean effective number of draws, if they have weights
    interval_covers: IntervalCovers = "nothing"  # annotated trees are counted without doubt

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)

    @property
    def rows(self) -> list[CountRow]:
        """The groups, or the total if there are none."""
        return self.groups if self.by is not None else [self.total]


@dataclass(frozen=True, order=True)
class Hit:
    """A sentence that probably has a match; `words` are those of the likeliest, from 1."""

    probability: float
    file: str = field(compare=False)
    sentence: int = field(compare=False)  # from 1
    sent_id: str | None = field(compare=False)
    forms: list[str] = field(compare=False)
    words: list[int] = field(compare=False)
    in_best_tree: bool = field(compare=False)


@dataclass(frozen=True)
class _Question:
    """A pattern and the parser to ask; None counts in the trees of the files."""

    parser: Parser | None
    pattern: Pattern
    grouping: Grouping | None
    draws: int
    seed: int
    options: ParseOptions
    reading: dict[str, Any]
    temperature: float | None = None

    def blocks(self, path: ReadPath) -> Iterator[Block]:
        if self.parser is None:
            chunks = read_blocks(path, max_words=self.options.max_words, **self.reading)
        else:
            chunks = self.parser.chunks(path, self.options, **self.reading)
        for chunk in chunks:
            if len(chunk.block):
                yield chunk.block

    def answers(self, path: ReadPath, place: int) -> Iterator[tuple[Block, Rows]]:
        """The rows of each block of a file, with the block as the parser sees it.

        Draws depend on the number of the sentence in its file and on the place of the file.
        """
        if self.parser is not None:
            decoder = self.parser.decoder(self.options)
            estimate = Estimator(
                decoder, self.pattern, self.draws, self.seed, self.grouping, self.temperature
            )
        before = place << _FILE_BITS
        for block in self.blocks(path):
            if self.parser is None:
                rows = count_annotated(self.pattern, block, self.grouping)
            else:
                block = self.parser.prepare(block, self.options)
                rows = estimate(block, before)
            before += len(block)
            yield block, rows

    def __reduce__(self) -> tuple[Any, ...]:
        """Elsewhere, skipped sentences are collected, and reported here."""
        reading = {name: value for name, value in self.reading.items() if name != "on_error"}
        return _Question, (
            self.parser, self.pattern, self.grouping, self.draws, self.seed, self.options, reading,
            self.temperature,
        )  # fmt: skip


@dataclass
class _OfFile:
    """What a file gives: sums, hits, and malformed sentences that were skipped."""

    sentences: int = 0
    words: int = 0
    totals: dict[str, Figures] = field(default_factory=lambda: defaultdict(Figures))
    effective: float = 0.0
    rows: int = 0
    hits: list[Hit] = field(default_factory=list)
    skipped: list[DataError] = field(default_factory=list)
    told: bool = False  # whether `on_block` was called on the way


@dataclass(frozen=True)
class _Task:
    """What is asked of every file: sums, or the `most` best hits."""

    asked: _Question
    most: int | None = None
    least: float = 0.0
    on_block: Callable[[int], object] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Task, (self.asked, self.most, self.least)

    def run(
        self, paths: list[ReadPath], spread: Spread, on_error: Callable[[DataError], object] | None
    ) -> Iterator[_OfFile]:
        """What the files give, in their order."""
        early: dict[int, _OfFile] = {}
        following = 0
        with closing(spread(_ask, self, list(enumerate(paths)))) as answers:
            for place, answer in answers:
                early[place] = found = answered(answer)
                for error in found.skipped:
                    if on_error is not None:
                        on_error(error)
                if self.on_block is not None and not found.told:
                    self.on_block(found.sentences)
                while following in early:
                    yield early.pop(following)
                    following += 1


def _ask(task: _Task, file: tuple[int, ReadPath]) -> _OfFile:
    """Counts or searches in one file."""
    place, path = file
    found, asked = _OfFile(told=task.on_block is not None), task.asked
    if "on_error" not in asked.reading:
        asked = replace(asked, reading=asked.reading | {"on_error": found.skipped.append})
    best: list[tuple[float, int, Hit]] = []
    for block, rows in asked.answers(path, place):
        if task.most is None:
            for group, figures in _by_group(rows):
                found.totals[group].add(figures)
        else:
            _add_hits(best, task.most, task.least, source_name(path), found, block, rows)
        found.sentences, found.words = found.sentences + len(block), found.words + block.total_words
        found.effective += float(rows.effective.sum())
        found.rows += len(rows.effective)
        if task.on_block is not None:
            task.on_block(len(block))
    found.hits = [hit for _, _, hit in sorted(best, key=lambda entry: (-entry[0], -entry[1]))]
    return found


def count(
    parser: Parser | None,
    corpus: ReadPath | list[ReadPath],
    pattern: str | Pattern,
    *,
    by: str | None = None,
    level: float = 0.9,
    gold: ReadPath | None = None,
    draws: int = _DRAWS,
    seed: int = 0,
    options: ParseOptions | None = None,
    on_block: Callable[[int], object] | None = None,
    spread: Spread = one_after_another,
    **reading: Any,
) -> Counts:
    """Counts the matches of a pattern in a corpus, with an interval.

    With a parser, counts are expected under its distributions over trees, and the interval has the
    gold count with probability `level`, if `gold` is an annotated sample of such sentences, by
    which the parser's bias is corrected. Without a sample, it covers the parser's doubt only, and
    `interval_covers` says so. Without a parser (None), the trees of the files are counted.
    `by` groups by a column of the pattern's first word, or of another: `lemma`, `o.lemma`,
    `2.feats.Number`. `draws` trees are drawn of each sentence. `reading` are options of
    `read_conllu`; `on_block` is called with the number of sentences of each block. `spread` counts
    the files elsewhere, where they must be, too; the answer is the same.
    """
    asked = _question(parser, pattern, by, draws, seed, options, reading)
    interval(Figures(), level)  # raises for a wrong level
    sample, asked = _gold_sample(asked, gold)
    task = _Task(asked, on_block=on_block)
    totals: dict[str, Figures] = defaultdict(Figures)
    sentences = words = 0
    effective: list[float] = [0.0, 0.0]
    for found in task.run(_listed(corpus), spread, reading.get("on_error")):
        sentences, words = sentences + found.sentences, words + found.words
        for group, figures in found.totals.items():
            totals[group].add(figures)
        effective[0] += found.effective
        effective[1] += found.rows
    bias = None if sample is None else estimate_bias(*sample)
    whole = Figures()
    for figures in totals.values():
        whole.add(figures)
    groups = []
    if by is not None:
        groups = [_row(group, figures, level, bias) for group, figures in totals.items()]
        groups.sort(key=lambda row: (-row.count, row.group))
    weighted = parser is not None and is_weighted(parser.decoder(asked.options))
    return Counts(
        asked.pattern.text, level, sentences, words, _row("", whole, level, bias), groups, by, bias,
        effective[0] / effective[1] if weighted and effective[1] else None,
        "nothing" if parser is None else "doubt" if bias is None else "doubt and bias",
    )  # fmt: skip


def grep(
    parser: Parser | None,
    corpus: ReadPath | list[ReadPath],
    pattern: str | Pattern,
    *,
    most: int = 20,
    least: float = 0.0,
    draws: int = _DRAWS,
    seed: int = 0,
    gold: ReadPath | None = None,
    options: ParseOptions | None = None,
    on_block: Callable[[int], object] | None = None,
    spread: Spread = one_after_another,
    **reading: Any,
) -> list[Hit]:
    """The `most` sentences that have a match with the highest probability, highest first.

    Sentences with a probability below `least` are left out. The other options are those of `count`.
    """
    asked = _question(parser, pattern, None, draws, seed, options, reading)
    if gold is not None:
        _, asked = _gold_sample(asked, gold)
    elif parser is not None and is_weighted(parser.decoder(asked.options)):
        _check_weights(parser, asked.options)
    if most < 1:
        raise ArgumentError(f"most must be at least 1, not {most}.")
    task = _Task(asked, most, least, on_block)
    hits: list[Hit] = []
    for found in task.run(_listed(corpus), spread, reading.get("on_error")):
        hits += found.hits
        hits.sort(key=lambda hit: -hit.probability)  # earlier files first among equals
        del hits[most:]
    return hits


def _add_hits(
    heap: list[tuple[float, int, Hit]], most: int, least: float, file: str, found: _OfFile,
    block: Block, rows: Rows,
) -> None:  # fmt: skip
    """Adds the hits of a block to the best ones so far of its file."""
    order = np.argsort(-rows.likely, kind="stable").tolist()
    for place, row in enumerate(order):
        chance = float(rows.likely[row])
        if chance < least or chance <= 0.0:
            break
        if len(heap) == most and chance <= heap[0][0]:
            break  # the block's other sentences are less likely
        # earlier sentences first among equals; a block has at most one row per sentence
        entry = (chance, -(found.sentences + place), _hit(file, found.sentences, block, rows, row))
        if len(heap) < most:
            heapq.heappush(heap, entry)
        else:
            heapq.heapreplace(heap, entry)


def _question(
    parser: Parser | None, pattern: str | Pattern, by: str | None, draws: int, seed: int,
    options: ParseOptions | None, reading: dict[str, Any],
) -> _Question:  # fmt: skip
    made = read_pattern(pattern) if isinstance(pattern, str) else pattern
    how = ParseOptions() if options is None else options
    if not isinstance(draws, int) or draws < 2 or draws % 2:
        raise ArgumentError(f"draws must be an even number from 2, not {draws!r}.")
    if parser is not None:
        made.check_labels(parser.model.labels if parser.model.options.labels != "none" else ())
    return _Question(parser, made, _grouping(made, by), draws, seed, how, reading)


def _grouping(pattern: Pattern, by: str | None) -> Grouping | None:
    if by is None:
        return None
    name, dot, column = by.partition(".")
    if known_column(by) is None:
        first = next(i for i, word in enumerate(pattern.words) if not word.is_root)
        return Grouping(first, by)
    if not dot:
        raise ArgumentError(f"by: {known_column(by)}, or WORD.COLUMN.")
    problem = known_column(column)
    if problem is not None:
        raise ArgumentError(f"by: {problem}.")
    return Grouping(pattern.place(name), column)


def _gold_sample(
    asked: _Question, gold: ReadPath | None
) -> tuple[tuple[Any, Any, Any] | None, _Question]:
    """Gold, expected and variance of each sentence of the sample, with fitted weights."""
    if asked.parser is None:
        if gold is not None:
            raise ArgumentError("gold requires a parser: counts of annotated trees need no check.")
        return None, asked
    parser = asked.parser
    if gold is None:
        if is_weighted(parser.decoder(asked.options)):
            _check_weights(parser, asked.options)
        return None, asked
    blocks = list(asked.blocks(gold))
    if not blocks or not any((np.asarray(block.heads) >= 0).any() for block in blocks):
        raise DataError(
            "no word has a head; the gold sample must be annotated", source_name(gold), 1
        )
    decoder = parser.decoder(asked.options)
    if is_weighted(decoder) and weight_temperature(decoder) is None:
        asked = replace(asked, temperature=parser.weights_temperature(blocks[0]))
    columns: list[list[Any]] = [[], [], []]
    estimate = Estimator(decoder, asked.pattern, asked.draws, asked.seed, None, asked.temperature)
    before = 0
    for block in blocks:
        found = count_annotated(asked.pattern, block)
        rows = estimate(parser.prepare(block, asked.options), before)
        before += len(block)
        for column, own, values in (
            (columns[0], found, found.best), (columns[1], rows, rows.expected),
            (columns[2], rows, rows.variance),
        ):  # fmt: skip
            column.append(np.bincount(own.sentences, weights=values, minlength=len(block)))
    first, second, third = (np.concatenate(column) for column in columns)
    return (first, second, third), asked


def _check_weights(parser: Parser, options: ParseOptions) -> None:
    if weight_temperature(parser.decoder(options)) is None:
        raise ArgumentError(
            "this model's trees are found without a distribution, so its draws need weights: give "
            "annotated sentences as gold, or call fit_weights(dev) once and save the model."
        )


def _by_group(rows: Rows) -> Iterator[tuple[str, Figures]]:
    for i, group in enumerate(rows.groups):
        yield group, Figures(
            float(rows.expected[i]), float(rows.variance[i]), float(rows.noise[i]),
            float(rows.best[i]),
        )  # fmt: skip


def _row(group: str, figures: Figures, level: float, bias: Bias | None) -> CountRow:
    corrected, (low, high) = interval(figures, level, bias)
    return CountRow(group, corrected, low, high, max(0.0, figures.expected), round(figures.best))


def _hit(file: str, before: int, block: Block, rows: Rows, row: int) -> Hit:
    i = int(rows.sentences[row])
    identity = Sentence(block, i, np.empty(0, np.int32)).sent_id
    return Hit(
        float(rows.likely[row]), file, before + i + 1, identity, list(block.column(i, 1)),
        [int(word) for word in rows.matched[row] if word > 0], bool(rows.best[row] > 0),
    )  # fmt: skip


def _listed(corpus: ReadPath | list[ReadPath]) -> list[ReadPath]:
    given = corpus if isinstance(corpus, list | tuple) else [corpus]
    paths: list[ReadPath] = []
    for one in given:
        if isinstance(one, str | os.PathLike) and one != "-":
            paths += [file.path for file in corpus_files([one])]
        else:
            paths.append(one)
    return paths
