"""Many sentences of second order at once, and long ones."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import NoTreeError, Parts, SecondOrderTrees, TooLargeError
from arbora.inference import PackedSecondOrder, packed_second_order
from arbora.scores import Scores
from arbora.testing import count_trees, random_parts
from tests.helpers import random_scores

KINDS = ("consecutive_siblings", "grandparents", "grandsiblings")


@pytest.mark.parametrize("n_words", [1, 6, 12])
def test_counts_of_trees(kinds, root, n_words):
    arcs = np.zeros((n_words + 1) ** 2)
    packed = Scores.over(arcs, np.array([n_words]), kinds)
    count = np.exp(PackedSecondOrder(packed, root).log_partition()[0])
    assert count == pytest.approx(count_trees(n_words, "projective", root), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_thirty_words_unpruned(kinds, root, scale, rng):
    arcs = scale * rng.normal(size=31 * 31)
    packed = Scores.over(arcs, np.array([30]), kinds)
    for table in packed.tables.values():
        table[:] = scale * rng.normal(size=len(table))
    trees = PackedSecondOrder(packed, root)
    sums = trees.sums()
    marginals = sums.marginals.arcs.reshape(31, 31)
    assert np.abs(marginals[:, 1:].sum(axis=0) - 1).max() < 1e-9
    heads, scores = trees.argmax()
    assert scores[0] <= sums.log_partition[0] * (1 + 1e-12)
    best, ranked, _ = trees.kbest(3)
    assert (best[:30] == heads).all()
    assert (np.diff(ranked) <= 0).all()
    through = trees.vjp(marginals.ravel())
    assert np.isfinite(through.arcs).all()
    drawn = trees.sample(200, seed=1).reshape(200, 30)
    counted = (drawn == 0).mean(axis=0)
    assert np.abs(counted - marginals[0, 1:]).max() < 0.2


def test_answers_do_not_depend_on_the_number_of_threads(kinds, root, rng):
    """Sentences long enough that helper threads are woken: small calls stay on the caller's."""
    n_words = np.tile([20, 7, 25, 1, 16], 40)
    arcs = np.concatenate([random_scores(rng, n, 1.0, 0.8).ravel() for n in n_words])
    answers = []
    for threads in (1, 2, 3):
        parts = Scores.over(arcs, n_words, kinds, threads)
        scores = np.random.default_rng(4)
        for table in parts.tables.values():
            table[:] = scores.normal(size=len(table))
        packed = PackedSecondOrder(parts, root, threads)
        sums = packed.sums()
        through = packed.vjp(sums.marginals.arcs, dict(sums.marginals.tables))
        arrays = [sums.log_partition, sums.marginals.arcs, *sums.marginals.tables.values(),
                  through.arcs, *through.tables.values(), *packed.argmax(), *packed.kbest(3),
                  packed.sample(5, 1), packed.entropy(), packed.margins()]  # fmt: skip
        answers.append([array.tobytes() for array in arrays])
    assert answers[0] == answers[1] == answers[2]


def test_packed_sentences_are_those_one_by_one(kinds, root, rng):
    sentences = [random_parts(rng, n, kinds, forbidden=0.2) for n in (3, 5, 1, 4, 2, 5)] * 20
    batch = SecondOrderTrees.batch(sentences, root)
    drawn = batch.sample(4, seed=2)
    for i in (0, 1, 5, 119):
        one = SecondOrderTrees(sentences[i], root)
        assert batch.log_partition[i] == one.log_partition
        assert (batch.marginals[i] == one.marginals).all()
        assert batch.argmax()[i] == one.argmax()
        assert batch.kbest(3)[i] == one.kbest(3)
        assert (batch[i].sample(4, seed=2) == drawn[i]).all()
        assert batch.entropy()[i] == one.entropy()
        for kind in kinds:
            assert (batch.part_marginals[i][kind] == one.part_marginals[kind]).all()


def test_arcs_forbidden_by_their_scores_alone(kinds, root, rng):
    """As partial annotation does it: the same parts, but fewer arcs."""
    parts = random_parts(rng, 5, kinds)
    whole = Scores.from_parts(parts)
    kept = SecondOrderTrees(parts, root).kbest(4)[-1].heads[2]
    arcs = parts.arcs.copy()
    arcs[np.arange(6) != kept, 3] = -np.inf
    restricted = PackedSecondOrder(whole.with_values(arcs.ravel(), whole.tables), root)
    told = SecondOrderTrees(parts, root).constrain(required=[(kept, 3)])
    sums = restricted.sums()
    assert sums.log_partition[0] == pytest.approx(told.log_partition, rel=1e-13)
    assert np.abs(sums.marginals.arcs - told.marginals.ravel()).max() < 1e-13
    assert restricted.argmax()[0].tolist() == told.argmax().heads.tolist()
    assert len(restricted.kbest(10**4)[1]) == len(told.kbest(10**4))
    gradient = np.where(np.isneginf(arcs), np.nan, rng.normal(size=arcs.shape))
    assert (
        np.abs(restricted.vjp(gradient.ravel()).arcs - told.vjp(gradient).arcs.ravel()).max()
        < 1e-12
    )
    assert restricted.entropy()[0] == pytest.approx(told.entropy())
    assert np.allclose(restricted.margins(), told.arc_margins().ravel())
    arcs[:, 3] = -np.inf
    nothing = PackedSecondOrder(whole.with_values(arcs.ravel(), whole.tables), root)
    for question in (nothing.sums, nothing.log_partition, nothing.argmax, nothing.entropy,
                     nothing.margins, lambda: nothing.kbest(2), lambda: nothing.sample(2, 1),
                     lambda: nothing.vjp(np.zeros(36))):  # fmt: skip
        with pytest.raises(NoTreeError, match="word 3 has no possible head"):
            question()


def test_a_batch_with_an_impossible_sentence(rng):
    crossing = np.full((5, 5), -np.inf)
    crossing[0, 1] = crossing[1, 3] = crossing[3, 2] = crossing[2, 4] = 0.0
    good, bad = random_parts(rng, 3, KINDS), Parts(crossing)
    with pytest.raises(NoTreeError, match="sentence 1: there is no projective tree"):
        SecondOrderTrees.batch([good, bad, good])
    with pytest.raises(NoTreeError, match="sentence 1"):
        PackedSecondOrder(Scores.joined([good, bad, good])).sums()
    batch = SecondOrderTrees.batch([good, bad, good], errors="return")
    assert isinstance(batch.argmax()[1], NoTreeError)
    assert batch.log_partition[0] == batch.log_partition[2]
    assert isinstance(batch.vjp([np.zeros((4, 4)), 0, np.zeros((4, 4))])[1], NoTreeError)
    with pytest.raises(NoTreeError):
        batch[1]
    assert SecondOrderTrees.batch([]).argmax() == []


def test_more_memory_than_there_is(monkeypatch):
    monkeypatch.setattr(packed_second_order, "physical_memory", lambda: 10**7)
    arcs = np.zeros((41, 41))
    SecondOrderTrees(Parts(arcs))
    with pytest.raises(TooLargeError, match=r"40 words needs about .* GB"):
        SecondOrderTrees(Parts(arcs, grandparents=([], [])))
