"""A small network and sentences with all columns, for the tests of the neural scorer."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.data import Block
from arbora.features import Encoder, FeatureSettings
from arbora.neural import NeuralScorer, NeuralVocabulary, Sizes
from arbora.scoring import Batch

torch_or_skip = pytest.importorskip("torch", reason="PyTorch is not installed")

HEADS = [[2, 0, 2], [0], [2, 0, 4, 2, 2]]
LABELS = [["subj", "root", "obj"], ["root"], ["subj", "root", "det", "obj", "punct"]]
NAMES = sorted({label for labels in LABELS for label in labels})
ALL_KINDS = ("consecutive_siblings", "siblings", "grandparents", "grandsiblings", "head_bigrams")


def small_block():
    """Sentences of 3, 1 and 5 words, with an unknown form and several FEATS."""
    return Block.from_columns(
        [["Dogs", "see", "cats"], ["Go"], ["Cats", "see", "the", "big-dogs", "!"]],
        lemmas=[["dog", "see", "cat"], ["go"], ["cat", "see", "the", "dog", "!"]],
        upos=[["N", "V", "N"], ["V"], ["N", "V", "D", "N", "P"]],
        xpos=[["NN", "VB", "NN"], ["VB"], ["NN", "VB", "DT", "NN", "."]],
        feats=[["Num=Pl|Case=Nom", "_", "Num=Pl"], ["Mood=Imp"], ["Num=Pl", "_", "_", "Num=Pl",
                                                                   "_"]],
        heads=HEADS, labels=LABELS,
    )  # fmt: skip


def small_scorer(block, *, labels=None, joint=False, kinds=(), dtype=np.float64, dropout=0.0):
    labels = len(NAMES) if labels is None else labels
    settings = FeatureSettings.for_training("rich", block)
    vocabulary = NeuralVocabulary.of_block(block, settings)
    sizes = Sizes(
        width=4, layers=2, arc_width=3, label_width=2, rank=3, n_labels=labels, joint=joint,
        kinds=kinds,
    )  # fmt: skip
    scorer = NeuralScorer.untrained(sizes, vocabulary, dropout=dropout, seed=1, threads=1)
    rng = np.random.default_rng(5)
    random = {
        # Zeros at the start would hide mistakes of what they multiply.
        name: np.asarray(values + rng.normal(0.0, 0.3, values.shape), dtype=dtype)
        for name, values in scorer.parameters().items()
    }
    return scorer.with_parameters(random)


def small_batch(block, *, annotated=True, kept=False, noise=None):
    encoded = Encoder(FeatureSettings.for_training("rich", block)).encode(block)
    sentences = np.array([0, 2, 1])
    sizes = (encoded.n_words[sentences] + 1) ** 2
    mask = np.ones(int(sizes.sum()), dtype=np.uint8)
    mask[1::7] = 0  # some arcs are pruned
    heads = np.concatenate([HEADS[i] for i in sentences]).astype(np.int32)
    labels = np.array([NAMES.index(name) for i in sentences for name in LABELS[i]], dtype=np.int32)
    return Batch(
        encoded, sentences, heads if annotated else heads[:0], labels if annotated else labels[:0],
        mask if kept else mask[:0], noise,
    )  # fmt: skip
