"""Dense update rules against loops over single numbers; checkpoints."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arbora.fitting.dense_rules import DenseAdaGrad, DenseAdam, DenseGradient, Schedule

RATE, REGULARIZATION, TOTAL, DELTA = 0.3, 2.0, 40, 1e-3
SHAPES = {"matrix": (3, 2), "bias": (4,)}
STEPS = 25


class Arrays:
    """The part of a scorer that update rules use: parameters by name."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self._own = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}

    def parameters(self):
        return self._own


def rule_of(name, scorer):
    if name == "sgd":
        return DenseGradient(scorer, RATE, REGULARIZATION, TOTAL)
    return DenseAdaGrad(scorer, RATE, REGULARIZATION, TOTAL, DELTA)


def gradients(seed):
    """Gradients of mini-batches, the last of a pass smaller."""
    rng = np.random.default_rng(seed)
    for step in range(STEPS):
        yield {n: rng.normal(size=shape) for n, shape in SHAPES.items()}, 1 if step % 5 == 4 else 4


def slowly(name, start, steps):
    """One number at a time: the objective is sum of losses + regularization / 2 * w^2."""
    w, squares, mean, seen = start, 0.0, 0.0, 0
    for number, (g, sentences) in enumerate(steps, start=1):
        g += REGULARIZATION * w * sentences / TOTAL
        if name == "sgd":
            w -= RATE / (1.0 + RATE * REGULARIZATION / TOTAL * seen) * g
        else:
            squares += g * g
            w -= RATE * g / (DELTA + math.sqrt(squares))
        seen += sentences
        mean += (w - mean) / number
    return w, mean


@pytest.mark.parametrize("name", ["sgd", "adagrad"])
def test_steps_of_every_number(name):
    scorer = Arrays(1)
    start = {key: values.copy() for key, values in scorer.parameters().items()}
    rule = rule_of(name, scorer)
    assert all(np.array_equal(rule.average()[key], start[key]) for key in SHAPES)  # no step yet
    for gradient, sentences in gradients(2):
        rule.apply(gradient, sentences)
    for key, values in start.items():
        for place in np.ndindex(values.shape):
            steps = [(gradient[key][place], sentences) for gradient, sentences in gradients(2)]
            w, mean = slowly(name, values[place], steps)
            assert rule.current()[key][place] == pytest.approx(w, rel=1e-12)
            assert rule.average()[key][place] == pytest.approx(mean, rel=1e-10)
            assert scorer.parameters()[key][place] == rule.current()[key][place]  # in place


@pytest.mark.parametrize("name", ["sgd", "adagrad"])
def test_a_checkpoint_continues_to_the_same_bytes(name):
    def run(interrupted):
        rule = rule_of(name, Arrays(1))
        for number, (gradient, sentences) in enumerate(gradients(3)):
            rule.apply(gradient, sentences)
            if interrupted and number == 11:
                saved = {key: np.array(value) for key, value in rule.checkpoint().items()}
                rule = rule_of(name, Arrays(9))
                rule.restore(saved)
        return [
            values.tobytes() for get in (rule.current, rule.average) for values in get().values()
        ]

    assert run(True) == run(False)


def test_adagrad_continues_with_the_squares_of_an_earlier_rule():
    """Steps stay as small as before; the average restarts."""
    earlier = rule_of("adagrad", Arrays(1))
    for gradient, sentences in gradients(4):
        earlier.apply(gradient, sentences)
    start = earlier.current()
    further, fresh = rule_of("adagrad", Arrays(5)), rule_of("adagrad", Arrays(5))
    further.continue_from(earlier, start)
    fresh.start_from(start)
    gradient, sentences = next(iter(gradients(6)))
    for rule in (further, fresh):
        assert all(np.array_equal(rule.current()[key], start[key]) for key in SHAPES)
        rule.apply(gradient, sentences)
    for key in SHAPES:
        moved = np.abs(further.current()[key] - start[key])
        assert (moved < np.abs(fresh.current()[key] - start[key])).all()
        np.testing.assert_array_equal(further.average()[key], further.current()[key])


def test_adam_is_the_textbook_with_a_schedule_clipping_and_an_average():
    """Against one number at a time; the moments are corrected for their start at zero."""
    schedule = Schedule(rate=0.1, steps=STEPS, warm_up=0.2)
    scorer, twin = Arrays(1), Arrays(1)
    rule = DenseAdam(scorer, schedule, TOTAL, clip=1.5)
    values = {name: list(v.reshape(-1)) for name, v in twin.parameters().items()}
    means = {name: [0.0] * len(v) for name, v in values.items()}
    squares = {name: [0.0] * len(v) for name, v in values.items()}
    averages = {name: [0.0] * len(v) for name, v in values.items()}
    for step, (gradient, count) in enumerate(gradients(4), start=1):
        length = math.sqrt(sum(float((g**2).sum()) for g in gradient.values())) / count
        scale = min(1.0, 1.5 / length) / count
        rising = 0.2 * STEPS
        share = step / (rising + 1) if step - 1 < rising else (STEPS - step + 1) / (STEPS - rising)
        memory = 1.0 - 1.0 / max(1.0, step / 10)
        for name, flat in values.items():
            for k, own in enumerate(gradient[name].reshape(-1)):
                g = own * scale
                means[name][k] = 0.9 * means[name][k] + 0.1 * g
                squares[name][k] = 0.98 * squares[name][k] + 0.02 * g * g
                mean = means[name][k] / (1 - 0.9**step)
                square = squares[name][k] / (1 - 0.98**step)
                small = 1e-8 / math.sqrt(1 - 0.98**step)  # added before the correction
                flat[k] -= 0.1 * share * mean / (math.sqrt(square) + small)
                averages[name][k] = memory * averages[name][k] + (1 - memory) * flat[k]
        rule.apply({name: g.copy() for name, g in gradient.items()}, count)
    for name, flat in values.items():
        np.testing.assert_allclose(rule.current()[name].reshape(-1), flat, rtol=1e-6)
        np.testing.assert_allclose(rule.average()[name].reshape(-1), averages[name], rtol=1e-6)


def test_adam_resumes_from_its_checkpoint():
    def rule():
        return DenseAdam(Arrays(1), Schedule(0.1, STEPS, 0.1), TOTAL, clip=1.0)

    whole, first, second = rule(), rule(), rule()
    for step, (gradient, count) in enumerate(gradients(2)):
        whole.apply({name: g.copy() for name, g in gradient.items()}, count)
        if step == 10:
            saved = {name: np.array(v) for name, v in first.checkpoint().items()}
            second.restore(saved)
        (second if step >= 10 else first).apply(dict(gradient), count)
    for name, values in whole.average().items():
        assert np.array_equal(values, second.average()[name])
