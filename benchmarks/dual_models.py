"""Trained models and scored sentences for dual.py.

Models are trained once and kept. The file name depends on all options, so that a model with other
defaults is not reused by mistake.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from experiments import GENERATION, Experiments
from numpy.typing import NDArray

import arbora
from arbora.data import Sentence
from arbora.data.treebank import read_treebank
from arbora.evaluation.rules import rule_for
from arbora.inference.dual import DualAnswers, Solver, decode_dual
from arbora.models.decoding import Decoder
from arbora.scores import Scores
from arbora.types import IntArray, Root, TreeClass

ORDERS = ("sibling", "grandsibling")
EWT = "ud_english_ewt"


@dataclass(frozen=True)
class Scored:
    """Sentences with the scores of their arcs and parts, one `Scores` per sentence."""

    parts: list[Scores]
    gold: list[IntArray]
    counted: list[NDArray[np.bool_]]  # the words that the format's rule counts
    root: Root

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def n_words(self) -> int:
        return sum(len(heads) for heads in self.gold)

    def uas(self, found: Sequence[IntArray]) -> float:
        """Right heads among the counted words, in percent."""
        right = [
            (heads == gold)[counted]
            for heads, gold, counted in zip(found, self.gold, self.counted, strict=True)
        ]
        return 100 * float(np.concatenate(right).mean())

    def whole_right(self, found: Sequence[IntArray]) -> float:
        """Sentences with every counted head right, in percent."""
        right = [
            bool((heads == gold)[counted].all())
            for heads, gold, counted in zip(found, self.gold, self.counted, strict=True)
        ]
        return 100 * float(np.mean(right))

    def decode(
        self, solver: Solver, max_iterations: int = 5000, trees: TreeClass = "nonprojective"
    ) -> list[DualAnswers]:
        return [
            decode_dual(parts, trees, self.root, max_iterations, solver) for parts in self.parts
        ]

    def summary(self) -> str:
        longest = max(len(heads) for heads in self.gold)
        return f"{len(self)} sentences, {self.n_words} words, the longest of {longest}"


@dataclass(frozen=True)
class Study:
    """Treebanks, the folder of models, and the limits of this run."""

    experiments: Experiments
    train: int | None  # number of training sentences; None for all
    sentences: int | None  # number of sentences to measure; None for the default of each part
    images: Path

    def parser(self, treebank: str, train: int | None = None, **options: Any) -> arbora.Parser:
        """A parser with these options, trained now or earlier, on the first `train` sentences.

        Trained against automaton paths, as in Koo et al. (2010), unless options say otherwise.
        """
        options = {"training_inference": "automata", "passes": 15} | options
        limits = [limit for limit in (train, self.train) if limit is not None]
        wanted = min(limits) if limits else None
        threads = self.experiments.threads
        parser = arbora.Parser(threads=threads, labels="none", **options)
        complete = parser.options.keywords()
        key = json.dumps([GENERATION, treebank, wanted, complete], sort_keys=True)
        stem = hashlib.sha256(key.encode()).hexdigest()[:20]
        path = self.experiments.memory / f"{treebank}-{complete['order']}-{stem}.arbora"
        if path.exists():
            return arbora.load(path, threads=threads)
        splits = self.experiments.splits(treebank)
        started = time.perf_counter()
        parser.fit(splits.train[:wanted], splits.dev)
        print(
            f"# {treebank} {options}: trained in {time.perf_counter() - started:.0f} s", flush=True
        )
        parser.save(path)
        return parser

    def dev(
        self, treebank: str, parser: arbora.Parser, count: int | None = None, longest: int = 1000
    ) -> Scored:
        """Dev sentences up to a length, evenly spread if there are more than `count`."""
        held_out = self.experiments.splits(treebank).dev
        if held_out is None:
            raise SystemExit(f"{treebank} has no dev file.")
        chosen = [sentence for sentence in held_out if len(sentence) <= longest]
        limits = [limit for limit in (count, self.sentences) if limit is not None]
        wanted = min([len(chosen), *limits])
        places = np.linspace(0, len(chosen) - 1, wanted).round().astype(int)
        return scored([chosen[place] for place in places], parser)


def scored(sentences: list[Sentence], parser: arbora.Parser) -> Scored:
    """The scores of a higher-order parser for the given sentences."""
    model = parser.model
    block = read_treebank(sentences)
    encoded, decoder = model.encoder.encode(block), Decoder(model, 1)
    parts = [decoder.score(encoded, np.array([i])).scores for i in range(len(sentences))]
    rule = rule_for(None, sentences[0].format)
    counted = [
        np.ones(len(one), dtype=bool) if rule.everything else ~np.array(rule.punctuation(one))
        for one in sentences
    ]
    gold = [np.asarray(one.heads, dtype=np.int32) for one in sentences]
    return Scored(parts, gold, counted, model.root)


def with_random_weights(parser: arbora.Parser, seed: int = 0) -> arbora.Parser:
    """The same features and pruner with random weights."""
    model = parser.model
    size = len(model.scorer.parameters()["weights"])
    weights = np.random.default_rng(seed).normal(size=size).astype(np.float32)
    other = model.with_parameters({"scorer.weights": weights})
    return arbora.Parser.from_model(other, parser.threads)


def timed_decode(
    parts: Scores, root: Root, limit: int, solver: Solver
) -> tuple[DualAnswers, float]:
    """The best non-projective tree, and its time in seconds."""
    started = time.perf_counter()
    answer = decode_dual(parts, "nonprojective", root, limit, solver)
    return answer, time.perf_counter() - started


Part = Callable[[Study], None]


def run_studies(description: str, *parts: Part) -> None:
    """The main program: runs the given parts, or all."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = os.environ.get("ARBORA_TREEBANKS")
    parser.add_argument("--treebanks", type=Path, default=default, required=default is None)
    parser.add_argument("--memory", type=Path, default=Path("build/experiments"))
    parser.add_argument("--threads", type=int, help="for training; decoding is timed on one")
    parser.add_argument("--train", type=int, help="train on the first N sentences")
    parser.add_argument("--sentences", type=int, help="measure at most N sentences")
    parser.add_argument("--images", type=Path, default=Path("docs/images"))
    known = {part.__name__: part for part in parts}
    parser.add_argument("only", nargs="*", help=f"{', '.join(known)} (default: all)")
    chosen = parser.parse_args()
    for name in chosen.only:
        if name not in known:
            parser.error(f"there is no part {name!r}; the parts are {', '.join(known)}.")
    experiments = Experiments(chosen.treebanks, chosen.memory, chosen.threads)
    study = Study(experiments, chosen.train, chosen.sentences, chosen.images)
    for name in chosen.only or known:
        started = time.perf_counter()
        known[name](study)
        print(f"# {name}: {time.perf_counter() - started:.0f} s", flush=True)
