"""Second-order losses: gradients against finite differences, and their use in learners."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.fitting.mira import Mira
from arbora.fitting.online import OnlineTrainer
from arbora.fitting.rivals import choice_rival, dual_rival, exact_rival, walk_rival
from arbora.fitting.rules import Additive
from arbora.inference.dual import decode_dual
from arbora.inference.engines import DualDecomposition, SecondOrder
from arbora.inference.tree_parts import tree_parts
from arbora.losses import composite_likelihood, negative_log_likelihood, perceptron_loss
from arbora.options import GrandsiblingOptions, MiraOptions
from tests.toys import random_weights, scored, toy_part_problem, toy_sentences


@pytest.fixture
def problem(rng):
    sentences = toy_sentences(rng, [3, 5, 1, 6], trees="projective")
    return toy_part_problem(sentences, GrandsiblingOptions.automata, bits=12)


@pytest.fixture
def weights(rng, problem):
    return random_weights(rng, problem.scorer, 0.3)


def everything(problem):
    return problem.treebank.batch(np.arange(len(problem.treebank)))


LIKELIHOODS = {
    "walks": composite_likelihood,
    "trees": lambda scores, gold: negative_log_likelihood(scores, gold, SecondOrder("single")),
}


@pytest.mark.parametrize("sums", LIKELIHOODS)
def test_the_gradient_of_the_likelihood(problem, weights, sums):
    """By all arcs and by some parts."""
    objective, batch = LIKELIHOODS[sums], everything(problem)
    parts, gold = scored(problem.scorer, weights, batch), problem.gold(batch)
    gradient = objective(parts, gold).d_scores

    def value(arcs=parts.arcs, tables=parts.tables):
        return float(objective(parts.with_values(arcs, tables), gold).values.sum())

    for i in np.flatnonzero(np.isfinite(parts.arcs))[::3]:
        up, down = parts.arcs.copy(), parts.arcs.copy()
        up[i] += 1e-5
        down[i] -= 1e-5
        assert gradient.arcs[i] == pytest.approx((value(up) - value(down)) / 2e-5, abs=1e-7)
    for kind in parts.kinds:
        for i in range(0, len(parts.tables[kind]), 29):
            moved = []
            for step in (1e-5, -1e-5):
                table = parts.tables[kind].copy()
                table[i] += step
                moved.append(value(tables=parts.tables | {kind: table}))
            slope = (moved[0] - moved[1]) / 2e-5
            assert gradient.tables[kind][i] == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("sums", LIKELIHOODS)
def test_a_likelihood_is_no_more_than_one(problem, weights, sums):
    batch = everything(problem)
    scores = scored(problem.scorer, weights, batch)
    assert (LIKELIHOODS[sums](scores, problem.gold(batch)).values >= 0.0).all()


RIVALS = {
    "automata": walk_rival(),
    "dual": dual_rival(DualDecomposition(500, "branch", "nonprojective", "single")),
    "hurried": dual_rival(DualDecomposition(2, "subgradient", "nonprojective", "single")),
    "exact": exact_rival(SecondOrder("single")),
    "choices": choice_rival(),
}


@pytest.mark.parametrize("rival", RIVALS)
def test_rivals_are_at_least_as_good_as_gold(problem, weights, rival):
    batch = everything(problem)
    parts = scored(problem.scorer, weights, batch)
    loss = perceptron_loss(parts, problem.gold(batch), RIVALS[rival])
    assert (loss.values >= -1e-9).all()
    found = RIVALS[rival](parts)
    gold, gold_scores = tree_parts(parts, batch.heads)
    cells = batch.layout.arcs(batch.heads)
    own = np.repeat(found.own_heads, batch.layout.n_words)
    of_choices = batch.layout.per_sentence(own * parts.arcs[cells])
    assert loss.values == pytest.approx(found.scores - gold_scores - of_choices)
    gold.arcs[cells] += own
    assert np.array_equal(loss.d_scores.arcs, found.parts.arcs - gold.arcs)
    for kind in parts.kinds:
        expected = found.parts.tables[kind] - gold.tables[kind]
        assert np.array_equal(loss.d_scores.tables[kind], expected)
    # The score of a rival is that of its parts.
    kept = np.isfinite(parts.arcs)
    total = float((found.parts.arcs * np.where(kept, parts.arcs, 0.0)).sum())
    total += sum(float((found.parts.tables[k] * parts.tables[k]).sum()) for k in parts.kinds)
    assert total == pytest.approx(found.scores.sum())


def test_trees_that_are_not_certain_are_no_rivals(problem, weights):
    """If two iterations do not certify a tree, the rival is that of `choice_rival`."""
    parts = scored(problem.scorer, 10.0 * weights, everything(problem))
    sure = decode_dual(parts, "nonprojective", "single", 2, "subgradient").certified
    assert sure.any()
    assert not sure.all()
    found, choices = RIVALS["hurried"](parts), choice_rival()(parts)
    trees = RIVALS["dual"](parts)
    assert found.own_heads.tolist() == (~sure).tolist()
    assert found.scores == pytest.approx(np.where(sure, trees.scores, choices.scores))
    ends = np.cumsum((parts.n_words + 1) ** 2)
    for i, end in enumerate(ends.tolist()):
        cells = slice(end - int(parts.n_words[i] + 1) ** 2, end)
        expected = trees.parts if sure[i] else choices.parts
        assert found.parts.arcs[cells] == pytest.approx(expected.arcs[cells])


@pytest.mark.parametrize("rival", RIVALS)
def test_mira_wins_the_margin_of_one_sentence(problem, weights, rival):
    """With unlimited step size, the update achieves the margin against its rival."""
    options = MiraOptions(largest_step=np.inf)
    objective = Mira(options, problem.scorer, problem.engine, RIVALS[rival])
    rule = Additive(problem.scorer)
    rule.start_from({"weights": weights})
    trainer = OnlineTrainer(problem, objective, rule, batch_size=1, averaged=False)
    one = np.array([3])
    before = trainer.run_pass(one, lambda _: None).loss
    for _ in range(30):
        after = trainer.run_pass(one, lambda _: None).loss
    assert before > 0.0
    assert after == pytest.approx(0.0, abs=1e-9)
