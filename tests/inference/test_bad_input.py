"""Impossible input: one sentence that names the cell or the word, never NaN."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import (
    ArboraError,
    ArgumentError,
    ConstraintError,
    NoTreeError,
    ScoreError,
    ShapeError,
    SpanningTrees,
    TooLargeError,
)


def zeros(n_words=3):
    return np.zeros((n_words + 1, n_words + 1))


def changed(value, *cells, n_words=3):
    scores = zeros(n_words)
    for cell in cells:
        scores[cell] = value
    return scores


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        (changed(np.nan, (2, 3)), ScoreError, r"scores\[2, 3\] is NaN"),
        (changed(np.inf, (0, 1)), ScoreError, r"scores\[0, 1\] is \+inf"),
        (changed(-1e38, (1, 2)), ScoreError, r"scores\[1, 2\] is beyond 1e\+14 .* use -inf"),
        (np.zeros((3, 4)), ShapeError, r"must have shape \(n\+1, n\+1\)"),
        (np.zeros(4), ShapeError, r"must have shape \(n\+1, n\+1\)"),
        (np.zeros((1, 1)), ShapeError, "at least one word"),
        (np.zeros((0, 0)), ShapeError, "at least one word"),
        (np.zeros((3, 3, 0)), ShapeError, "at least one label"),
        (np.full((3, 3), "a"), ShapeError, "must be real numbers"),
        (np.zeros((3, 3), dtype=complex), ShapeError, "must be real numbers"),
        ([[0, 1], [2]], ShapeError, "cannot be read as an array"),
        (changed(-np.inf, (slice(None), 2)), NoTreeError, "word 2 has no possible head"),
        (
            changed(-np.inf, (0, 2), (0, 3), (1, 2), (1, 3)),
            NoTreeError,
            "word 2 cannot be reached from the root",
        ),
    ],
)
def test_scores(kind, root, scores, error, message):
    with pytest.raises(error, match=message):
        kind(scores, root)


def test_labelled_cell_is_named(kind):
    scores = np.zeros((3, 3, 4))
    scores[0, 2, 3] = np.nan
    with pytest.raises(ScoreError, match=r"scores\[0, 2, 3\] is NaN"):
        kind(scores)


def test_no_root(kind):
    scores = zeros()
    scores[0] = -np.inf
    with pytest.raises(NoTreeError, match="word 1 cannot be reached from the root"):
        kind(scores)


def test_second_root_needed(kind):
    scores = np.full((4, 4), -np.inf)
    scores[0, 1:] = 0.0
    scores[1, 2] = 0.0
    with pytest.raises(NoTreeError, match="word 3 can only be reached over a second root arc") as e:
        kind(scores)
    assert e.value.word == 3
    assert np.isfinite(kind(scores, "multi").log_partition)


def test_only_crossing_trees(root):
    from arbora import ProjectiveTrees

    scores = np.full((5, 5), -np.inf)
    scores[0, 3] = scores[3, 1] = scores[3, 4] = scores[4, 2] = 0.0
    assert SpanningTrees(scores, root).argmax().heads.tolist() == [3, 4, 0, 3]
    with pytest.raises(NoTreeError, match="crossing arcs: allow another head for word") as error:
        ProjectiveTrees(scores, root)
    freed = scores.copy()
    freed[:, error.value.word] = 0.0
    ProjectiveTrees(freed, root)


@pytest.mark.parametrize("value", ["double", None, True])
def test_root(kind, value):
    with pytest.raises(ArgumentError, match="root must be 'single' or 'multi'"):
        kind(zeros(), root=value)


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None, True])
def test_counts(kind, k):
    trees = kind(zeros())
    for question in (trees.kbest, trees.sample):
        with pytest.raises(ArgumentError, match="k must be a whole number of at least 1"):
            question(k)


def test_counts_beyond_all_measure(kind, monkeypatch):
    from arbora.inference import packed

    with pytest.raises(ArgumentError, match=r"k must be less than 2\*\*31"):
        kind(zeros()).kbest(2**63)
    monkeypatch.setattr(packed, "physical_memory", lambda: 10**9)
    with pytest.raises(TooLargeError, match=r"100000000 draws of 3 words need 2.4 GB"):
        kind(zeros()).sample(10**8)
    with pytest.raises(TooLargeError, match=r"the scores take 72.0 GB"):
        kind(np.broadcast_to(0.0, (3000, 3000, 1000)))


def test_seed(kind):
    with pytest.raises(ArgumentError, match="seed must be a whole number"):
        kind(zeros()).sample(1, seed=-1)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([0, 1], "one number per word, 3 in all"),
        ([0, 1, 4], "the head of word 3 is 4"),
        ([0, -1, 1], "the head of word 2 is -1"),
        ([0.0, 1.0, 1.0], "must be integers"),
    ],
)
def test_heads(kind, heads, message):
    with pytest.raises(ShapeError, match=message):
        kind(zeros()).log_prob(heads)


def test_labels(kind):
    with pytest.raises(ShapeError, match="labels are given, but the scores have none"):
        kind(zeros()).log_prob([0, 1, 1], [0, 0, 0])
    trees = kind(np.zeros((3, 3, 2)))
    with pytest.raises(ShapeError, match="the label of word 2 is 2"):
        trees.log_prob([0, 1], [0, 2])
    with pytest.raises(ShapeError, match="same shape as heads"):
        trees.log_prob([0, 1], [0])


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"required": [(1, 2), (2, 3), (3, 1)]}, "form a cycle"),
        ({"required": [(1, 2), (3, 2)]}, "required gives word 2 two heads, 1 and 3"),
        ({"required": [(1, 2)], "forbidden": [(1, 2)]}, "both required and forbidden"),
        ({"required": [(0, 1), (0, 2)]}, "words 1 and 2 are both required to be roots"),
        ({"required": [(4, 1)]}, "there is no head 4, only 0 to 3"),
        ({"required": [(1, 0)]}, "there is no word 0, only 1 to 3"),
        ({"forbidden": [(1, 7)]}, "there is no word 7"),
        ({"required": [(2, 2)]}, "word 2 cannot be its own head"),
        ({"required": [(1, 2, 0)]}, "has a label, but the scores have none"),
        ({"required": [3]}, "must be"),
        ({"required": None}, "required must be a list of arcs"),
        ({"forbidden": 5}, "forbidden must be a list of arcs"),
        ({"forbidden": [(1.5, 2)]}, "all integers"),
    ],
)
def test_constraints(kind, constraints, message):
    with pytest.raises(ConstraintError, match=message):
        kind(zeros()).constrain(**constraints)


def test_constraints_that_leave_no_tree(kind, root):
    with pytest.raises(NoTreeError, match="word 2 has no possible head"):
        kind(zeros(), root).constrain(forbidden=[(h, 2) for h in (0, 1, 3)])
    scores = changed(-np.inf, (1, 2))
    with pytest.raises(ConstraintError, match="its score is -inf"):
        kind(scores, root).constrain(required=[(1, 2)])


def test_labelled_constraints(kind, root, rng):
    scores = rng.normal(size=(4, 4, 3))
    trees = kind(scores, root).constrain(required=[(2, 1, 2)], forbidden=[(0, 2, 1), (3, 2)])
    tree = trees.argmax()
    assert (tree.heads[0], tree.labels[0]) == (2, 2)
    assert trees.marginals[0, 2, 1] == 0
    assert (trees.marginals[3, 2] == 0).all()
    with pytest.raises(ConstraintError, match="there is no label 3, only 0 to 2"):
        trees.constrain(required=[(2, 1, 3)])
    with pytest.raises(ConstraintError, match="two labels, 2 and 1"):
        trees.constrain(required=[(2, 1, 2), (2, 1, 1)])


def test_values(kind):
    trees = kind(zeros())
    with pytest.raises(ShapeError, match="values must have the shape of the scores"):
        trees.expect(np.zeros((3, 3)))
    for value in (np.nan, np.inf, 1e300):
        with pytest.raises(ShapeError, match=r"d_marginals\[1, 2\] is .*: it must be a finite"):
            trees.vjp(changed(value, (1, 2)))


def test_comparisons(kind, rng):
    trees = kind(zeros())
    with pytest.raises(ShapeError, match="same words and labels"):
        trees.kl(kind(zeros(4)))
    with pytest.raises(ArgumentError, match="not a first-order distribution over trees"):
        trees.cross_entropy(rng)
    with pytest.raises(ArgumentError, match="same root"):
        trees * kind(zeros(), "multi")
    with pytest.raises(TypeError):
        trees * 2


def test_greedy_and_pairs(kind):
    with pytest.raises(ArgumentError, match="by must be 'score' or 'marginal'"):
        kind(zeros()).greedy("luck")
    with pytest.raises(ConstraintError, match="there is no word 9"):
        kind(zeros()).pair_marginal((0, 1), (1, 9))
    with pytest.raises(ConstraintError, match="must be"):
        kind(zeros()).pair_marginal(0, 1)
    assert kind(changed(-np.inf, (1, 2))).pair_marginal((1, 2), (0, 1)) == 0.0
    with pytest.raises(ArgumentError, match="by must be"):
        kind(zeros()).greedy(np.array(["score", "marginal"]))


def test_masked_arrays(kind):
    with pytest.raises(ShapeError, match="must not be a masked array"):
        kind(np.ma.masked_less(zeros(), 0))


def test_every_error_is_an_arbora_error_and_a_value_error():
    import arbora.errors

    for name in arbora.errors.__all__:
        if name.endswith("Error"):  # the others are warnings, or word what several of them say
            assert issubclass(getattr(arbora.errors, name), ArboraError)
    assert issubclass(ArboraError, ValueError)


def test_memory_need_is_stated(kind, monkeypatch):
    """Refused before anything is allocated, with the figure."""
    from arbora.inference import packed

    trees = kind(zeros(4))
    huge = trees._packed.select([0])
    huge.longest = 10**6
    monkeypatch.setattr(packed, "physical_memory", lambda: 24 * 10**9)
    with pytest.raises(TooLargeError, match=r"1000000 words needs about \d+\.\d GB .* has 24.0 GB"):
        huge.sums(marginals=True)


def test_transposed_scores_are_recognised(kind, root):
    scores = zeros(3)
    scores[:, 0] = -np.inf
    with pytest.raises(NoTreeError, match=r"all of scores\[0\] is -inf: .* transposed\?"):
        kind(scores.T, root)


@pytest.mark.parametrize(
    ("shape", "guess"),
    [
        ((5, 4, 4), r"use \.batch"),
        ((5, 4, 4, 2), r"use \.batch"),
        ((3, 4), r"row of the root, scores\[0\], missing"),
        ((4, 3), "column of the root"),
    ],
)
def test_wrong_shapes_are_guessed(kind, shape, guess):
    with pytest.raises(ShapeError, match=guess):
        kind(np.zeros(shape))
