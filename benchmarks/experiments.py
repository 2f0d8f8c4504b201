"""Training and evaluation of parsers on treebanks, with a cache of results.

All accuracy experiments of `benchmarks/` use `run`. A result records which words of the test set
have the right head and label, for paired tests.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import arbora
from arbora.data import Sentence
from arbora.data.treebank import read_treebank
from arbora.evaluation.rules import rule_for
from arbora.models.output import parse_block
from arbora.options import ParseOptions
from arbora.options.build import build

# Incremented when features or learners change, so that older results are not reused.
GENERATION = 3

EIGHT = (
    "conllx_danish_ddt",
    "conllx_spanish_cast3lb",
    "ud_dutch_lassysmall",
    "ud_portuguese_bosque",
    "ud_swedish_lines",
    "ud_turkish_imst",
    "ud_slovenian_ssj_resplit",
    "ud_gothic_proiel",
)


@dataclass(frozen=True)
class Splits:
    """The sentences of a treebank.

    Without a dev file, the parser holds out the last tenth of the training data to find the best
    number of passes, then retrains on all of it.
    """

    train: list[Sentence]
    dev: list[Sentence] | None
    test: list[Sentence]


def load(folder: Path, name: str) -> Splits:
    def sentences(part: str) -> list[Sentence]:
        found = sorted((folder / name).glob(f"{part}.conll*"))
        return list(arbora.read_conllu(found[0])) if found else []

    train, dev, test = sentences("train"), sentences("dev"), sentences("test")
    if not train or not test:
        raise SystemExit(f"{folder / name}: there is no train and test file here.")
    return Splits(train, dev or None, test)


@dataclass(frozen=True)
class Result:
    """The result of a model on a test set with one decoder."""

    uas: float
    las: float
    dev_uas: float
    dev_las: float | None
    seconds: float
    sentence: NDArray[np.int64]  # of each counted word
    heads_right: NDArray[np.bool_]
    both_right: NDArray[np.bool_]
    card: dict[str, Any]


class Experiments:
    """Experiments with a cache of results on disk."""

    def __init__(self, treebanks: Path, memory: Path, threads: int | None = None) -> None:
        self.treebanks, self.memory, self.threads = treebanks, memory, threads
        self._splits: dict[str, Splits] = {}
        memory.mkdir(parents=True, exist_ok=True)

    @classmethod
    def from_arguments(cls, description: str) -> tuple[Experiments, argparse.Namespace]:
        parser = argparse.ArgumentParser(
            description=description, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        default = os.environ.get("ARBORA_TREEBANKS")
        parser.add_argument("--treebanks", type=Path, default=default, required=default is None)
        parser.add_argument("--memory", type=Path, default=Path("build/experiments"))
        parser.add_argument("--threads", type=int)
        parser.add_argument("--seeds", type=int, default=1)
        parser.add_argument("only", nargs="*", help="parts of the report (default: all)")
        arguments = parser.parse_args()
        return cls(arguments.treebanks, arguments.memory, arguments.threads), arguments

    def splits(self, name: str) -> Splits:
        if name not in self._splits:
            self._splits[name] = load(self.treebanks, name)
        return self._splits[name]

    def run(
        self,
        treebank: str,
        decoders: tuple[str, ...] = ("",),
        *,
        known_heads: float = 1.0,
        **options: Any,
    ) -> dict[str, Result]:
        """One result per decoder: "" is the model's own; others are "mbr" or "map projective".

        `known_heads` is the share of training heads that are given.
        """
        changed = {} if known_heads == 1.0 else {"known_heads": known_heads}
        key = json.dumps([GENERATION, treebank, sorted((options | changed).items())], default=str)
        stem = hashlib.sha256(key.encode()).hexdigest()[:20]
        found = {name: self._read(f"{stem}-{name or 'own'}") for name in decoders}
        if all(result is not None for result in found.values()):
            return {name: result for name, result in found.items() if result is not None}
        print(f"# {treebank} {options | changed}", flush=True)
        splits = self.splits(treebank)
        if known_heads < 1.0:
            splits = _with_gaps(splits, known_heads, seed=options.get("seed", 0))
        started = time.perf_counter()
        parser = arbora.Parser(threads=self.threads, **options)
        parser.fit(splits.train, splits.dev)
        seconds = time.perf_counter() - started
        for name in decoders:
            how = _decoder_options(name)
            result = _judge(parser, splits.test, how, seconds)
            self._write(f"{stem}-{name or 'own'}", key, result)
            found[name] = result
            print(f"#   {name or 'own'}: {result.uas:.2f} {result.las:.2f}", flush=True)
        return {name: result for name, result in found.items() if result is not None}

    def _read(self, stem: str) -> Result | None:
        path = self.memory / f"{stem}.npz"
        if not path.exists():
            return None
        with np.load(path) as file:
            figures = json.loads(str(file["figures"]))
            return Result(
                sentence=file["sentence"], heads_right=file["heads_right"],
                both_right=file["both_right"], **figures,
            )  # fmt: skip

    def _write(self, stem: str, key: str, result: Result) -> None:
        figures = {
            name: getattr(result, name)
            for name in ("uas", "las", "dev_uas", "dev_las", "seconds", "card")
        }
        np.savez_compressed(
            self.memory / f"{stem}.npz", figures=json.dumps(figures), key=key,
            sentence=result.sentence, heads_right=result.heads_right, both_right=result.both_right,
        )  # fmt: skip


def _with_gaps(splits: Splits, known: float, seed: int) -> Splits:
    """The splits with each training head kept with the given probability."""
    rng = np.random.default_rng(seed)
    train = [
        sentence.with_tree(np.where(rng.random(len(sentence)) < known, sentence.heads, -1))
        for sentence in splits.train
    ]
    return Splits(train, splits.dev, splits.test)


def _decoder_options(name: str) -> dict[str, str]:
    words = name.split()
    options = {}
    for word in words:
        options["trees" if word in ("projective", "nonprojective") else "decode"] = word
    return options


def _judge(
    parser: arbora.Parser, gold: list[Sentence], how: dict[str, str], seconds: float
) -> Result:
    options = build(ParseOptions, how)
    started = time.perf_counter()
    block = parse_block(parser.decoder(options), read_treebank(gold), options)
    parsing = time.perf_counter() - started
    parsed = list(block)
    rule = rule_for(None, gold[0].format)
    sentence, heads, both = [], [], []
    for i, (right, found) in enumerate(zip(gold, parsed, strict=True)):
        counted = np.ones(len(right), dtype=bool)
        if not rule.everything:
            counted = ~np.array(rule.punctuation(right), dtype=bool)
        same_head = right.heads == found.heads
        labels = zip(right.labels, found.labels, strict=True)
        same_label = np.array([rule.label(a) == rule.label(b) for a, b in labels])
        sentence.append(np.full(int(counted.sum()), i))
        heads.append(same_head[counted])
        both.append((same_head & same_label)[counted])
    heads_right, both_right = np.concatenate(heads), np.concatenate(both)
    assert parser.history is not None
    best = parser.history.passes[parser.history.best - 1]
    card = {k: v for k, v in parser.model.card.items() if k != "history"}
    return Result(
        100 * float(heads_right.mean()), 100 * float(both_right.mean()), best.uas, best.las,
        seconds, np.concatenate(sentence), heads_right, both_right,
        card
        | {
            "temperature": parser.model.temperature,
            "best_pass": parser.history.best,
            "decode_trees": parser.model.decode_trees,
            "certified": float(block.trees.certified.mean()) if parser.model.companion else 1.0,
            "seconds_per_sentence": parsing / len(gold),
        },
    )  # fmt: skip


def paired_p(a: list[Result], b: list[Result], labelled: bool = False) -> float:
    """The p-value of a paired permutation test over the sentences of all test sets: b against a."""
    from arbora.evaluation.significance import permutation_test

    gains = []
    for one, other in zip(a, b, strict=True):
        first = one.both_right if labelled else one.heads_right
        second = other.both_right if labelled else other.heads_right
        gain = np.zeros(int(one.sentence.max()) + 1, dtype=np.int64)
        np.add.at(gain, one.sentence, second.astype(np.int64) - first.astype(np.int64))
        gains.append(gain)
    return permutation_test(np.concatenate(gains), 10_000, np.random.default_rng(0))


Part = Callable[[Experiments, int], None]


def run_parts(description: str, *parts: Part) -> None:
    """The main program of a report: runs the given parts, or all."""
    experiments, arguments = Experiments.from_arguments(description)
    known = {part.__name__: part for part in parts}
    for name in arguments.only or known:
        if name not in known:
            raise SystemExit(f"there is no part {name!r}; the parts are {', '.join(known)}.")
        known[name](experiments, arguments.seeds)
