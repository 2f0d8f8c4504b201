"""Selection of what to annotate next, from a pool of sentences of any size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from arbora.annotation.choosing import Item, Shortlist, choose
from arbora.annotation.doubt import Doubt, doubt_about
from arbora.annotation.gains import Gains, Measure, gains_of, measure_named
from arbora.annotation.requests import Request, Selection
from arbora.arrays import as_count, as_seed
from arbora.data import Block, Sentence
from arbora.data.source import ReadPath
from arbora.data.treebank import is_file, read_treebank
from arbora.errors import ArgumentError
from arbora.options import ParseOptions
from arbora.parsers import Parser

__all__ = ["Unit", "select"]

Unit = Literal["sentences", "arcs"]

_UPOS, _XPOS = 3, 4
_LENGTHS = (10, 20, 30, 40, 50)  # words; limits between lengths that count as different


def select(
    parser: Parser,
    pool: ReadPath | Block | Iterable[Sentence],
    budget: int,
    *,
    by: Measure = "errors",
    unit: Unit = "sentences",
    diversity: float = 0.0,
    seed: int = 0,
    ignore_heads: bool = False,
    **reading: Any,
) -> Selection:
    """Selects what to annotate next: at most `budget` words, in whole sentences or as single arcs.

    `by` is the measure of the expected gain: the expected number of wrong arcs (errors), entropy
    (of trees or heads), the disagreement of MAP and MBR trees, or random. Sentences are ranked by
    their gain per word. Heads that the pool has are known: they cost nothing, and the doubt is
    about the rest given them. With `ignore_heads` they are treated as unknown, but selected words
    keep them, to simulate annotation. `diversity`, from 0 to 1, makes further gains of the same
    tags and sentence lengths count less. Memory depends on the budget, not on the pool. `reading`
    has the options of `Parser.chunks`.
    """
    measure_named(by)
    if unit not in ("sentences", "arcs"):
        raise ArgumentError(f"unit must be sentences or arcs, not {unit!r}.")
    if not isinstance(diversity, int | float) or not 0.0 <= diversity <= 1.0:
        raise ArgumentError(f"diversity must be between 0 and 1, not {diversity!r}.")
    budget, seed = as_count(budget, "budget"), as_seed(seed)
    options = ParseOptions(keep_heads=not ignore_heads)
    decoder = parser.decoder(options)
    shortlist = Shortlist(budget, diversity > 0.0)
    counts = np.zeros(2, dtype=np.int64)
    for block in _blocks(parser, pool, options, reading):
        if not len(block):
            continue
        prepared = parser.prepare(block, options)
        doubt = doubt_about(
            parser, prepared, keep_heads=not ignore_heads, disagreement=by == "disagreement",
            decoder=decoder,
        )  # fmt: skip
        unknown = np.asarray(block.heads) < 0
        if ignore_heads:
            unknown = np.ones(len(unknown), dtype=np.bool_)
        gains = gains_of(by, doubt, unknown, block.n_words, block.first_sentence, seed)
        found = _Found(block, prepared, doubt, unknown, gains)
        items = found.sentences if unit == "sentences" else found.arcs
        shortlist.add(items(shortlist.floor))
        counts += (len(block), int(unknown.sum()))
    if not counts[1]:
        raise ArgumentError(
            "there is nothing to annotate: every word of the pool has a head; ignore them with "
            "ignore_heads (--ignore-heads)."
            if counts[0]
            else "there is nothing to annotate: the pool has no sentences."
        )
    chosen = choose(shortlist.items(), budget, float(diversity))
    return Selection(
        tuple(_requests(chosen)), by, unit, budget, int(counts[0]), int(counts[1]), ignore_heads
    )


def _blocks(
    parser: Parser, pool: Any, options: ParseOptions, reading: dict[str, Any]
) -> Iterator[Block]:
    """The pool in blocks, numbered from 0 through all of them."""
    if is_file(pool):
        for chunk in parser.chunks(cast("ReadPath", pool), options, **reading):
            yield chunk.block
        return
    yield read_treebank(pool)


@dataclass(frozen=True)
class _Found:
    """A block with its doubts and gains."""

    block: Block
    prepared: Block
    doubt: Doubt
    unknown: NDArray[np.bool_]
    gains: Gains

    def sentences(self, floor: float) -> Iterator[Item]:
        """The sentences that lack a head and are worth as much as the floor, as items."""
        start = 0
        for i, n in enumerate(self.block.n_words.tolist()):
            words = slice(start, start + n)
            start += n
            open_words = np.flatnonzero(self.unknown[words])
            gain = float(self.gains.sentences[i])
            if not len(open_words) or gain < floor * len(open_words):
                continue
            own = np.where(self.unknown[words], self.gains.words[words], 0.0)
            total = float(own.sum())
            own = own * (gain / total) if total > 0.0 else own
            shares: defaultdict[str, float] = defaultdict(float)
            for tag, share in zip(self.tags(i), own.tolist(), strict=True):
                shares[tag] += share / 2
            shares[_length(n)] += gain / 2
            number = self.block.first_sentence + i
            yield Item(gain, len(open_words), number, 0, dict(shares), self.origin(i, words))

    def arcs(self, floor: float) -> Iterator[Item]:
        """The words that lack a head and are worth as much as the floor, as items."""
        wanted = self.unknown & (self.gains.words >= floor)
        start = 0
        for i, n in enumerate(self.block.n_words.tolist()):
            words = slice(start, start + n)
            start += n
            places = np.flatnonzero(wanted[words])
            if not len(places):
                continue
            tags, origin = self.tags(i), self.origin(i, words)
            for place in places.tolist():
                gain = float(self.gains.words[words][place])
                number = self.block.first_sentence + i
                shares = {
                    tags[place]: gain / 3, _length(n): gain / 3, f"sentence {number}": gain / 3,
                }  # fmt: skip
                yield Item(gain, 1, number, place + 1, shares, origin)

    def tags(self, i: int) -> list[str]:
        """The UPOS tags of a sentence, or XPOS where there is none."""
        upos, xpos = (self.prepared.column(i, column) for column in (_UPOS, _XPOS))
        return [one if one != "_" else other for one, other in zip(upos, xpos, strict=True)]

    def origin(self, i: int, words: slice) -> Request:
        """The sentence with what the parser proposes, in memory of its own; no words are asked."""
        doubt = self.doubt
        names = (*doubt.label_names, "_")
        return Request(
            self.block.first_sentence + i,
            Sentence.from_bytes(self.prepared.text(i), self.prepared.format),
            (), (), doubt.heads[words].copy(), tuple(names[k] for k in doubt.labels[words]),
            doubt.probabilities[words].copy(), self.unknown[words].copy(),
        )  # fmt: skip


def _length(n_words: int) -> str:
    """The kind of a sentence's length; no tag has a space in it."""
    return f"length {int(np.searchsorted(_LENGTHS, n_words))}"


def _requests(chosen: list[Item]) -> Iterator[Request]:
    """The chosen items by sentence, in the order in which a sentence first appears."""
    of_sentence: dict[int, list[Item]] = defaultdict(list)
    for item in chosen:
        of_sentence[item.sentence].append(item)
    for items in of_sentence.values():
        origin: Request = items[0].origin
        words = tuple(item.word for item in items)
        if words == (0,):
            words = tuple(int(place) + 1 for place in np.flatnonzero(origin.unknown))
        yield origin.asking(words, tuple(item.gain for item in items))
