"""Losses of beliefs against their definitions over all trees, and gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError, ShapeError
from arbora.inference.engines import (
    BeliefPropagation,
    MatrixTree,
    SecondOrder,
    first_order_engine,
)
from arbora.losses import (
    Gold,
    annealed_risk,
    composite_likelihood,
    l2_distance,
    marginal_loss,
    negative_log_likelihood,
)
from arbora.scores import Layout, Scores
from arbora.testing import EnumeratedParts, finite_difference
from tests.losses.test_losses import LENGTHS, Case
from tests.toys import random_heads

KINDS = ("consecutive_siblings", "grandparents", "grandsiblings")


def risk_at(temperature):
    return lambda marginals, gold, engine: annealed_risk(marginals, gold, engine, temperature)


LOSSES = {"l2": l2_distance, "warm risk": risk_at(0.5), "cold risk": risk_at(0.05)}


@pytest.fixture(params=[{}, {"missing": 0.5}, {"depth": 2, "labels": 0.3}], ids=str)
def case(request, rng, kind, root):
    return Case(rng, kind.trees, root, **request.param)


def random_beliefs(rng, case):
    return case.scores(np.where(np.isfinite(case.flat), rng.random(len(case.flat)), -np.inf))


def annotated(case, first, n):
    """Which words of a sentence are known, and the indices of their arcs in a table."""
    heads = case.gold.heads[first : first + n]
    known = heads >= 0
    if case.depth is not None:
        known = known & (case.gold.labels[first : first + n] >= 0)
    words = np.flatnonzero(known)
    index = (heads[words], words + 1)
    return known, index if case.depth is None else (*index, case.gold.labels[first + words])


def test_l2_by_enumeration(case):
    values = marginal_loss(case.scores(), case.gold, case.engine, l2_distance).values
    first = 0
    for (every, _), n, value in zip(case.enumerated(), LENGTHS, values, strict=True):
        known, index = annotated(case, first, n)
        gold = np.zeros(every.scores.shape)
        gold[index] = 1.0
        on = (every.weighted_arcs(every.probabilities) - gold)[:, 1:][:, known]
        off = (1.0 - every.weighted_arcs(every.probabilities) - (1.0 - gold))[:, 1:][:, known]
        assert value == pytest.approx((on**2).sum() + (off**2).sum(), abs=1e-10)
        first += n


@pytest.mark.parametrize("temperature", [1.0, 0.1])
def test_risk_by_enumeration(case, temperature):
    values = marginal_loss(case.scores(), case.gold, case.engine, risk_at(temperature)).values
    first = 0
    for (every, _), n, value in zip(case.enumerated(), LENGTHS, values, strict=True):
        beliefs = every.weighted_arcs(every.probabilities)
        weights = np.exp(every.values_of(beliefs) / temperature)
        drawn = every.weighted_arcs(weights / weights.sum())
        assert value == pytest.approx(-drawn[annotated(case, first, n)[1]].sum(), abs=1e-9)
        first += n


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_by_scores_of_arcs(case, loss):
    def value(flat):
        answer = marginal_loss(case.scores(flat), case.gold, case.engine, LOSSES[loss])
        return float(answer.values.sum())

    gradient = marginal_loss(case.scores(), case.gold, case.engine, LOSSES[loss]).d_scores.arcs
    # The risk bends sharply where it is cold: a smaller step there.
    expected = finite_difference(value, case.flat, 1e-3 if loss != "cold risk" else 2e-4)
    np.testing.assert_allclose(gradient, expected, atol=1e-7)


def test_cold_risk_is_the_loss_of_the_tree_that_is_decoded(rng, kind, root):
    """With the two best trees far enough apart (Gormley et al. 2015, section 4)."""
    for _ in range(20):
        case = Case(rng, kind.trees, root)
        beliefs = random_beliefs(rng, case)
        heads = case.engine.decode(beliefs).heads
        right = case.gold.layout.per_sentence(heads == case.gold.heads)
        np.testing.assert_allclose(
            -annealed_risk(beliefs, case.gold, case.engine, 1e-6).values, right, atol=1e-6
        )


def test_tied_trees_share_the_cold_risk():
    """Two words, all beliefs equal: three trees with several roots, of which one is gold."""
    scores = np.full((3, 3), 0.5)
    scores[:, 0] = scores[1, 1] = scores[2, 2] = -np.inf
    gold = Gold(Layout(np.array([2])), np.array([0, 1], dtype=np.int32))
    for root, right in (("multi", (2 + 1 + 0) / 3), ("single", (2 + 0) / 2)):
        beliefs = Scores(scores.reshape(-1), np.array([2]))
        assert -annealed_risk(beliefs, gold, MatrixTree(root), 1e-4).values == pytest.approx(
            [right]
        )


@pytest.mark.parametrize("loss", LOSSES)
def test_words_without_a_head_contribute_nothing(rng, kind, root, loss):
    case = Case(rng, kind.trees, root)
    beliefs = random_beliefs(rng, case)
    nothing = Gold(case.gold.layout, np.full_like(case.gold.heads, -1))
    values, d_beliefs = LOSSES[loss](beliefs, nothing, case.engine)
    assert not values.any()
    assert not d_beliefs.any()
    total = np.zeros(len(LENGTHS))
    for word in range(len(case.gold.heads)):  # each word by itself adds up to all of them
        heads = np.full_like(case.gold.heads, -1)
        heads[word] = case.gold.heads[word]
        total += LOSSES[loss](beliefs, Gold(case.gold.layout, heads), case.engine).values
    values = LOSSES[loss](beliefs, case.gold, case.engine).values
    np.testing.assert_allclose(values, total, atol=1e-12)


def test_gold_arcs_that_are_pruned_are_no_variables(rng):
    case = Case(rng, "nonprojective", "multi")
    flat, cells = case.flat.copy(), case.gold.cells()
    deep = np.flatnonzero(case.gold.heads > 0)[:1]  # words are left a head: the root
    flat[cells[deep]] = -np.inf
    beliefs = case.scores(np.where(np.isfinite(flat), 0.25, -np.inf))
    loss = l2_distance(beliefs, case.gold, case.engine)
    assert loss.d_marginals[cells[deep]] == 0.0
    arcs, found = np.isfinite(flat).sum(), len(cells) - 1
    assert loss.values.sum() == pytest.approx(2 * ((arcs - found) * 0.25**2 + found * 0.75**2))


@pytest.mark.parametrize("temperature", [0.0, -1.0, np.nan, np.inf])
def test_bad_temperatures(rng, temperature):
    case = Case(rng, "projective", "single")
    with pytest.raises(ArgumentError, match="temperature must be a number above 0"):
        annealed_risk(case.scores(), case.gold, case.engine, temperature)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_nothing_overflows_when_it_is_cold(rng, kind, root, scale):
    for n in (1, 60):
        scores = scale * rng.normal(size=(n + 1, n + 1))
        scores[:, 0] = -np.inf
        np.fill_diagonal(scores, -np.inf)
        trees = Scores(scores.reshape(-1), np.array([n]))
        engine = first_order_engine(kind.trees, root)
        gold = Gold(Layout(np.array([n])), random_heads(rng, n, kind.trees, root))
        for loss in (l2_distance, risk_at(1e-4)):
            answer = marginal_loss(trees, gold, engine, loss)
            assert np.isfinite(answer.values).all()
            assert np.isfinite(answer.d_scores.arcs).all()


def star(n_words):
    """A tree with siblings: the first word has all others."""
    return np.array([0] + [1] * (n_words - 1), dtype=np.int32)


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("n", [1, 40, 120])
def test_nothing_overflows_in_belief_propagation(rng, kind, scale, n):
    """Ten likely heads per word at most, as after pruning; large scores, a cold risk."""
    arcs = np.full((n + 1, n + 1), -np.inf)
    for word in range(1, n + 1):
        near = rng.integers(max(0, word - 9), min(n, word + 9) + 1, size=4)
        arcs[near, word] = scale * rng.normal(size=4)
        arcs[word - 1, word] = 0.0
    arcs[:, 0] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    parts = Scores.over(arcs.reshape(-1), np.array([n]), ("siblings", "grandparents"))
    for table in parts.tables.values():
        table[:] = scale * rng.normal(size=len(table))
    gold = Gold(Layout(np.array([n])), np.arange(n, dtype=np.int32))
    engine = BeliefPropagation(3, 0.0, "pairs", kind.trees, "single")
    for loss in (l2_distance, risk_at(1e-4)):
        answer = marginal_loss(parts, gold, engine, loss)
        assert np.isfinite(answer.values).all()
        assert np.isfinite(numbers_of(answer.d_scores)).all()


class PartCase:
    """Random scores of arcs and parts, some arcs pruned, and gold trees."""

    def __init__(self, rng, root, kinds=KINDS, trees="projective", lengths=(3, 1, 4)):
        self.root, self.trees, n_words = root, trees, np.array(lengths)
        tables = []
        for n in n_words.tolist():
            table = rng.normal(size=(n + 1, n + 1))
            table[rng.random(table.shape) < 0.3] = -np.inf
            table[star(n), np.arange(1, n + 1)] = 0.3  # never pruned
            table[:, 0] = -np.inf
            np.fill_diagonal(table, -np.inf)
            tables.append(table.reshape(-1))
        self.parts = Scores.over(np.concatenate(tables), n_words, kinds)
        for table in self.parts.tables.values():
            table[:] = rng.normal(size=len(table))
        self.heads = np.concatenate([star(n) for n in n_words.tolist()])
        self.whole = Gold(Layout(n_words), self.heads)
        self.gold = Gold(Layout(n_words), np.where(np.arange(len(self.heads)) == 1, -1, self.heads))

    def with_numbers(self, flat):
        """The parts with arcs and tables from one long vector."""
        sizes = [len(self.parts.arcs), *(len(table) for table in self.parts.tables.values())]
        arcs, *tables = np.split(flat, np.cumsum(sizes)[:-1])
        return self.parts.with_values(arcs, dict(zip(self.parts.tables, tables, strict=True)))


def numbers_of(parts):
    return np.concatenate([parts.arcs, *parts.tables.values()])


def check_part_gradient(case, objective, **tolerance):
    """`objective(parts)` against differences by every arc and part."""
    gradient = numbers_of(objective(case.parts).d_scores)
    expected = finite_difference(
        lambda flat: float(objective(case.with_numbers(flat)).values.sum()), numbers_of(case.parts)
    )
    np.testing.assert_allclose(gradient, expected, **tolerance)


@pytest.mark.parametrize("loss", ["l2", "warm risk"])
def test_gradients_by_scores_of_parts(rng, root, loss):
    case = PartCase(rng, root)
    check_part_gradient(
        case,
        lambda parts: marginal_loss(parts, case.gold, SecondOrder(root), LOSSES[loss]),
        atol=1e-8,
    )


PARTS = {"pairs": ("siblings", "grandparents"), "automata": KINDS}


@pytest.mark.parametrize("loss", ["l2", "warm risk"])
@pytest.mark.parametrize("factors", PARTS)
@pytest.mark.parametrize("iterations", [1, 2, 4])
def test_gradients_through_belief_propagation(rng, kind, root, loss, factors, iterations):
    """Through all messages of all iterations, however far they are from converging."""
    case = PartCase(rng, root, PARTS[factors], kind.trees, lengths=(3, 1, 3))
    damping = 0.3 if iterations == 2 else 0.0
    engine = BeliefPropagation(iterations, damping, factors, kind.trees, root)
    check_part_gradient(
        case,
        lambda parts: marginal_loss(parts, case.gold, engine, LOSSES[loss]),
        atol=1e-6,
    )


@pytest.mark.parametrize("factors", PARTS)
def test_the_surrogate_likelihood_where_the_messages_converge(rng, kind, root, factors):
    """There its gradient is that of Bethe's log Z minus the gold score."""
    case = PartCase(rng, root, PARTS[factors], kind.trees, lengths=(3, 1, 3))
    for table in case.parts.tables.values():
        table *= 0.5
    engine = BeliefPropagation(80, 0.2, factors, kind.trees, root)
    check_part_gradient(
        case, lambda parts: negative_log_likelihood(parts, case.whole, engine), atol=1e-6
    )


def test_belief_propagation_without_parts_is_exact(rng, kind, root):
    case = Case(rng, kind.trees, root)
    parts = Scores.over(case.flat, LENGTHS, ())
    engine = BeliefPropagation(1, 0.0, "pairs", kind.trees, root)
    for loss in LOSSES.values():
        one = marginal_loss(parts, case.gold, engine, loss)
        other = marginal_loss(case.scores(), case.gold, case.engine, loss)
        np.testing.assert_allclose(one.values, other.values, atol=1e-10)
        np.testing.assert_allclose(one.d_scores.arcs, other.d_scores.arcs, atol=1e-8)
    likelihood = negative_log_likelihood(parts, case.gold, engine)
    expected = negative_log_likelihood(case.scores(), case.gold, case.engine)
    np.testing.assert_allclose(likelihood.values, expected.values, atol=1e-10)
    np.testing.assert_allclose(likelihood.d_scores.arcs, expected.d_scores.arcs, atol=1e-10)


def test_the_likelihood_goes_back_to_marginals_minus_gold(rng, root):
    """Differences of log Z minus the gold score are the gradient."""
    case = PartCase(rng, root)
    check_part_gradient(
        case,
        lambda parts: negative_log_likelihood(parts, case.whole, SecondOrder(root)),
        atol=1e-9,
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_parts_that_score_nothing_change_nothing(rng, root, loss):
    case = PartCase(rng, root)
    parts = case.parts.with_values(case.parts.arcs, case.parts.zeros().tables)
    first_order, engine = parts.arcs_only(), first_order_engine("projective", root)
    one = marginal_loss(parts, case.gold, SecondOrder(root), LOSSES[loss])
    other = marginal_loss(first_order, case.gold, engine, LOSSES[loss])
    np.testing.assert_allclose(one.values, other.values, atol=1e-10)
    np.testing.assert_allclose(one.d_scores.arcs, other.d_scores.arcs, atol=1e-9)
    likelihood = negative_log_likelihood(parts, case.whole, SecondOrder(root))
    expected = negative_log_likelihood(first_order, case.whole, engine)
    np.testing.assert_allclose(likelihood.values, expected.values, atol=1e-10)
    np.testing.assert_allclose(likelihood.d_scores.arcs, expected.d_scores.arcs, atol=1e-10)


def test_gaps_are_summed_over_with_parts_too(rng, root):
    """Against all trees that agree with the annotation; the gradient by differences."""
    case, engine = PartCase(rng, root), SecondOrder(root)
    assert not case.gold.complete
    loss = negative_log_likelihood(case.parts, case.gold, engine)
    first = 0
    for i, n in enumerate(case.parts.n_words.tolist()):
        every = EnumeratedParts(case.parts.sentence(i), "projective", root)
        heads = case.gold.heads[first : first + n]
        agrees = ((every.heads == heads) | (heads < 0)).all(axis=1)
        assert loss.values[i] == pytest.approx(-np.log(every.probabilities[agrees].sum()))
        first += n
    check_part_gradient(
        case, lambda parts: negative_log_likelihood(parts, case.gold, engine), atol=1e-8
    )


def test_gold_trees_of_other_sentences_are_refused(rng):
    n_words = np.array([3, 2])
    parts = Scores.over(rng.normal(size=25), n_words, ("siblings",))
    engine = BeliefPropagation(2, 0.0, "pairs")

    def gold(lengths, heads):
        return Gold(Layout(np.array(lengths)), np.array(heads, dtype=np.int32))

    def loss(lengths, heads):
        return marginal_loss(parts, gold(lengths, heads), engine, l2_distance)

    beliefs = Scores(rng.random(9), np.array([2]))
    assert np.isfinite(loss([3, 2], [2, 0, 2, 0, -1]).values).all()
    with pytest.raises(ShapeError, match="different lengths"):
        loss([2, 3], [2, 0, 2, 0, 1])
    with pytest.raises(ShapeError, match="one entry for each of 5 words"):
        loss([3, 2], [2, 0])
    with pytest.raises(ShapeError, match="the head of word 5 of the batch is 3"):
        loss([3, 2], [2, 0, 2, 0, 3])
    walks = Scores.over(rng.normal(size=25), n_words, ("consecutive_siblings",))
    with pytest.raises(ArgumentError, match="needs the head of every word"):
        composite_likelihood(walks, gold([3, 2], [2, 0, -1, 0, 1]))
    with pytest.raises(ShapeError, match="different lengths"):
        composite_likelihood(walks, gold([2, 3], [2, 0, 2, 0, 1]))
    with pytest.raises(ArgumentError, match="temperature"):
        annealed_risk(beliefs, None, MatrixTree(), "cold")
