"""Training of lemmatisers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._core import tagging as kernels
from arbora.data import Block
from arbora.errors import ArgumentError
from arbora.options import LemmatiserOptions
from arbora.tagging.lemmatiser import Lemmatiser

__all__ = ["train_lemmatiser"]

# Called after every pass: its number (from 1), the loss per example, and the accuracy on dev in
# percent, or None without dev.
Progress = Callable[[int, float, float | None], object]

_FOLDS = 10  # what is known of a word's lemmas comes from the other folds
_BATCH = 32  # examples
_LARGEST = 60000.0  # weights are stored as float16
_LEMMA = 2


def train_lemmatiser(
    train: Block,
    dev: Block | None = None,
    options: LemmatiserOptions | None = None,
    progress: Progress | None = None,
) -> Lemmatiser:
    """A lemmatiser for the lemmas, UPOS and FEATS of `train`; words without a lemma are skipped.

    It maximises the conditional likelihood of the lemmas with an L2 regulariser by AdaGrad, and
    averages the weights. Of a word form that occurs n times, the weight is the root of n. With
    `dev`, the pass with most correct lemmas is kept.
    """
    options = options or LemmatiserOptions()
    trainer = kernels.LemmaTrainer(train, _FOLDS, options.bits)
    if not len(trainer):
        raise ArgumentError("the treebank has no lemmas; a lemmatiser learns from lemmas.")
    tensors = _knowledge(trainer)
    random = np.random.default_rng(options.seed)
    decay = options.regularization * _BATCH / len(trainer)
    best, kept = -1.0, None
    for number in range(1, options.passes + 1):
        order = random.permutation(len(trainer)).astype(np.int64)
        loss = trainer.learn(order, _BATCH, options.rate, decay)
        weights = np.clip(trainer.average(), -_LARGEST, _LARGEST).astype(np.float16)
        made = Lemmatiser({"bits": options.bits}, {**tensors, "weights": weights})
        accuracy = None if dev is None else _accuracy(made, dev)
        if kept is None or accuracy is None or accuracy > best:
            best, kept = accuracy or 0.0, made
        if progress is not None:
            progress(number, loss / len(trainer), accuracy)
    assert kept is not None
    return kept


def _knowledge(trainer: kernels.LemmaTrainer) -> dict[str, NDArray[Any]]:
    """The tensors besides the weights."""
    text = "\n".join("\t".join(map(str, rule)) for rule in trainer.rules())
    keys, ends, rules, counts = trainer.memory()
    return {
        "rules": np.frombuffer(text.encode(), dtype=np.uint8),
        "pairs": trainer.pairs(), "known": trainer.known(), "memory.keys": keys,
        "memory.ends": ends, "memory.rules": rules, "memory.counts": counts,
    }  # fmt: skip


def _accuracy(lemmatiser: Lemmatiser, dev: Block) -> float:
    """Percent of dev words with the right lemma, given the tags of dev."""
    found = lemmatiser(dev, relemmatise=True)
    right = sum(
        gold == lemma
        for i in range(len(dev))
        for gold, lemma in zip(dev.column(i, _LEMMA), found.column(i, _LEMMA), strict=True)
    )
    return 100.0 * right / max(1, int(dev.total_words))
