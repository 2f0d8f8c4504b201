"""What must not change, or change in step."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import SpanningTrees
from tests.helpers import random_scores


@pytest.mark.parametrize("size", [1.0, 100.0, 1e6])
def test_shifting_a_column(kind, root, size, rng):
    scores = random_scores(rng, 12, 3.0, 0.2)
    shift = np.concatenate([[0.0], np.round(rng.normal(size=12) * size)])
    before, after = kind(scores, root), kind(scores + shift, root)
    tolerance = 1e-14 * 12 * size + 1e-12
    assert abs(after.log_partition - before.log_partition - shift.sum()) < tolerance
    # The shifted scores themselves are rounded to size * 1e-16.
    assert np.abs(after.marginals - before.marginals).max() < 1e-15 * size + 1e-12
    assert after.argmax() == before.argmax()


def test_padding_with_words_that_nothing_touches(kind, root, rng):
    """A padded batch gives what the sentences give by themselves, whatever the padding holds."""
    sizes = [1, 4, 9]
    sentences = [random_scores(rng, n, 2.0, 0.2) for n in sizes]
    padded = np.full((3, 12, 12), np.nan)
    for i, scores in enumerate(sentences):
        padded[i, : len(scores), : len(scores)] = scores
    batch = kind.batch(padded, root, lengths=sizes)
    for i, scores in enumerate(sentences):
        alone = kind(scores, root)
        assert batch.log_partition[i] == alone.log_partition
        assert (batch.marginals[i] == alone.marginals).all()
        assert batch.argmax()[i] == alone.argmax()


def test_appending_a_word_that_hangs_on_the_last(kind, root, rng):
    """One more word with a single possible head, and no modifiers, changes nothing else."""
    scores = random_scores(rng, 7, 2.0)
    longer = np.full((9, 9), -np.inf)
    longer[:8, :8] = scores
    longer[7, 8] = 1.25
    before, after = kind(scores, root), kind(longer, root)
    assert after.log_partition == pytest.approx(before.log_partition + 1.25, abs=1e-12)
    assert np.abs(after.marginals[:8, :8] - before.marginals).max() < 1e-13
    assert after.marginals[7, 8] == pytest.approx(1.0, abs=1e-14)


def test_permuting_words(root, rng):
    scores = random_scores(rng, 10, 3.0, 0.2)
    order = np.concatenate([[0], 1 + rng.permutation(10)])
    before = SpanningTrees(scores, root)
    after = SpanningTrees(scores[np.ix_(order, order)], root)
    assert after.log_partition == pytest.approx(before.log_partition, rel=1e-13)
    assert np.abs(after.marginals - before.marginals[np.ix_(order, order)]).max() < 1e-13
    assert after.argmax().score == pytest.approx(before.argmax().score, rel=1e-13)


def test_mirror_image(kind, root, rng):
    """Reading the sentence backwards mirrors the distribution."""
    scores = random_scores(rng, 9, 2.0)
    order = np.concatenate([[0], np.arange(9, 0, -1)])
    before, after = kind(scores, root), kind(scores[np.ix_(order, order)], root)
    assert after.log_partition == pytest.approx(before.log_partition, rel=1e-13)
    assert np.abs(after.marginals - before.marginals[np.ix_(order, order)]).max() < 1e-13


def test_diagonal_and_column_zero_are_never_read(kind, root, rng):
    scores = random_scores(rng, 6)
    expected = kind(scores, root)
    for junk in (np.nan, np.inf, 1e300, -np.inf):
        scores[np.arange(7), np.arange(7)] = junk
        scores[:, 0] = junk
        trees = kind(scores, root)
        assert trees.log_partition == expected.log_partition
        assert (trees.marginals == expected.marginals).all()
        assert trees.kbest(5) == expected.kbest(5)


def test_orientation():
    """Rows are heads and columns modifiers: on an asymmetric example by hand."""
    scores = np.full((4, 4), -np.inf)
    scores[0, 2] = 1.0  # root -> 2
    scores[2, 1] = 2.0  # 2 -> 1
    scores[1, 3] = 3.0  # 1 -> 3
    scores[2, 3] = 2.0  # 2 -> 3
    trees = SpanningTrees(scores)
    assert trees.argmax().heads.tolist() == [2, 0, 1]
    assert trees.log_partition == pytest.approx(np.logaddexp(6.0, 5.0))
    assert trees.marginals[1, 3] == pytest.approx(1 / (1 + np.exp(-1)))


def test_projective_is_a_subset(root, rng):
    from arbora import ProjectiveTrees

    scores = random_scores(rng, 15, 2.0)
    assert ProjectiveTrees(scores, root).log_partition < SpanningTrees(scores, root).log_partition


def test_input_is_copied_and_answers_are_read_only(kind, root, rng):
    scores = random_scores(rng, 5)
    trees = kind(scores, root)
    before = trees.log_partition
    scores[:] = 0.0
    assert kind(trees.scores, root).log_partition == before
    for answer in (trees.marginals, trees.vjp(scores), trees.scores, trees.argmax().heads):
        with pytest.raises(ValueError, match="read-only"):
            answer[0] = 1
