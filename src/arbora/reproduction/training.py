"""One training run of a recipe: fit a parser, then parse the test set with every decoder."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from arbora.data import Sentence
from arbora.data.treebank import read_treebank
from arbora.evaluation.rules import EvaluationRule, rule_for
from arbora.fitting.loop import PassRecord
from arbora.models.output import ParsedBlock, parse_block
from arbora.options import ParseOptions
from arbora.options.build import build
from arbora.parsers import Parser
from arbora.reproduction.treebanks import Splits

__all__ = ["Outcome", "train_and_test"]

Outcome = tuple[dict[str, Any], dict[str, float]]  # what was found, and how long it took


def train_and_test(splits: Splits, settings: Mapping[str, Any], rule: str) -> Outcome:
    """Trains with `settings["options"]` and tests with every one of `settings["decoders"]`.

    A decoder is empty (the parser's own) or words such as "mbr" and "projective". The answer has
    the counts of every test sentence, for paired tests; times are apart, because they differ from
    run to run. They are processor times, so that other work on the machine does not count.
    """
    clock = _PassClock()
    parser = Parser(threads=1, **settings["options"])
    parser.fit(splits.train, splits.validation, observer=clock)
    took = {
        "train_seconds": time.process_time() - clock.started,
        "seconds_per_pass": float(np.median(clock.passes)),
    }
    assert parser.history is not None
    best = parser.history.passes[parser.history.best - 1]
    card = parser.model.card
    found: dict[str, Any] = {
        "dev_uas": best.uas,
        "dev_las": best.las,
        "best_pass": parser.history.best,
        "passes": len(parser.history.passes),
        "decode_trees": parser.model.decode_trees,
        "root": parser.model.root,
        "rate": card.get("rate"),
        "pruning": card.get("pruning"),
        "train_sentences": len(splits.train),
        "train_words": sum(map(len, splits.train)),
        "tests": {},
    }
    for decoder in settings["decoders"]:
        started = time.process_time()
        options = build(ParseOptions, _decoding(decoder))
        block = parse_block(parser.decoder(options), read_treebank(splits.test), options)
        took[f"seconds_per_sentence {decoder}"] = (time.process_time() - started) / len(splits.test)
        found["tests"][decoder] = _judge(
            splits.test, block, rule_for(rule or None, splits.test[0].format)
        )
    return found, took


class _PassClock:
    """An observer of training: the processor time of every pass, with its dev evaluation.

    Passes of pruners and rerankers are left out.
    """

    def __init__(self) -> None:
        self.started = self._last = time.process_time()
        self.passes: list[float] = []
        self._counted = True

    def enter_run(self, name: str) -> None:
        """A run begins: that of the parser itself, or another."""
        self._counted = name in ("parser", "refit")

    def begin(self, sentences: int, passes: int) -> None:  # noqa: ARG002  # as observers have it
        """A phase of passes begins."""
        self._last = time.process_time()

    def tick(self, sentences: int) -> None:
        """Sentences were learnt from."""

    def end_pass(self, record: PassRecord, is_best: bool) -> None:  # noqa: ARG002
        """A pass ends."""
        now = time.process_time()
        if self._counted:
            self.passes.append(now - self._last)
        self._last = now


def _decoding(decoder: str) -> dict[str, str]:
    """The options of parsing that a decoder's name stands for."""
    classes = ("projective", "nonprojective")
    return {"trees" if word in classes else "decode": word for word in decoder.split()}


def _judge(gold: list[Sentence], parsed: ParsedBlock, rule: EvaluationRule) -> dict[str, Any]:
    """Counted words, right heads and right labels of every sentence."""
    words, heads, both = [], [], []
    for right, found in zip(gold, parsed, strict=True):
        counted = right.heads >= 0
        if not rule.everything:
            counted = counted & ~np.array(rule.punctuation(right), dtype=bool)
        labels = zip(right.labels, found.labels, strict=True)
        same_label = np.array([rule.label(a) == rule.label(b) for a, b in labels], dtype=bool)
        same_head = (right.heads == found.heads) & counted
        words.append(int(counted.sum()))
        heads.append(int(same_head.sum()))
        both.append(int((same_head & same_label).sum()))
    certified = parsed.trees.certified
    share = 100.0 * float(np.mean(certified)) if len(certified) else 100.0
    return {"words": words, "heads": heads, "both": both, "certified": share}
