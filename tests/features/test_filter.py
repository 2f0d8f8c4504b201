"""The filter of arcs keeps what it must: gold trees, and some tree of every class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora import ProjectiveTrees, Sentence, SpanningTrees
from arbora.features import learn_arc_filter
from arbora.scoring import LinearScorer
from tests.toys import batch_of, encode, random_heads, scored, toy_sentences

TAGS = ["A", "B", "C", "D"]


def filtered(feature_settings, lengths, encoded, sentence=0, keep=None):
    """Scores of one sentence under zero weights: 0 where an arc is kept."""
    scorer = LinearScorer(feature_settings, 8, arc_filter=lengths)
    known = {} if keep is None else {"heads": keep}
    batch = batch_of(encoded, np.array([sentence]), **known)
    return scored(scorer, np.zeros(scorer.size), batch).arcs_of(0)


def tagged(tags, heads=None):
    return Sentence.from_words(["w"] * len(tags), list(tags), heads=heads)


def test_every_training_tree_passes(rng):
    sentences = toy_sentences(rng, rng.integers(1, 12, 30).tolist(), root="multi")
    features, encoded = encode(sentences)
    lengths = learn_arc_filter(encoded, np.concatenate([s.heads for s in sentences]))
    for i, sentence in enumerate(sentences):
        kept = filtered(features, lengths, encoded, i)
        assert (kept[sentence.heads, np.arange(1, len(sentence.forms) + 1)] == 0.0).all()


def test_what_is_never_seen_is_dropped():
    features, encoded = encode([tagged("AB", [2, 0]), tagged("AAAB", [2, 3, 4, 0])])
    lengths = learn_arc_filter(encoded, np.array([2, 0, 2, 3, 4, 0], dtype=np.int32))
    kept = filtered(features, lengths, encoded, 1) == 0.0
    assert kept[4, 3]  # B over A to its left, one word away
    assert not kept[4, 1]  # three words away
    assert not kept[0, 2]  # A was never a root; word 1 keeps the chain's
    assert kept[0, 1]
    assert kept[0, 4]


def test_lengths_at_the_bound():
    learn = tagged("ABBBA", [0, 1, 2, 3, 1])  # A over A, four words to the right
    features, encoded = encode([learn, tagged("ABBBABA"), tagged("ABBBBA")])
    lengths = learn_arc_filter(encode([learn])[1], learn.heads)
    kept = filtered(features, lengths, encoded, 1) == 0.0
    assert kept[1, 5]
    assert kept[5, 7]
    assert not kept[1, 7]
    assert not kept[5, 1]  # the other direction
    longer = filtered(features, lengths, encoded, 2) == 0.0
    assert not longer[1, 6]  # one word more than ever seen


@settings(max_examples=60)
@given(st.data())
def test_no_sentence_is_left_without_a_tree(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    learn = [tagged(rng.choice(TAGS, n)) for n in rng.integers(1, 6, 3)]
    heads = np.concatenate([random_heads(rng, len(s.forms), root="multi") for s in learn])
    heads[rng.random(len(heads)) < data.draw(st.sampled_from([0.0, 0.5]))] = -1
    features, encoded = encode([*learn, tagged(rng.choice([*TAGS, "E"], rng.integers(1, 40)))])
    lengths = learn_arc_filter(encode(learn, settings=features)[1], heads)
    kept = filtered(features, lengths, encoded, len(learn))
    for kind in (SpanningTrees, ProjectiveTrees):
        for root in ("single", "multi"):
            assert np.isfinite(kind(kept, root=root).argmax().score)


@pytest.mark.parametrize("annotated", [False, True])
def test_tags_without_an_annotated_head_prune_nothing(annotated):
    """A tag that was only seen on words without a head is as good as unseen."""
    learn = tagged("AXA", [0, 1 if annotated else -1, 1])
    features, encoded = encode([learn, tagged("AAXAA")])
    lengths = learn_arc_filter(encode([learn])[1], learn.heads)
    kept = filtered(features, lengths, encoded, 1) == 0.0
    assert kept[2, 3]
    if annotated:
        assert not kept[5, 3]
        assert not kept[3, 1]
    else:
        assert kept[[0, 1, 4, 5], 3].all()
        assert kept[3, [1, 2, 4, 5]].all()


def test_unseen_tags_prune_nothing_whatever_their_hash():
    """Many seen pairs fill the table; no unseen tag may be mistaken for a seen one too often."""
    seen = [f"T{i}" for i in range(100)]
    learn = [tagged([a, b], [0, 1]) for a in seen for b in seen[:40]]
    unseen = [f"U{i}" for i in range(200)]
    features, encoded = encode([tagged([*unseen])])
    heads = np.concatenate([s.heads for s in learn])
    lengths = learn_arc_filter(encode(learn, settings=features)[1], heads)
    kept = filtered(features, lengths, encoded)[1:, 1:] == 0.0
    # 100 marks in 2^15 places: 200 tags meet one about 0.6 times, each losing a column and a row.
    assert kept.sum() >= 200 * 199 - 4 * 400


def test_unknown_heads_are_not_filtered_in_training():
    """The chain that the filter keeps may make a cycle with known heads, so it is not enough."""
    learn = [tagged("AB", [0, 1])] * 3
    features, encoded = encode([tagged("AAB", [-1, 3, -1])])
    lengths = learn_arc_filter(
        encode(learn, settings=features)[1], np.array([0, 1] * 3, dtype=np.int32)
    )
    heads = np.array([-1, 3, -1], dtype=np.int32)
    kept = filtered(features, lengths, encoded, keep=heads) == 0.0
    assert kept[3, 2]
    assert kept[[0, 1, 2], 3].all()
    constrained = np.where(kept, 0.0, -np.inf)
    constrained[:, 2] = -np.inf
    constrained[3, 2] = 0.0
    assert SpanningTrees(constrained).argmax().heads[1] == 3


def test_learning_widens_a_given_filter(rng):
    sentences = toy_sentences(rng, [6, 7, 8])
    features, encoded = encode(sentences)
    heads = np.concatenate([s.heads for s in sentences])
    whole = learn_arc_filter(encoded, heads)
    parts = None
    for sentence in sentences:
        parts = learn_arc_filter(encode([sentence], settings=features)[1], sentence.heads, parts)
    assert whole.tobytes() == parts.tobytes()
