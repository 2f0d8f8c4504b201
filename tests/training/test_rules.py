"""Lazy steps equal dense ones, whatever is touched when."""

from __future__ import annotations

import numpy as np
import pytest
from arbora.training.rules import AdaGrad, Additive, StochasticGradient

from arbora.scoring import ArcScorer, Gradient
from tests.toys import dense, encode, toy_sentences

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
    "additive": (lambda n: Additive(n, 1, 0.3), lambda n: DenseAdditive(n, 0.3)),
    "sgd": (
        lambda n: StochasticGradient(n, 1, 0.5, 2.0, 100),
        lambda n: DenseStochastic(n, 0.5, 2.0, 100),
    ),
    "sgd without l2": (
        lambda n: StochasticGradient(n, 1, 0.5, 0.0, 100),
        lambda n: DenseStochastic(n, 0.5, 0.0, 100),
    ),
    "sgd that shrinks": (
        lambda n: StochasticGradient(n, 1, 0.9, 90.0, 100),
        lambda n: DenseStochastic(n, 0.9, 90.0, 100),
    ),
    "adagrad": (
        lambda n: AdaGrad(n, 1, 0.1, 3.0, 100, 1e-3),
        lambda n: DenseAdaGrad(n, 0.1, 3.0, 100, 1e-3),
    ),
    "adagrad without l2": (
        lambda n: AdaGrad(n, 1, 0.1, 0.0, 100, 1e-6),
        lambda n: DenseAdaGrad(n, 0.1, 0.0, 100, 1e-6),
    ),
}


class Steps:
    """Sparse gradients of real features, some empty; the last batch of a pass is smaller."""

    def __init__(self, rng):
        sentences = toy_sentences(rng, [4, 5, 6, 3])
        settings, self.encoded = encode(sentences, "mcdonald2005")
        self.scorer = ArcScorer(settings, 12)
        self.size = self.scorer.size
        self.rng = rng

    def __iter__(self):
        gradient = Gradient(self.size)
        for step in range(STEPS):
            chosen = self.rng.permutation(4)[: 1 if step % 5 == 4 else 2]
            sides = self.encoded.n_words[chosen] + 1
            d = self.rng.normal(size=int((sides**2).sum()))
            d[self.rng.random(len(d)) < (1.0 if step % 7 == 3 else 0.9)] = 0.0
            self.scorer.expand(gradient, self.encoded, chosen, d)
            yield gradient, dense(gradient, self.size), len(chosen)


@pytest.fixture(params=RULES)
def pair(request, rng):
    lazy, slow = RULES[request.param]
    steps = Steps(rng)
    return lazy(steps.size), slow(steps.size), steps


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
    close(lazy.average(), slow.average())
    close(lazy.current(), slow.w)


def test_looking_in_between_changes_nothing(pair):
    lazy, slow, steps = pair
    for gradient, g, sentences in steps:
        lazy.apply(gradient, sentences)
        slow.step(g, sentences)
        close(lazy.average(), slow.average())
        once = lazy.average()
        assert once.tobytes() == lazy.average().tobytes()
        close(lazy.current(), slow.w)


def test_beginning_at_given_weights(pair, rng):
    lazy, slow, steps = pair
    start = rng.normal(size=steps.size)
    lazy.start_from(start)
    slow.w = start.copy()
    for gradient, g, sentences in steps:
        lazy.apply(gradient, sentences)
        slow.step(g, sentences)
    close(lazy.average(), slow.average())
    close(lazy.current(), slow.w)


@pytest.mark.parametrize("name", RULES)
def test_a_checkpoint_goes_on_to_the_same_bytes(name):
    def run(interrupted):
        steps = Steps(np.random.default_rng(3))
        rule = RULES[name][0](steps.size)
        for number, (gradient, _, sentences) in enumerate(steps):
            rule.apply(gradient, sentences)
            if number != 20:
                continue
            rule.average()  # as after a pass
            if interrupted:
                saved = {key: np.array(value) for key, value in rule.checkpoint().items()}
                rule = RULES[name][0](steps.size)
                rule.restore(saved)
        return rule.average().tobytes(), rule.current().tobytes()

    assert run(True) == run(False)


@pytest.mark.parametrize("name", RULES)
def test_threads_change_nothing(name):
    answers = []
    for threads in (1, 2):
        steps = Steps(np.random.default_rng(4))
        rule = RULES[name][0](steps.size)
        rule.threads = threads
        for gradient, _, sentences in steps:
            rule.apply(gradient, sentences)
        answers.append((rule.average().tobytes(), rule.current().tobytes()))
    assert answers[0] == answers[1]


def test_entries_that_cancel(rng):
    """A slot whose entries add up to zero on the way is counted once, with its sum."""
    steps = Steps(rng)
    gradient = Gradient(steps.size)
    side = int(steps.encoded.n_words[0]) + 1
    d = np.zeros((2, side * side))
    d[0, 1 * side + 2], d[1, 1 * side + 2] = 1.0, -1.0
    d[1, 1 * side + 3] = 0.5
    steps.scorer.expand(gradient, steps.encoded, np.array([0, 0]), d.reshape(-1))
    total = dense(gradient, steps.size)
    steps.scorer.expand(gradient, steps.encoded, np.array([0]), d.sum(axis=0))
    np.testing.assert_allclose(total, dense(gradient, steps.size), atol=1e-12)
    rule = Additive(steps.size, 1)
    steps.scorer.expand(gradient, steps.encoded, np.array([0, 0]), d.reshape(-1))
    rule.apply(gradient, 2)
    np.testing.assert_allclose(rule.weights, -total, atol=1e-12)
