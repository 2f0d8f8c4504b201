"""Small treebanks, and what is learnt from them, for the tests of learning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from arbora.training.trainer import ArcProblem
from arbora.training.treebank import Treebank

from arbora import ProjectiveTrees, Sentence, SpanningTrees
from arbora._core import learning as kernels
from arbora.data.whole import read_whole
from arbora.features import Encoded, FeatureSettings
from arbora.scoring import ArcScorer, Gradient

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
    """The sentence as if so large a share of it had not been annotated."""
    heads = sentence.heads.copy()
    labels = np.array(sentence.labels, dtype=object)
    gone = rng.random(len(heads)) < share
    heads[gone], labels[gone] = -1, "_"
    return Sentence.from_words(
        sentence.forms, sentence.upos, sentence.xpos, lemmas=sentence.lemmas,
        feats=sentence.feats, heads=heads, labels=labels.tolist(),
    )  # fmt: skip


def toy_treebank(sentences, templates="rich"):
    block = read_whole(sentences)
    settings = FeatureSettings.for_training(templates, block)
    return settings, Treebank.from_block(block, settings, LABELS)


def toy_problem(
    sentences, *, trees="nonprojective", root="single", templates="mcdonald2005", bits=8,
    outcomes=None, width=1, threads=1,
):  # fmt: skip
    settings, treebank = toy_treebank(sentences, templates)
    width = len(LABELS) if outcomes == "label" else width
    scorer = ArcScorer(settings, bits, outcomes=outcomes, row_bits=4, width=width, threads=threads)
    return ArcProblem(scorer, treebank, trees, root, outcomes in ("edge", "token"))


def encode(sentences, templates="rich", settings=None, clusters=None):
    block = read_whole(sentences)
    settings = settings or FeatureSettings.for_training(templates, block)
    return settings, Encoded(block, settings, clusters)


def everything(encoded):
    return np.arange(len(encoded))


def dense(gradient, size, threads=1):
    """What a sparse gradient adds up to."""
    answer = np.zeros(size)
    kernels.add_gradient(gradient, answer, threads)
    return answer


def dense_gradient(scorer, encoded, d_scores, sentences=None):
    gradient = Gradient(scorer.size)
    chosen = everything(encoded) if sentences is None else sentences
    scorer.expand(gradient, encoded, chosen, d_scores)
    return dense(gradient, scorer.size, scorer.threads)


def feature_matrix(scorer, encoded, sentence):
    """One row per cell of a sentence: its features as a dense vector, one arc at a time."""
    one = np.array([sentence])
    possible = np.isfinite(scorer.scores(np.zeros(scorer.size), encoded, one))
    rows = np.zeros((len(possible), scorer.size))
    for cell in np.flatnonzero(possible):
        unit = np.zeros(len(possible))
        unit[cell] = 1.0
        rows[cell] = dense_gradient(scorer, encoded, unit, one)
    return rows
