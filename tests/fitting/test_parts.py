"""Losses of second order: gradients against differences, and what the learners do with them."""

from __future__ import annotations

import numpy as np
import pytest
from arbora.inference.part_inference import exact_inference
from arbora.parsers.settings import PARTS_OF_ORDER
from arbora.training.parts import (
    KeptArcs,
    PartMira,
    PartProblem,
    PartTrainer,
    choice_rival,
    dual_rival,
    exact_rival,
    part_perceptron,
    sum_likelihood,
    walk_likelihood,
    walk_rival,
)
from arbora.training.rules import Additive

from arbora.inference.automata import tree_parts
from arbora.inference.dual import decode_dual
from arbora.scoring import PartScorer
from tests.toys import toy_sentences, toy_treebank

ORDER = PARTS_OF_ORDER["grandsibling"]


@pytest.fixture
def problem(rng):
    settings, treebank = toy_treebank(toy_sentences(rng, [3, 5, 1, 6], trees="projective"))
    kept = KeptArcs(treebank.encoded.n_words)
    for i in range(len(treebank)):
        n = int(treebank.encoded.n_words[i])
        mask = np.ones((n + 1, n + 1), dtype=np.uint8)
        mask[:, 0] = 0
        np.fill_diagonal(mask, 0)
        kept.put(np.array([i]), mask.reshape(-1))
    return PartProblem(PartScorer(settings, 12, ORDER), treebank, kept)


@pytest.fixture
def weights(rng, problem):
    return rng.normal(scale=0.3, size=problem.scorer.size)


def everything(problem):
    return problem.treebank.batch(np.arange(len(problem.treebank)))


LIKELIHOODS = {
    "walks": walk_likelihood(0.0),
    "trees": sum_likelihood(exact_inference("single"), 0.0),
}


@pytest.mark.parametrize("sums", LIKELIHOODS)
def test_the_gradient_of_the_likelihood(problem, weights, sums):
    """By all arcs and by some parts."""
    objective, batch = LIKELIHOODS[sums], everything(problem)
    parts = problem.scores(weights, batch)
    gradient = objective(batch, parts).d_scores

    def value(arcs=parts.arcs, tables=parts.tables):
        return float(objective(batch, parts.with_scores(arcs, tables)).values.sum())

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
    assert (LIKELIHOODS[sums](batch, problem.scores(weights, batch)).values >= 0.0).all()


RIVALS = {
    "automata": walk_rival,
    "dual": dual_rival("nonprojective", "single", 500, "branch"),
    "hurried": dual_rival("nonprojective", "single", 2, "subgradient"),
    "exact": exact_rival("single"),
    "choices": choice_rival,
}


@pytest.mark.parametrize("rival", RIVALS)
def test_rivals_are_at_least_as_good_as_gold(problem, weights, rival):
    batch = everything(problem)
    parts = problem.scores(weights, batch)
    loss = part_perceptron(RIVALS[rival])(batch, parts)
    assert (loss.values >= -1e-9).all()
    found = RIVALS[rival](parts)
    gold, gold_scores = tree_parts(parts, batch.heads)
    cells = batch.layout.arcs(batch.heads)
    own = np.repeat(found.own_heads, batch.layout.n_words)
    of_choices = batch.layout.per_sentence(own * parts.arcs[cells])
    assert loss.values == pytest.approx(found.scores - gold_scores - of_choices)
    gold.arcs[cells] += own
    assert np.array_equal(loss.d_scores.arcs, found.parts.arcs - gold.arcs)
    # The score of a rival is that of its parts.
    kept = np.isfinite(parts.arcs)
    total = float((found.parts.arcs * np.where(kept, parts.arcs, 0.0)).sum())
    total += sum(float((found.parts.tables[k] * parts.tables[k]).sum()) for k in parts.kinds)
    assert total == pytest.approx(found.scores.sum())


def test_trees_that_are_not_certain_are_no_rivals(problem, weights):
    """Where two iterations do not settle a sentence, its rival is that of walks and choices."""
    parts = problem.scores(10.0 * weights, everything(problem))
    sure = decode_dual(parts, "nonprojective", "single", 2, "subgradient").certified
    assert sure.any()
    assert not sure.all()
    found, choices = RIVALS["hurried"](parts), choice_rival(parts)
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
    """With steps as large as needed, the rival of the step is beaten by its cost."""
    objective = PartMira(RIVALS[rival], problem.scorer, np.inf)
    rule = Additive(problem.scorer.size, 1)
    rule.start_from(weights)
    alone = PartProblem(problem.scorer, problem.treebank, problem.kept)
    trainer = PartTrainer(alone, objective, rule, batch_size=1, averaged=False)
    one = np.array([3])
    before = trainer.run_pass(one, lambda _: None).loss
    for _ in range(30):
        after = trainer.run_pass(one, lambda _: None).loss
    assert before > 0.0
    assert after == pytest.approx(0.0, abs=1e-9)
