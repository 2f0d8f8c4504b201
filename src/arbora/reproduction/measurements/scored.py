"""Trained higher-order parsers and the scores of their sentences, for studies of decoding."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Sentence
from arbora.data.treebank import read_treebank
from arbora.errors import ArgumentError
from arbora.evaluation.rules import rule_for
from arbora.inference.dual import DualAnswers, Solver, decode_dual
from arbora.models.decoding import Decoder
from arbora.models.model_file import read_model
from arbora.parsers import Parser
from arbora.reproduction.jobs import GENERATION, Job
from arbora.reproduction.treebanks import Splits
from arbora.scores import Scores
from arbora.types import IntArray, Root, TreeClass

__all__ = ["Scored", "scored", "timed_decode", "trained_parser", "validation_sentences"]


@dataclass(frozen=True)
class Scored:
    """Sentences with the scores of their arcs and parts, one `Scores` per sentence."""

    parts: list[Scores]
    gold: list[IntArray]
    counted: list[NDArray[np.bool_]]  # the words that the evaluation rule counts
    root: Root

    def __len__(self) -> int:
        return len(self.parts)

    def uas(self, found: Sequence[IntArray]) -> float:
        """Right heads among the counted words, in percent."""
        right = [
            (heads == gold)[counted]
            for heads, gold, counted in zip(found, self.gold, self.counted, strict=True)
        ]
        return 100 * float(np.concatenate(right).mean())

    def decode(
        self, solver: Solver, max_iterations: int = 5000, trees: TreeClass = "nonprojective"
    ) -> list[DualAnswers]:
        """The best trees that dual decomposition finds."""
        return [
            decode_dual(parts, trees, self.root, max_iterations, solver) for parts in self.parts
        ]


def trained_parser(
    splits: Splits, job: Job, folder: Path, options: Mapping[str, Any], fingerprint: str = ""
) -> Parser:
    """A parser with these options, trained now or earlier for another job."""
    named = [GENERATION, job.corpus.folder, len(splits.train), dict(options), fingerprint]
    stem = hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:16]
    path = folder / "models" / f"{job.corpus.folder.strip('.') or 'treebank'}-{stem}.arbora"
    if path.exists():
        return Parser.from_model(read_model(path), threads=1)
    parser = Parser(threads=1, **options).fit(splits.train, splits.validation)
    parser.save(path)
    return parser


def validation_sentences(splits: Splits, count: int | None, longest: int = 1000) -> list[Sentence]:
    """Validation sentences up to a length, evenly spread if there are more than `count`."""
    if splits.validation is None:
        raise ArgumentError("this table needs validation data.")
    chosen = [sentence for sentence in splits.validation if len(sentence) <= longest]
    wanted = len(chosen) if count is None else min(count, len(chosen))
    places = np.linspace(0, len(chosen) - 1, wanted).round().astype(int)
    return [chosen[place] for place in places]


def scored(sentences: list[Sentence], parser: Parser, rule_name: str) -> Scored:
    """The scores of a higher-order parser for the given sentences."""
    model = parser.model
    block = read_treebank(sentences)
    encoded, decoder = model.encoder.encode(block), Decoder(model, 1)
    parts = [decoder.score(encoded, np.array([i])).scores for i in range(len(sentences))]
    rule = rule_for(rule_name, "")
    counted = [
        np.ones(len(one), dtype=bool) if rule.everything else ~np.array(rule.punctuation(one))
        for one in sentences
    ]
    gold = [np.asarray(one.heads, dtype=np.int32) for one in sentences]
    return Scored(parts, gold, counted, model.root)


def timed_decode(
    parts: Scores, root: Root, limit: int, solver: Solver
) -> tuple[DualAnswers, float]:
    """The best non-projective tree, and its processor time in seconds."""
    started = time.process_time()
    answer = decode_dual(parts, "nonprojective", root, limit, solver)
    return answer, time.process_time() - started
