"""Gradients through belief propagation, and numbers at the edge of what doubles hold."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import LoopyTrees, Parts
from arbora.inference import PackedLoopy
from arbora.scores import Scores
from arbora.testing import SlowLoopy, finite_difference, random_parts
from tests.helpers import level_scores, random_scores

EVERY = ("consecutive_siblings", "siblings", "grandparents", "grandsiblings")
MODELS = [
    ("siblings", "grandparents", "pairs"),
    ("consecutive_siblings", "grandparents", "pairs"),
    ("siblings", "grandparents", "automata"),
    ("grandsiblings", "siblings", "pairs"),
    (*EVERY, "automata"),
    ("head_bigrams", "pairs"),
    ("consecutive_siblings", "grandparents", "head_bigrams", "automata"),
]


def through(packed, settings, d_arcs, d_tables, arcs, tables):
    """A linear function of the beliefs."""
    beliefs = PackedLoopy(packed.with_values(arcs, tables), *settings).sums().marginals
    return np.sum(d_arcs * beliefs.arcs) + sum(
        np.sum(d_tables[kind] * beliefs.tables[kind]) for kind in d_tables
    )


@pytest.mark.parametrize("model", MODELS, ids="+".join)
@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
def test_gradients_are_those_of_finite_differences(model, trees, root, rng):
    *kinds, factors = model
    packed = Scores.from_parts(random_parts(rng, 3, kinds, forbidden=0.1))
    d_arcs = rng.normal(size=len(packed.arcs))
    d_tables = {kind: rng.normal(size=len(table)) for kind, table in packed.tables.items()}
    for iterations in (1, 2, 3, 4):
        for damping, schedule in ((0.0, "serial"), (0.3, "serial"), (0.2, "parallel")):
            settings = (trees, root, iterations, damping, schedule, factors)
            gradient = PackedLoopy(packed, *settings).vjp(d_arcs, d_tables)
            given = (packed, settings, d_arcs, d_tables)
            slow = finite_difference(lambda a, g=given: through(*g, a, packed.tables), packed.arcs)
            assert np.abs(gradient.arcs - slow).max() < 1e-6
            for kind in kinds:
                slow = finite_difference(
                    lambda t, g=given, k=kind: through(*g, packed.arcs, {**packed.tables, k: t}),
                    packed.tables[kind],
                )
                assert np.abs(gradient.tables[kind] - slow).max() < 1e-6


def test_gradients_of_arcs_alone(rng):
    parts = random_parts(rng, 4, EVERY)
    direction = rng.normal(size=(5, 5))
    alone = LoopyTrees(parts).vjp(direction)
    nothing = {kind: np.zeros(len(getattr(parts, kind).scores)) for kind in EVERY}
    same = LoopyTrees(parts).vjp(direction, nothing)
    assert (alone.arcs == same.arcs).all()
    assert all((alone.parts[kind] == same.parts[kind]).all() for kind in EVERY)


@pytest.mark.parametrize("model", MODELS, ids="+".join)
@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
def test_perturbed_beliefs_give_the_same_gradient(model, trees, rng):
    """Domke (2010; G15-33): once converged, two more runs, with the scores moved along the loss's
    gradient by the beliefs, differ by the gradient by the scores."""
    *kinds, factors = model
    parts = random_parts(rng, 4, kinds, scale=0.3)
    settings = (trees, "single", 150, 0.3, "serial", factors)
    lists = {kind: getattr(parts, kind) for kind in kinds}
    beliefs = LoopyTrees(parts, *settings)
    assert beliefs.converged
    gold = np.eye(5)[[0, 2, 0, 2, 3]].T  # the loss is the squared distance from this tree
    d_beliefs = np.where(np.isfinite(parts.arcs), 4 * (beliefs.marginals - gold), 0.0)
    gradient = beliefs.vjp(d_beliefs)
    step = 1e-5
    up, down = (
        LoopyTrees(Parts(parts.arcs + sign * step * d_beliefs, **lists), *settings)
        for sign in (1, -1)
    )
    assert np.abs((up.marginals - down.marginals) / (2 * step) - gradient.arcs).max() < 1e-6
    for kind in kinds:
        slow = (up.part_marginals[kind] - down.part_marginals[kind]) / (2 * step)
        assert np.abs(slow - gradient.parts[kind]).max() < 1e-6


@pytest.mark.parametrize(
    ("scale", "of_parts"), [(10.0, 10.0), (30.0, 10.0), (100.0, 2.0), (1000.0, 2.0)]
)
@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
@pytest.mark.parametrize("factors", ["pairs", "automata"])
def test_gradients_at_large_scales_are_those_of_high_precision(
    scale, of_parts, trees, factors, rng
):
    """Ties between large scores leave some arcs undecided; elsewhere gradients round to 0.

    Parts that outweigh 1e-16 of an arc's share, which is what sums over spanning trees round to,
    are out of reach for both scales to be large.
    """
    kinds = ("consecutive_siblings", "grandparents")
    settings = (trees, "single", 3, 0.0, "serial", factors)
    for _ in range(3):
        shape = random_parts(rng, 3, kinds)
        lists = {}
        for kind in kinds:
            rows, scores = getattr(shape, kind)
            lists[kind] = (rows, scores + of_parts * rng.integers(-1, 2, len(scores)))
        parts = Parts(level_scores(rng, 3, scale), **lists)
        direction = rng.normal(size=parts.arcs.shape)

        def loss(moved, lists=lists, direction=direction):
            return np.sum(direction * SlowLoopy(Parts(moved, **lists), *settings).marginals)

        gradient = LoopyTrees(parts, *settings).vjp(direction).arcs
        slow = finite_difference(loss, parts.arcs, step=2.0**-11)
        assert np.abs(gradient - slow).max() < 1e-6


@pytest.mark.parametrize("scale", [1e3, 1e4, 1e12])
@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
@pytest.mark.parametrize("schedule", ["serial", "parallel"])
def test_no_score_is_too_large(scale, trees, root, schedule, rng):
    """1e4 is what annealing divides beliefs up to; every belief and gradient stays a number."""
    for kinds in (("siblings", "grandparents"), EVERY):
        for n_words in (1, 4):
            parts = random_parts(rng, n_words, kinds, forbidden=0.2, scale=scale)
            for damping in (0.0, 0.5):
                beliefs = LoopyTrees(parts, trees, root, 4, damping, schedule)
                marginals = beliefs.marginals
                assert ((marginals >= 0) & (marginals <= 1)).all()
                assert np.isfinite(beliefs.bethe_log_partition)
                assert np.isfinite(beliefs.residuals).all()
                gradient = beliefs.vjp(rng.normal(size=marginals.shape))
                assert np.isfinite(gradient.arcs).all()
                for kind in kinds:
                    assert (beliefs.part_marginals[kind] >= 0).all()
                    assert (beliefs.part_marginals[kind] <= 1 + 1e-12).all()
                    assert np.isfinite(gradient.parts[kind]).all()
                if schedule == "serial" and damping == 0.0:
                    assert np.abs(marginals[:, 1:].sum(axis=0) - 1).max() < 1e-9


def test_certain_arcs_stay_certain_under_large_scores():
    """An arc that is the only one into its word does not go off because a part likes it."""
    arcs = np.full((4, 4), -np.inf)
    arcs[0, 1] = arcs[1, 2] = 0.0
    arcs[1, 3] = arcs[2, 3] = 0.0
    parts = Parts(arcs, siblings=([[1, 2, 3]], [500.0]), grandparents=([[1, 2, 3]], [499.0]))
    beliefs = LoopyTrees(parts, iterations=6)
    assert beliefs.marginals[1, 2] == pytest.approx(1.0)
    assert beliefs.marginals[1, 3] == pytest.approx(1 / (1 + np.exp(-1.0)))


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
def test_a_very_long_sentence(scale, trees, rng):
    n_words = 150
    arcs = random_scores(rng, n_words, scale, 0.975)
    packed = Scores.over(arcs.ravel(), np.array([n_words]), ("siblings", "grandparents"))
    for table in packed.tables.values():
        table[:] = scale * rng.normal(size=len(table))
    loopy = PackedLoopy(packed, trees, "multi", 2)
    sums = loopy.sums()
    beliefs = sums.marginals.arcs.reshape(n_words + 1, -1)
    assert np.abs(beliefs[:, 1:].sum(axis=0) - 1).max() < 1e-9
    assert np.isfinite(sums.log_partition).all()
    gradient = loopy.vjp(beliefs.ravel())
    assert np.isfinite(gradient.arcs).all()
    assert all(np.isfinite(table).all() for table in gradient.tables.values())
