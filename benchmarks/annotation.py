"""Annotation simulated: how many words must be annotated, and how many corrections are needed.

    python benchmarks/annotation.py --treebanks DIR [--only NAME ...] [--output FOLDER]

Part 1, words: a first-order parser is trained on more and more of a treebank, until its UAS on the
test set is that of the whole treebank minus 1. The words are those of random sentences; or, after a
first 5 % of random sentences, single words, those of which the parser is least sure (`arbora select
--arcs`), whose heads are then taken from the treebank. Every round trains from scratch. The seed
chooses the random sentences.

Part 2, corrections: a parser trained on the whole treebank parses the test set, and a simulated
annotator corrects it: by hand, every wrong head and every wrong label is one action; or one wrong
head is corrected, the sentence is parsed again around all corrections, exactly, and so on until it
is right, then the labels that are still wrong. Part 3, bundled: the same for the model en-accurate
of the package on UD English EWT, without training. Results are one file per treebank, part and
seed; what exists is not run again.
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
SEEDS = (0, 1, 2)  # of the random sentences
STRATEGIES = ("random", "errors", "margin", "disagreement")
PARTS_OF_MODELS = ("grandsibling", "first")
ORDERS = ("left to right", "surest first", "least sure first", "top-down")
KEPT = {"orders": "all seen", "only_corrections": "corrections"}  # what parsing again keeps
PARTS = ("words", "corrections", "bundled")
BUNDLED = ("ud_english_ewt", "en-accurate")
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
        self.parsed = self.heads.copy(), self.labels.copy(), self.chances.copy()

    def begin_again(self) -> None:
        """Forgets all corrections."""
        self.heads, self.labels, self.chances = (each.copy() for each in self.parsed)
        self.known[:] = self.known_labels[:] = -1

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

    def correct(self, order: str, kept: str) -> tuple[int, int]:
        """Corrects everything; the numbers of heads and labels that had to be corrected.

        Parsing again keeps all heads that the annotator has seen, or the corrections only.
        """
        heads = labels = 0
        waiting = list(range(len(self.words)))
        while waiting:
            waiting = [i for i in waiting if self._correct_head(i, order, kept == "all seen")]
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

    def _correct_head(self, i: int, order: str, keep_seen: bool) -> bool:
        words = self.words[i]
        wrong = self.heads[words] != self.gold[words]
        if not wrong.any():
            return False
        rank = np.array(list(self._ranks(words, order)))
        first = rank[wrong].min()
        seen = rank <= first if keep_seen else rank == first  # passed over: right
        at = words.start + np.flatnonzero(seen)
        self.known[at] = self.gold[at]
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
        elif order == "least sure first":
            keys = self.chances[words]
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
    return corrected(parser, test, f"{folder.name} {order}")


def bundled(folder: Path) -> dict[str, Any]:
    """The same for a model of the package."""
    parser = arbora.load(BUNDLED[1], threads=1)
    return corrected(parser, read_treebank(_file(folder, "test")), f"{folder.name} {BUNDLED[1]}")


def corrected(parser: arbora.Parser, test: Block, name: str) -> dict[str, Any]:
    """The actions, for every order of looking, and for what parsing again keeps."""
    annotator = Annotator(parser, test)
    heads, labels = annotator.errors()
    answer: dict[str, Any] = {
        "words": test.total_words, "by_hand": {"heads": heads, "labels": labels},
    }  # fmt: skip
    for key, kept in KEPT.items():
        answer[key] = {}
        for looking in ORDERS:
            annotator.begin_again()
            done = annotator.correct(looking, kept)
            assert annotator.errors() == (0, 0)
            answer[key][looking] = {"heads": done[0], "labels": done[1]}
            print(f"{name} {looking}, {kept}: {done} of {(heads, labels)}", flush=True)
    return answer


def _file(folder: Path, part: str) -> str:
    return str(next(folder.glob(f"{part}.conll*")))


def report(results: dict[str, Any]) -> None:
    """Prints the tables of what is there."""
    names = sorted({key.split(".")[0] for key in results})
    print("\nwords needed, % of the treebank, mean over seeds; and as % of random")
    for name in names:
        crossed, fits = {}, {}
        for strategy in STRATEGIES:
            runs = [results.get(f"{name}.{strategy}.{seed}") for seed in SEEDS]
            done = [run for run in runs if run is not None]
            if done:
                crossed[strategy] = np.array([100 * run["needed"] / run["words"] for run in done])
                fits[strategy] = np.array([100 * fitted(run) for run in done])
        for strategy, shares in crossed.items():
            row = f"{name:26} {strategy:13} {len(shares)} seeds"
            for title, found in (("needed", crossed), ("fitted", fits)):
                share = found[strategy].mean()
                row += f"  {title} {share:5.1f} (+-{np.ptp(found[strategy]) / 2:4.1f})"
                if "random" in found:
                    row += f" {100 * share / found['random'].mean():6.1f}"
            print(row)
    print("\ncorrections, % of those by hand: heads; heads and labels")
    for name in names:
        for order in (*PARTS_OF_MODELS, BUNDLED[1]):
            run = results.get(f"{name}.corrections.{order}", {})
            for key, kept in KEPT.items():
                for looking, done in run.get(key, {}).items():
                    hand = run["by_hand"]
                    heads = 100 * done["heads"] / hand["heads"]
                    both = 100 * sum(done.values()) / sum(hand.values())
                    print(f"{name:26} {order:13} {kept:12} {looking:17} {heads:6.1f} {both:6.1f}")


def jobs_of(folder: Path, parts: list[str]) -> dict[str, Callable[[], dict[str, Any]]]:
    """What is measured on a treebank, by the name of its file."""
    jobs: dict[str, Callable[[], dict[str, Any]]] = {}
    if "corrections" in parts:
        for order in PARTS_OF_MODELS:
            jobs[f"{folder.name}.corrections.{order}"] = partial(corrections, folder, order)
    if "bundled" in parts and folder.name == BUNDLED[0]:
        jobs[f"{folder.name}.corrections.{BUNDLED[1]}"] = partial(bundled, folder)
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
    parser.add_argument("--parts", nargs="*", default=["words", "corrections"], choices=PARTS)
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
