"""Small treebanks, scores and gradients for the tests of training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from arbora import ProjectiveTrees, Sentence, SpanningTrees
from arbora._core import learning as kernels
from arbora.data.treebank import read_treebank
from arbora.features import Encoded, Encoder, FeatureSettings
from arbora.fitting.trainer import Problem
from arbora.fitting.treebank import KeptArcs, Treebank
from arbora.inference.engines import first_order_engine
from arbora.scores import Scores
from arbora.scoring import Batch, LinearScorer

TREEBANK = Path(__file__).parents[1] / "examples" / "treebank"
LABELS = ["root", "nsubj", "obj", "det"]

_FORMS = ["the", "Katze", "sees", "understanding", "a", "Hund", "often", ",", "1984", "überall"]
_UPOS = ["DET", "NOUN", "VERB", "ADJ", "PUNCT"]
_FEATS = ["_", "Case=Nom", "Case=Acc|Number=Sing", "Case=Nom|Number=Plur"]


def random_heads(rng, n_words, trees="nonprojective", root="single"):
    kind = ProjectiveTrees if trees == "projective" else SpanningTrees
    return kind(rng.normal(size=(n_words + 1, n_words + 1)), root=root).argmax().heads.copy()


def toy_sentence(rng, n_words, trees="nonprojective", root="single", missing=0.0):
    """Random words under a random tree, some of its heads missing."""
    heads = random_heads(rng, n_words, trees, root)
    heads[rng.random(n_words) < missing] = -1
    tags = rng.choice(_UPOS, n_words)
    return Sentence.from_words(
        rng.choice(_FORMS, n_words).tolist(), tags.tolist(),
        [f"{tag}{rng.integers(2)}" for tag in tags],
        lemmas=rng.choice(_FORMS, n_words).tolist(), feats=rng.choice(_FEATS, n_words).tolist(),
        heads=heads, labels=rng.choice(LABELS, n_words).tolist(),
    )  # fmt: skip


def toy_sentences(rng, lengths, trees="nonprojective", root="single", missing=0.0):
    return [toy_sentence(rng, n, trees, root, missing) for n in lengths]


def without_heads(sentence, rng, share):
    """The sentence with a given share of its annotation removed."""
    heads = sentence.heads.copy()
    labels = np.array(sentence.labels, dtype=object)
    gone = rng.random(len(heads)) < share
    heads[gone], labels[gone] = -1, "_"
    return Sentence.from_words(
        sentence.forms, sentence.upos, sentence.xpos, lemmas=sentence.lemmas,
        feats=sentence.feats, heads=heads, labels=labels.tolist(),
    )  # fmt: skip


def toy_treebank(sentences, templates="rich"):
    block = read_treebank(sentences)
    settings = FeatureSettings.for_training(templates, block)
    return settings, Treebank.from_block(block, Encoder(settings), LABELS)


def toy_problem(
    sentences, *, trees="nonprojective", root="single", templates="mcdonald2005", bits=8,
    outcomes=None, width=1, threads=1,
):  # fmt: skip
    settings, treebank = toy_treebank(sentences, templates)
    width = len(LABELS) if outcomes == "label" else width
    scorer = LinearScorer(
        settings, bits, outcomes=outcomes, row_bits=4, width=width, threads=threads
    )
    engine = first_order_engine(trees, root, threads)
    return Problem(scorer, treebank, engine, outcomes in ("edge", "token"))


def toy_part_problem(sentences, kinds, rng=None, *, trees="projective", root="single", bits=8):
    """Parts over all arcs, or with `rng` over some, the gold trees and a chain among them."""
    settings, treebank = toy_treebank(sentences)
    kept = KeptArcs(treebank.encoded.n_words)
    for i, n in enumerate(treebank.encoded.n_words.tolist()):
        mask = (
            np.ones((n + 1, n + 1), dtype=bool) if rng is None else rng.random((n + 1,) * 2) < 0.7
        )
        mask[np.arange(n), np.arange(1, n + 1)] = True
        mask[treebank.heads_of(i), np.arange(1, n + 1)] = True
        mask[:, 0] = False
        np.fill_diagonal(mask, False)
        kept.put(np.array([i]), mask.astype(np.uint8).reshape(-1))
    scorer = LinearScorer(settings, bits, kinds=kinds)
    return Problem(scorer, replace(treebank, kept=kept), first_order_engine(trees, root))


def encode(sentences, templates="rich", settings=None, clusters=None):
    block = read_treebank(sentences)
    settings = settings or FeatureSettings.for_training(templates, block)
    return settings, Encoded(block, settings, clusters)


def batch_of(encoded, sentences=None, **known):
    """Some sentences, by default all."""
    return Batch(encoded, np.arange(len(encoded)) if sentences is None else sentences, **known)


def scored(scorer, weights, batch, scale=1.0):
    """The scores of a batch under given weights."""
    other = scorer.with_parameters({"weights": weights})
    other.scale = scale
    return other.scores(batch)[0]


def random_weights(rng, scorer, scale=1.0):
    return rng.normal(scale=scale, size=scorer.size)


def everything(encoded):
    return np.arange(len(encoded))


def dense(gradient, size, threads=1):
    """A sparse gradient as a dense array."""
    answer = np.zeros(size)
    kernels.add_gradient(gradient, answer, threads)
    return answer


def pulled_back(scorer, batch, d_scores):
    """The sparse gradient of sum(d_scores * scores); flat numbers are those of arcs."""
    scorer = scorer.with_parameters({"weights": np.zeros(scorer.size)})
    scores, pullback = scorer.scores(batch)
    return pullback(d_scores if isinstance(d_scores, Scores) else scores.with_values(d_scores))


def dense_gradient(scorer, batch, d_scores):
    return dense(pulled_back(scorer, batch, d_scores), scorer.size, scorer.threads)


def feature_matrix(scorer, encoded, sentence):
    """One row per cell of a sentence: its features as a dense vector, one arc at a time."""
    one = batch_of(encoded, np.array([sentence]))
    possible = np.isfinite(scored(scorer, np.zeros(scorer.size), one).arcs)
    rows = np.zeros((len(possible), scorer.size))
    for cell in np.flatnonzero(possible):
        unit = np.zeros(len(possible))
        unit[cell] = 1.0
        rows[cell] = dense_gradient(scorer, one, unit)
    return rows
