"""Lazy updates equal dense ones."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.fitting.rules import AdaGrad, Additive, StochasticGradient
from arbora.scoring import LinearScorer
from tests.toys import batch_of, dense, encode, pulled_back, toy_sentences

STEPS = 60


class DenseAdditive:
    def __init__(self, size, rate):
        self.w, self.rate, self.sum, self.count = np.zeros(size), rate, np.zeros(size), 0

    def step(self, g, sentences):
        self.w = self.w - self.rate * g
        self.sum += sentences * self.w
        self.count += sentences

    def average(self):
        return self.sum / self.count


class DenseStochastic(DenseAdditive):
    def __init__(self, size, rate, l2, total):
        super().__init__(size, rate)
        self.decay = l2 / total

    def step(self, g, sentences):
        rate = self.rate / (1.0 + self.rate * self.decay * self.count)
        self.w = self.w * (1.0 - min(0.9, rate * self.decay * sentences)) - rate * g
        self.sum += sentences * self.w
        self.count += sentences


class DenseAdaGrad(DenseAdditive):
    def __init__(self, size, rate, l2, total, delta):
        super().__init__(size, rate)
        self.l2, self.total, self.delta, self.squares = l2, total, delta, np.zeros(size)
        self.decay = None

    def step(self, g, sentences):
        self.decay = self.l2 * sentences / self.total if self.decay is None else self.decay
        self.squares += g * g
        h = self.delta + np.sqrt(self.squares)
        self.w = (h * self.w - self.rate * g) / (h + self.rate * self.decay)
        self.sum += self.w
        self.count += 1


RULES = {
    "additive": (lambda scorer: Additive(scorer, 0.3), lambda n: DenseAdditive(n, 0.3)),
    "sgd": (
        lambda scorer: StochasticGradient(scorer, 0.5, 2.0, 100),
        lambda n: DenseStochastic(n, 0.5, 2.0, 100),
    ),
    "sgd without l2": (
        lambda scorer: StochasticGradient(scorer, 0.5, 0.0, 100),
        lambda n: DenseStochastic(n, 0.5, 0.0, 100),
    ),
    "sgd that shrinks": (
        lambda scorer: StochasticGradient(scorer, 0.9, 90.0, 100),
        lambda n: DenseStochastic(n, 0.9, 90.0, 100),
    ),
    "adagrad": (
        lambda scorer: AdaGrad(scorer, 0.1, 3.0, 100, 1e-3),
        lambda n: DenseAdaGrad(n, 0.1, 3.0, 100, 1e-3),
    ),
    "adagrad without l2": (
        lambda scorer: AdaGrad(scorer, 0.1, 0.0, 100, 1e-6),
        lambda n: DenseAdaGrad(n, 0.1, 0.0, 100, 1e-6),
    ),
}


class Steps:
    """Sparse gradients of real features, some empty; the last batch of a pass is smaller."""

    def __init__(self, rng):
        sentences = toy_sentences(rng, [4, 5, 6, 3])
        settings, self.encoded = encode(sentences, "mcdonald2005")
        self.scorer = LinearScorer(settings, 12)
        self.size = self.scorer.size
        self.rng = rng

    def __iter__(self):
        for step in range(STEPS):
            chosen = self.rng.permutation(4)[: 1 if step % 5 == 4 else 2]
            sides = self.encoded.n_words[chosen] + 1
            d = self.rng.normal(size=int((sides**2).sum()))
            d[self.rng.random(len(d)) < (1.0 if step % 7 == 3 else 0.9)] = 0.0
            gradient = pulled_back(self.scorer, batch_of(self.encoded, chosen), d)
            yield gradient, dense(gradient, self.size), len(chosen)


@pytest.fixture(params=RULES)
def pair(request, rng):
    lazy, slow = RULES[request.param]
    steps = Steps(rng)
    return lazy(steps.scorer), slow(steps.size), steps


def average(rule):
    return rule.average()["weights"]


def current(rule):
    return rule.current()["weights"]


def close(lazy, slow):
    scale = np.abs(slow).max()
    np.testing.assert_allclose(lazy, slow, rtol=1e-12, atol=1e-12 * scale)


def test_lazy_equals_dense(pair):
    lazy, slow, steps = pair
    for gradient, g, sentences in steps:
        lazy.apply(gradient, sentences)
        slow.step(g, sentences)
    assert np.count_nonzero(slow.w) > 100
    assert np.count_nonzero(slow.w) < len(slow.w)
    close(average(lazy), slow.average())
    close(current(lazy), slow.w)


def test_looking_in_between_changes_nothing(pair):
    lazy, slow, steps = pair
    for gradient, g, sentences in steps:
        lazy.apply(gradient, sentences)
        slow.step(g, sentences)
        close(average(lazy), slow.average())
        once = average(lazy)
        assert once.tobytes() == average(lazy).tobytes()
        close(current(lazy), slow.w)


def test_beginning_at_given_weights(pair, rng):
    lazy, slow, steps = pair
    start = rng.normal(size=steps.size)
    lazy.start_from({"weights": start})
    slow.w = start.copy()
    for gradient, g, sentences in steps:
        lazy.apply(gradient, sentences)
        slow.step(g, sentences)
    close(average(lazy), slow.average())
    close(current(lazy), slow.w)


@pytest.mark.parametrize("name", RULES)
def test_a_checkpoint_goes_on_to_the_same_bytes(name):
    def run(interrupted):
        steps = Steps(np.random.default_rng(3))
        rule = RULES[name][0](steps.scorer)
        for number, (gradient, _, sentences) in enumerate(steps):
            rule.apply(gradient, sentences)
            if number != 20:
                continue
            rule.average()  # as after a pass
            if interrupted:
                saved = {key: np.array(value) for key, value in rule.checkpoint().items()}
                rule = RULES[name][0](steps.scorer)
                rule.restore(saved)
        return average(rule).tobytes(), current(rule).tobytes()

    assert run(True) == run(False)


@pytest.mark.parametrize("name", RULES)
def test_threads_change_nothing(name):
    answers = []
    for threads in (1, 2):
        steps = Steps(np.random.default_rng(4))
        rule = RULES[name][0](steps.scorer)
        rule.threads = threads
        for gradient, _, sentences in steps:
            rule.apply(gradient, sentences)
        answers.append((average(rule).tobytes(), current(rule).tobytes()))
    assert answers[0] == answers[1]


def test_entries_that_cancel(rng):
    """A slot whose partial sum is zero is still counted once, with its sum."""
    steps = Steps(rng)
    side = int(steps.encoded.n_words[0]) + 1
    d = np.zeros((2, side * side))
    d[0, 1 * side + 2], d[1, 1 * side + 2] = 1.0, -1.0
    d[1, 1 * side + 3] = 0.5
    twice, once = (batch_of(steps.encoded, np.array(chosen)) for chosen in ([0, 0], [0]))
    total = dense(pulled_back(steps.scorer, twice, d.reshape(-1)), steps.size)
    summed = dense(pulled_back(steps.scorer, once, d.sum(axis=0)), steps.size)
    np.testing.assert_allclose(total, summed, atol=1e-12)
    rule = Additive(steps.scorer)
    rule.apply(pulled_back(steps.scorer, twice, d.reshape(-1)), 2)
    np.testing.assert_allclose(rule.weights, -total, atol=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_the_scorer_sees_every_step(name):
    """Between batches, the scorer uses the rule's weights and scale."""
    steps = Steps(np.random.default_rng(5))
    rule = RULES[name][0](steps.scorer)
    batch = batch_of(steps.encoded)
    for gradient, _, sentences in steps:
        rule.apply(gradient, sentences)
        rule.current()  # decay that was put off is made up for
        found = steps.scorer.scores(batch)[0].arcs
        again = steps.scorer.with_parameters(rule.current()).scores(batch)[0].arcs
        np.testing.assert_allclose(found, again, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_a_new_rule_scores_with_its_own_scale(name):
    """As in a search for a learning rate, where several rules use the same scorer in turn."""
    steps = Steps(np.random.default_rng(6))
    earlier = StochasticGradient(steps.scorer, 0.9, 90.0, 100)
    for gradient, _, sentences in steps:
        earlier.apply(gradient, sentences)
    assert steps.scorer.scale < 1.0
    RULES[name][0](steps.scorer).start_from({"weights": np.ones(steps.size)})
    plain = LinearScorer(steps.scorer.settings, 12).with_parameters(
        {"weights": np.ones(steps.size)}
    )
    batch = batch_of(steps.encoded)
    assert np.array_equal(steps.scorer.scores(batch)[0].arcs, plain.scores(batch)[0].arcs)
