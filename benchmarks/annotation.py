"""Annotation simulated: how many words must be annotated, and how many corrections are needed.

    python benchmarks/annotation.py --treebanks DIR [--only NAME ...] [--output FOLDER]

Part 1, words: a first-order parser is trained on more and more of a treebank, until its UAS on the
test set is that of the whole treebank minus 1. The words are those of random sentences; or, after a
first 5 % of random sentences, single words, those of which the parser is least sure (`arbora select
--arcs`), whose heads are then taken from the treebank. Every round trains from scratch.

Part 2, corrections: a parser trained on the whole treebank parses the test set, and a simulated
annotator corrects it: by hand, every wrong head and every wrong label is one action; or one wrong
head is corrected, the sentence is parsed again around all corrections, exactly, and so on until it
is right, then the labels that are still wrong. Results are one file per treebank, part and seed;
what exists is not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import arbora
from arbora.annotation import select
from arbora.data import Block
from arbora.data.treebank import read_treebank
from arbora.models.constraints import Constraints
from arbora.models.decoding import Decoder
from arbora.options import ParseOptions

TREEBANKS = ("ud_bulgarian_btb_resplit", "ud_hungarian_szeged", "ud_latin_perseus")
OUTPUT = Path(__file__).parent / "results" / "annotation"
STEP = 0.05  # share of the words that is annotated before anything is selected, and in a round
RANDOM = (0.3, 0.1)  # the first share of random sentences, and what is added in a round
MARGIN = 1.0  # UAS
PASSES = 6
SEEDS = (0,)  # of the random sentences
STRATEGIES = ("random", "errors", "disagreement")
PARTS_OF_MODELS = ("grandsibling", "first")
ORDERS = ("left to right", "surest first", "top-down")
_LABEL = 7

Flat = NDArray[np.int32]


class Pool:
    """An annotated treebank of which only some heads are known, and its test set."""

    def __init__(self, folder: Path) -> None:
        self.block, self.test = (read_treebank(_file(folder, part)) for part in ("train", "test"))
        self.gold = np.asarray(self.block.heads)
        self.first = np.cumsum(self.block.n_words) - self.block.n_words
        self.size = len(self.gold)

    def with_heads(self, known: Flat) -> Block:
        """The treebank with the known heads only."""
        return self.block.with_columns(heads=np.split(known, self.first[1:]))

    def random_sentences(self, share: float, seed: int) -> Flat:
        """The heads of random sentences, up to a share of the words."""
        known = np.full(self.size, -1, dtype=np.int32)
        used = 0
        for i in np.random.default_rng(seed).permutation(len(self.block)).tolist():
            words = slice(self.first[i], self.first[i] + self.block.n_words[i])
            used += self.block.words(i)
            if used > share * self.size:
                break
            known[words] = self.gold[words]
        return known

    def train(self, known: Flat) -> tuple[arbora.Parser, float]:
        """A parser that is trained on the known heads, and its UAS on the test set."""
        block = self.with_heads(known)
        some = np.flatnonzero(np.add.reduceat(known >= 0, self.first)).tolist()
        block = block.reread(b"".join(block.texts(i, i + 1) for i in some))
        parser = arbora.Parser(labels="none", passes=PASSES, held_out=0.0, threads=1).fit(block)
        heads = parser.parse_block(self.test, ParseOptions()).trees.heads
        return parser, 100 * float((heads == np.asarray(self.test.heads)).mean())

    def selected(self, known: Flat, parser: arbora.Parser, by: str) -> Flat:
        """The known heads, and those of the words that the parser asks for."""
        found = select(
            parser,
            self.with_heads(known),
            round(STEP * self.size),
            by=by,  # type: ignore[arg-type]
            unit="arcs",
        )
        known = known.copy()
        for request in found.requests:
            words = self.first[request.number] + np.array(request.words) - 1
            known[words] = self.gold[words]
        return known


def words_needed(folder: Path, strategy: str, seed: int) -> dict[str, Any]:
    """The learning curve of a strategy, until the accuracy of the whole treebank is near."""
    pool, started = Pool(folder), time.process_time()
    _, full = pool.train(pool.gold)
    target, curve = full - MARGIN, []
    known = pool.random_sentences(RANDOM[0] if strategy == "random" else STEP, seed)
    while True:
        parser, uas = pool.train(known)
        curve.append([int((known >= 0).sum()), uas])
        print(f"{folder.name} {strategy} {curve[-1][0] / pool.size:.2f} {uas:.2f}", flush=True)
        if uas >= target or (known >= 0).all():
            break
        if strategy == "random":
            share = RANDOM[0] + RANDOM[1] * len(curve)
            known = pool.random_sentences(share, seed) if share < 0.99 else pool.gold
        else:
            known = pool.selected(known, parser, strategy)
    return {
        "words": pool.size, "full": full, "target": target, "curve": curve,
        "needed": crossing(curve, target), "seconds": time.process_time() - started,
    }  # fmt: skip


def crossing(curve: list[list[float]], target: float) -> float:
    """The number of words at which the curve reaches the target, between two of its points."""
    if len(curve) == 1:
        return curve[0][0]
    (before, low), (after, high) = curve[-2:]
    return before + (after - before) * (target - low) / (high - low)


def fitted(run: dict[str, Any]) -> float:
    """The share of words at which a line through the last five points, UAS against the logarithm
    of the words, reaches the target: less noisy than the crossing of the curve itself."""
    points = np.array(run["curve"][-5:])
    slope, start = np.polyfit(np.log(points[:, 0]), points[:, 1], 1)
    return float(np.exp((run["target"] - start) / slope) / run["words"])


class Annotator:
    """Corrects parsed sentences; what it has seen stays."""

    def __init__(self, parser: arbora.Parser, test: Block) -> None:
        self.block = parser.prepare(test, ParseOptions())
        self.decoder: Decoder = parser.decoder()
        self.gold = np.asarray(test.heads)
        texts = [label for i in range(len(test)) for label in test.column(i, _LABEL)]
        self.names = tuple(dict.fromkeys([*parser.model.labels, *texts]))
        numbers = {name: number for number, name in enumerate(self.names)}
        self.gold_labels = np.array([numbers[text] for text in texts], dtype=np.int32)
        ends = np.cumsum(test.n_words)
        self.words = [slice(end - n, end) for n, end in zip(test.n_words, ends, strict=True)]
        self.heads = np.full(len(self.gold), -1, dtype=np.int32)
        self.labels, self.chances = self.heads.copy(), np.zeros(len(self.gold))
        self.known, self.known_labels = self.heads.copy(), self.heads.copy()
        self.parse(range(len(test)))

    def parse(self, sentences: Any) -> None:
        """Parses some sentences around all that is known of them."""
        places = np.array(list(sentences))
        flat = np.concatenate(
            [np.arange(w.start, w.stop) for w in map(self.words.__getitem__, places)]
        )
        known = Constraints(
            self.block.n_words[places], self.known[flat], self.known_labels[flat], self.names,
            np.empty((0, 3), np.int64), tuple(map(str, places)),
        )  # fmt: skip
        found = self.decoder(self.decoder.model.encoder.encode(self.block, places), True, known)
        self.heads[flat], self.labels[flat] = found.heads, found.labels
        self.chances[flat] = found.arc_probabilities

    def errors(self) -> tuple[int, int]:
        """The numbers of wrong heads and of wrong labels."""
        wrong = self.heads != self.gold, self.labels != self.gold_labels
        return int(wrong[0].sum()), int(wrong[1].sum())

    def correct(self, order: str) -> tuple[int, int]:
        """Corrects everything; the numbers of heads and labels that had to be corrected."""
        heads = labels = 0
        waiting = list(range(len(self.words)))
        while waiting:
            waiting = [i for i in waiting if self._correct_head(i, order)]
            heads += len(waiting)
            if waiting:
                self.parse(waiting)
        waiting = list(range(len(self.words)))
        while waiting:  # a known label can change others, since labels are chosen with context
            waiting = [i for i in waiting if self._correct_label(i)]
            labels += len(waiting)
            if waiting:
                self.parse(waiting)
        return heads, labels

    def _correct_head(self, i: int, order: str) -> bool:
        words = self.words[i]
        wrong = self.heads[words] != self.gold[words]
        if not wrong.any():
            return False
        rank = np.array(list(self._ranks(words, order)))
        first = rank[wrong].min()
        seen = words.start + np.flatnonzero(rank <= first)  # passed over: right, and kept
        self.known[seen] = self.gold[seen]
        return True

    def _correct_label(self, i: int) -> bool:
        words = self.words[i]
        wrong = np.flatnonzero(self.labels[words] != self.gold_labels[words])
        if len(wrong):
            at = words.start + int(wrong[0])
            self.known[words] = self.gold[words]
            self.known_labels[words.start : at + 1] = self.gold_labels[words.start : at + 1]
        return bool(len(wrong))

    def _ranks(self, words: slice, order: str) -> Iterator[int]:
        """The place of each word in the order in which the annotator looks at them."""
        n = words.stop - words.start
        if order == "left to right":
            keys: Any = np.arange(n)
        elif order == "surest first":
            keys = -self.chances[words]
        else:
            heads = self.heads[words].tolist()
            keys = np.array([_depth(heads, word) for word in range(1, n + 1)])
        yield from np.argsort(np.argsort(keys, kind="stable"), kind="stable").tolist()


def _depth(heads: list[int], word: int) -> int:
    depth = 0
    while word and depth <= len(heads):
        word, depth = heads[word - 1], depth + 1
    return depth


def corrections(folder: Path, order: str) -> dict[str, Any]:
    """The actions by hand and with parsing again, for a parser of this order of parts."""
    train, test = (read_treebank(_file(folder, part)) for part in ("train", "test"))
    parser = arbora.Parser(order=order, passes=PASSES, held_out=0.0, threads=1).fit(train)  # type: ignore[arg-type]
    answer: dict[str, Any] = {"words": test.total_words, "orders": {}}
    for looking in ORDERS:
        annotator = Annotator(parser, test)
        heads, labels = annotator.errors()
        answer["by_hand"] = {"heads": heads, "labels": labels}
        done = annotator.correct(looking)
        assert annotator.errors() == (0, 0)
        answer["orders"][looking] = {"heads": done[0], "labels": done[1]}
        print(f"{folder.name} {order} {looking}: {done} of {(heads, labels)}", flush=True)
    return answer


def _file(folder: Path, part: str) -> str:
    return str(next(folder.glob(f"{part}.conll*")))


def report(results: dict[str, Any]) -> None:
    """Prints the tables of what is there."""
    names = sorted({key.split(".")[0] for key in results})
    print("\nwords needed, % of the treebank, mean over seeds; and as % of random")
    for name in names:
        shares, fits = {}, {}
        for strategy in STRATEGIES:
            runs = [results.get(f"{name}.{strategy}.{seed}") for seed in SEEDS]
            if all(runs):
                fits[strategy] = np.mean([100 * fitted(run) for run in runs])  # type: ignore[arg-type]
                shares[strategy] = np.mean([100 * run["needed"] / run["words"] for run in runs])  # type: ignore[index]
        for strategy, share in shares.items():
            ratio = f"{100 * share / shares['random']:6.1f}" if "random" in shares else ""
            fit = f"{100 * fits[strategy] / fits['random']:6.1f}" if "random" in fits else ""
            print(
                f"{name:26} {strategy:13} {share:6.1f} {ratio}  fitted {fits[strategy]:6.1f} {fit}"
            )
    print("\ncorrections, % of those by hand: heads; heads and labels")
    for name in names:
        for order in PARTS_OF_MODELS:
            run = results.get(f"{name}.corrections.{order}")
            for looking, done in run["orders"].items() if run else ():
                hand = run["by_hand"]
                heads = 100 * done["heads"] / hand["heads"]
                both = 100 * sum(done.values()) / sum(hand.values())
                print(f"{name:26} {order:13} {looking:14} {heads:6.1f} {both:6.1f}")


def jobs_of(folder: Path, parts: list[str]) -> dict[str, Callable[[], dict[str, Any]]]:
    """What is measured on a treebank, by the name of its file."""
    jobs: dict[str, Callable[[], dict[str, Any]]] = {}
    if "corrections" in parts:
        for order in PARTS_OF_MODELS:
            jobs[f"{folder.name}.corrections.{order}"] = partial(corrections, folder, order)
    if "words" in parts:
        for seed in SEEDS:
            for strategy in STRATEGIES:
                jobs[f"{folder.name}.{strategy}.{seed}"] = partial(
                    words_needed, folder, strategy, seed
                )
    return jobs


def main() -> None:
    """Runs what is not done, and reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--treebanks", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=list(TREEBANKS))
    parser.add_argument("--parts", nargs="*", default=["words", "corrections"])
    parser.add_argument("--jobs", type=int, default=1000, help="the most that are run now")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    left = given.jobs
    for name in given.only:
        for key, job in jobs_of(given.treebanks / name, given.parts).items():
            path = given.output / f"{key}.json"
            if not path.exists() and left > 0:
                path.write_text(json.dumps(job(), indent=1) + "\n")
                left -= 1
    report({path.stem: json.loads(path.read_text()) for path in given.output.glob("*.json")})


if __name__ == "__main__":
    main()
