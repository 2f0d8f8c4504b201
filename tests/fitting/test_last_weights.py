"""Without averaging, the last weights are those that dev scores and that the model keeps."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import Parser
from arbora.fitting.dev import DevSet
from arbora.fitting.online import OnlineTrainer
from tests.small_parsers import SMALL, sentences

BP = {"order": "sibling", "inference": "bp", "pruner_passes": 2}
LEARNERS = {
    "l2": {"learner": "l2"},
    "risk": {"learner": "risk"},
    "loglinear": {"learner": "loglinear"},
    "l2 by bp": {"learner": "l2", **BP},
    "risk by bp": {"learner": "risk", **BP},
    "loglinear by bp": {"learner": "loglinear", **BP},
}


@pytest.fixture
def watched(monkeypatch):
    """The last weights and the averaged ones after each pass, and the weights that dev scored."""
    last, mean, on_dev = [], [], []
    run_pass, score = OnlineTrainer.run_pass, DevSet.score

    def run_and_note(trainer, order, tick):
        report = run_pass(trainer, order, tick)
        last.append(trainer.rule.current()["weights"].astype(np.float32))
        mean.append(trainer.rule.average()["weights"].astype(np.float32))
        return report

    def note_and_score(dev, decoder):
        on_dev.append(decoder.model.scorer.weights.copy())
        return score(dev, decoder)

    monkeypatch.setattr(OnlineTrainer, "run_pass", run_and_note)
    monkeypatch.setattr(DevSet, "score", note_and_score)
    return last, mean, on_dev


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_dev_and_the_model_have_the_weights_asked_for(name, average, watched):
    options = SMALL | LEARNERS[name] | {
        "average": average, "regularization": 1.0, "labels": "none", "bits": 12,
    }  # fmt: skip
    parser = Parser(**options).fit(sentences("train", 20), sentences("dev", 8))
    last, mean, on_dev = watched
    if "order" in options:  # the pruner came first, and is always averaged
        assert np.array_equal(
            parser.model.pruner.scorer.weights, mean[options["pruner_passes"] - 1]
        )
        del last[: options["pruner_passes"]], mean[: options["pruner_passes"]]
    expected, other = (mean, last) if average else (last, mean)
    assert len(expected) == options["passes"]
    for number in range(options["passes"]):
        assert np.array_equal(on_dev[number], expected[number])
        assert not np.array_equal(on_dev[number], other[number])
    best = parser.history.best
    assert np.array_equal(parser.model.scorer.weights, expected[best - 1])
