"""Belief propagation over many sentences at once."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError, LoopyTrees, NoTreeError, Parts, ShapeError, TooLargeError
from arbora.inference import PackedLoopy, packed_loopy
from arbora.scores import Scores
from arbora.testing import random_parts
from tests.helpers import assert_close, random_scores

EVERY = ("consecutive_siblings", "siblings", "grandparents", "grandsiblings")
MODELS = [("siblings", "grandparents"), EVERY, ("consecutive_siblings", "head_bigrams")]


@pytest.fixture(params=["nonprojective", "projective"])
def trees(request):
    return request.param


@pytest.mark.parametrize("kinds", MODELS, ids="+".join)
def test_answers_do_not_depend_on_the_number_of_threads(kinds, trees, rng):
    n_words = np.tile([20, 7, 25, 1, 16], 6)
    arcs = np.concatenate([random_scores(rng, n, 1.0, 0.8).ravel() for n in n_words])
    answers = []
    for threads in (1, 2, 3):
        parts = Scores.over(arcs, n_words, kinds, threads)
        scores = np.random.default_rng(4)
        for table in parts.tables.values():
            table[:] = scores.normal(size=len(table))
        packed = PackedLoopy(parts, trees, "multi", 2, threads=threads)
        sums = packed.sums()
        gradient = packed.vjp(sums.marginals.arcs, dict(sums.marginals.tables))
        arrays = [
            sums.log_partition, packed.residuals, sums.marginals.arcs,
            *sums.marginals.tables.values(), gradient.arcs, *gradient.tables.values(),
        ]  # fmt: skip
        answers.append([array.tobytes() for array in arrays])
    assert answers[0] == answers[1] == answers[2]


PAIRS = [("siblings",), ("grandparents",), ("siblings", "grandparents"), EVERY]
NEARLY_NONE = 1e-300  # of damping: messages are those without any, but they are sent as logarithms


@pytest.mark.parametrize("kinds", PAIRS, ids="+".join)
@pytest.mark.parametrize("schedule", ["serial", "parallel"])
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_pairs_in_plain_numbers_say_what_they_say_in_logarithms(
    scale, schedule, kinds, trees, root, rng
):
    """Rows of pairs of every length, from one to more than three packs."""
    n_words = np.array([15, 6, 1, 2, 9])
    arcs = np.concatenate([random_scores(rng, n, scale, 0.2).ravel() for n in n_words])
    parts = Scores.over(arcs, n_words, kinds)
    # Arcs that are kept and forbidden all the same.
    parts.arcs[(rng.random(len(arcs)) < 0.05) & ~parts_of_chain(n_words)] = -np.inf
    for table in parts.tables.values():
        table[:] = rng.normal(scale=scale, size=len(table))
    direction = rng.normal(size=len(arcs))
    tables = {kind: rng.normal(size=len(table)) for kind, table in parts.tables.items()}
    plain, slow = (
        PackedLoopy(parts, trees, root, 3, damping, schedule) for damping in (0.0, NEARLY_NONE)
    )
    one, other = plain.sums(), slow.sums()
    assert one.log_partition == pytest.approx(other.log_partition, rel=1e-9, abs=1e-9)
    # How certain the tree is of an arc that all trees have is arbitrary, beyond all other messages.
    changes = [np.minimum(loopy.residuals, 40.0) for loopy in (plain, slow)]
    assert changes[0] == pytest.approx(changes[1], rel=1e-6, abs=1e-9)
    pairs = [(one.marginals, other.marginals)]
    pairs += [(plain.vjp(direction), slow.vjp(direction))]
    pairs += [(plain.vjp(direction, tables), slow.vjp(direction, tables))]
    for found, expected in pairs:
        assert_close(found.arcs, expected.arcs, rel=1e-6, abs=1e-8)
        for kind, table in expected.tables.items():
            assert_close(found.tables[kind], table, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_answers_do_not_depend_on_what_was_asked_before(damping, trees, rng):
    """With and without damping, pairs and automata, large and small, in turns on one thread."""
    questions = []
    for n, kinds, how in (
        (20, ("siblings",), 0.3), (2, ("siblings", "grandparents"), 0.0), (9, EVERY, 0.0),
        (12, ("grandparents",), 0.3), (3, ("consecutive_siblings",), 0.0), (15, EVERY, damping),
    ):  # fmt: skip
        arcs = random_scores(rng, n, 2.0, 0.3)
        arcs[: n - 1, n] = -np.inf  # the last word has one head
        arcs[n - 1, n] = 0.0
        parts = Scores.over(arcs.ravel(), np.array([n]), kinds)
        for table in parts.tables.values():
            table[:] = rng.normal(size=len(table))
        questions.append(PackedLoopy(parts, trees, "multi", 3, how))

    def answers():
        for loopy in questions:
            sums = loopy.sums()
            gradient = loopy.vjp(sums.marginals.arcs)
            yield [sums.log_partition, loopy.residuals, sums.marginals.arcs, gradient.arcs]

    first, again = list(answers()), list(answers())
    for before, after in zip(first, again, strict=True):
        assert all((a == b).all() for a, b in zip(before, after, strict=True))


def parts_of_chain(n_words):
    """The cells of the arcs 0 -> 1 -> 2 -> ... of all sentences."""
    return np.concatenate([np.eye(n + 1, k=1, dtype=bool).ravel() for n in n_words])


@pytest.mark.parametrize("size", [49.0, 51.0, 700.0, 1e5])
def test_large_scores_of_pairs_are_sent_as_logarithms(size, trees, rng):
    """On either side of what plain numbers hold, beliefs are those of the twin."""
    parts = random_parts(rng, 4, ("siblings", "grandparents"))
    tables = {
        kind: (getattr(parts, kind).rows, np.sign(getattr(parts, kind).scores) * size)
        for kind in parts.kinds
    }
    large = Parts(parts.arcs, **tables)
    found = LoopyTrees(large, trees, "single", 2)
    expected = LoopyTrees(large, trees, "single", 2, damping=NEARLY_NONE)
    assert found.marginals == pytest.approx(expected.marginals, abs=1e-9)
    assert np.isfinite(found.vjp(found.marginals).arcs).all()


@pytest.mark.parametrize("kinds", MODELS, ids="+".join)
def test_packed_sentences_are_those_one_by_one(kinds, trees, root, rng):
    """Whatever comes before and after; joined sentences have all kinds, with scores of 0."""
    sentences = [random_parts(rng, n, kinds, forbidden=0.2) for n in (3, 5, 1, 4, 2)]
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1]):
        packed = Scores.joined([sentences[i] for i in order], threads=2)
        loopy = PackedLoopy(packed, trees, root, 3, threads=2)
        sums = loopy.sums()
        gradient = loopy.vjp(sums.marginals.arcs)
        first = 0
        for place, i in enumerate(order):
            one = LoopyTrees(sentences[i], trees, root, 3)
            cells = slice(first, first := first + (sentences[i].n_words + 1) ** 2)
            assert (sums.marginals.arcs[cells] == one.marginals.ravel()).all()
            assert (gradient.arcs[cells] == one.vjp(one.marginals).arcs.ravel()).all()
            assert sums.log_partition[place] == one.bethe_log_partition
            assert (loopy.residuals[place] == one.residuals).all()


@pytest.mark.parametrize("kinds", MODELS, ids="+".join)
@pytest.mark.parametrize("kept", [0, 1 << 28], ids=["too large to keep", "kept"])
def test_beliefs_of_arcs_alone_and_their_gradient(kept, kinds, trees, root, rng, monkeypatch):
    monkeypatch.setattr(packed_loopy, "_TAPES_KEPT", kept)
    sentences = [random_parts(rng, n, kinds, forbidden=0.2) for n in (3, 6, 1, 4)]
    packed = Scores.joined(sentences, threads=2)
    loopy, again = (PackedLoopy(packed, trees, root, 3, threads=2) for _ in range(2))
    assert (loopy.arc_marginals(gradient=True) == again.sums().marginals.arcs).all()
    assert (loopy.arc_marginals() == again.sums().marginals.arcs).all()
    loopy.arc_marginals(gradient=True)
    direction = rng.normal(size=len(packed.arcs))
    expected = again.vjp(direction)
    for _ in range(2):  # the way can be gone more than once
        found = loopy.vjp(direction)
        assert (found.arcs == expected.arcs).all()
        for kind, table in expected.tables.items():
            assert (found.tables[kind] == table).all()


def test_absent_words_change_nothing(trees, rng):
    """Words that hang on the root, and that nobody else may take, are as good as not there."""
    parts = random_parts(rng, 4, ("siblings", "grandparents"))
    longer = np.full((7, 7), -np.inf)
    longer[:5, :5] = parts.arcs
    longer[0, 5:] = 3.0
    lists = {kind: getattr(parts, kind) for kind in parts.kinds}
    short, padded = (LoopyTrees(p, trees, "multi", 4) for p in (parts, Parts(longer, **lists)))
    assert np.abs(padded.marginals[:5, :5] - short.marginals).max() < 1e-12
    assert padded.bethe_log_partition == pytest.approx(short.bethe_log_partition + 6.0)


@pytest.mark.parametrize("factors", ["pairs", "automata"])
def test_the_order_of_words_does_not_matter_to_spanning_trees(factors, root, rng):
    parts = random_parts(rng, 5, ("siblings", "grandparents"))
    moved = np.array([0, *(1 + rng.permutation(5))])
    arcs = np.full_like(parts.arcs, -np.inf)
    arcs[np.ix_(moved, moved)] = parts.arcs
    rows, scores = parts.siblings
    siblings = moved[rows]
    siblings[:, 1:].sort(axis=1)
    grand = np.where(parts.grandparents.rows < 0, -1, moved[parts.grandparents.rows])
    other = Parts(
        arcs, siblings=(siblings, scores), grandparents=(grand, parts.grandparents.scores)
    )
    one, two = (LoopyTrees(p, root=root, factors=factors) for p in (parts, other))
    assert np.abs(two.marginals[np.ix_(moved, moved)] - one.marginals).max() < 1e-12
    assert two.bethe_log_partition == pytest.approx(one.bethe_log_partition, abs=1e-9)


@pytest.mark.parametrize("factors", ["pairs", "automata"])
def test_arcs_forbidden_by_their_scores_alone(factors, trees, root, rng):
    """As partial annotation does it: the same parts, but fewer arcs."""
    parts = random_parts(rng, 4, EVERY)
    arcs = parts.arcs.copy()
    arcs[[0, 2, 3], 4] = arcs[3, 1] = -np.inf
    whole = Scores.from_parts(parts)
    restricted = PackedLoopy(
        whole.with_values(arcs.ravel(), whole.tables), trees, root, 3, 0.1, factors=factors
    )
    lists = {}
    for kind in EVERY:
        rows, scores = getattr(parts, kind)
        possible = []
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            try:
                Parts(arcs, **{kind: ([row], [score])})
            except ArgumentError:
                continue
            possible.append((row, score))
        lists[kind] = ([row for row, _ in possible], [score for _, score in possible])
    told = LoopyTrees(Parts(arcs, **lists), trees, root, 3, 0.1, factors=factors)
    sums = restricted.sums()
    assert np.abs(sums.marginals.arcs - told.marginals.ravel()).max() < 1e-12
    assert sums.log_partition[0] == pytest.approx(told.bethe_log_partition)
    direction = np.where(np.isneginf(arcs), np.nan, rng.normal(size=arcs.shape))
    gradient = restricted.vjp(direction.ravel())
    assert np.abs(gradient.arcs - told.vjp(direction).arcs.ravel()).max() < 1e-12


def test_a_batch_with_an_impossible_sentence(rng):
    crossing = np.full((5, 5), -np.inf)
    crossing[0, 1] = crossing[1, 3] = crossing[3, 2] = crossing[2, 4] = 0.0
    good = random_parts(rng, 3, ("siblings",))
    packed = PackedLoopy(Scores.joined([good, Parts(crossing), good]), "projective")
    for question in (packed.sums, lambda: packed.vjp(np.zeros(57))):
        with pytest.raises(NoTreeError, match="sentence 1: there is no projective tree"):
            question()
    assert len(packed) == 3
    empty = PackedLoopy(Scores.over(np.empty(0), np.empty(0, np.int64), ("siblings",)))
    assert len(empty.sums().log_partition) == 0


def test_wrong_gradients_are_refused(rng):
    packed = PackedLoopy(Scores.from_parts(random_parts(rng, 3, ("siblings",))))
    with pytest.raises(ShapeError, match="gradient of arcs must have shape"):
        packed.vjp(np.zeros(3))
    with pytest.raises(ShapeError, match="finite"):
        packed.vjp(np.zeros(16), {"siblings": np.inf * packed.parts.tables["siblings"]})
    with pytest.raises(ArgumentError, match="there are no grandparents"):
        packed.vjp(np.zeros(16), {"grandparents": np.zeros(2)})


def test_more_memory_than_there_is(monkeypatch):
    monkeypatch.setattr(packed_loopy, "physical_memory", lambda: 10**6)
    with pytest.raises(TooLargeError, match=r"40 words needs about .* GB for its messages"):
        LoopyTrees(Parts(np.zeros((41, 41)), grandparents=([], [])))
