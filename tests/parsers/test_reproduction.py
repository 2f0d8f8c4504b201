"""Options that reproduce papers: the pruner's features, found rates, the schedule of BP."""

from __future__ import annotations

import json

import numpy as np
import pytest

from arbora import ArgumentError, LoopyTrees, Parser
from arbora.data.treebank import read_treebank
from arbora.fitting.loop import History
from arbora.models.model_file import from_bytes, to_bytes
from tests.parsers.test_fitting import Stop, Watcher, fit
from tests.small_parsers import SMALL, at_temperature, sentences, trained

BP = {"order": "sibling", "inference": "bp", "labels": "none", "bits": 12}
PRUNED = {"features": "carreras2007", "pruner_features": "basic2005", "pruner_passes": 1}


def test_the_pruner_has_its_own_features(test_sentences):
    parser = trained(**BP, **PRUNED)
    model = parser.model
    assert model.pruner.scorer.settings.templates == "basic2005"
    assert model.scorer.settings.templates == model.encoder.settings.templates == "carreras2007"
    assert model.pruner.scorer.settings.columns == model.encoder.settings.columns
    explained = model.pruner.scorer.explain_arc(read_treebank(test_sentences[:1]), None, 2, 1, 0)
    names = {name for name, *_ in explained}
    assert {"hp mp", "hc mc"} <= names
    assert not {"hp mp mp+1", "hp bp mp", "m5"} & names
    again = Parser.from_model(from_bytes(to_bytes(model)))
    assert again.model.pruner.scorer.settings == model.pruner.scorer.settings
    assert again.model.options == model.options
    heads = [s.heads.tolist() for s in parser.parse(test_sentences)]
    assert [s.heads.tolist() for s in again.parse(test_sentences)] == heads


def test_the_pruner_has_the_features_of_the_model_by_default():
    model = trained(**BP, features="mcdonald2005").model
    assert model.options.keywords()["pruner_features"] == "mcdonald2005"
    assert model.pruner.scorer.settings == model.encoder.settings


def test_the_pruner_makes_the_passes_asked_for():
    class Counting(Watcher):
        def begin(self, total, passes):
            pruning.append(passes)
            super().begin(total, passes)

    pruning = []
    fit(**BP, pruner_passes=3, observer=Counting())
    assert pruning == [3, SMALL["passes"]]
    few, many = (trained(**BP, pruner_passes=n).model.pruner.scorer.weights for n in (1, 3))
    assert not np.array_equal(few, many)


def test_resuming_a_pruner_with_its_own_features(tmp_path):
    options = BP | PRUNED | {"pruner_passes": 3, "passes": 2}
    whole = fit(**options)
    with pytest.raises(Stop):
        fit(**options, checkpoint=tmp_path / "m", observer=Watcher(stop_after=1))
    resumed = fit(**options, checkpoint=tmp_path / "m", resume=True)
    assert to_bytes(resumed.model) == to_bytes(whole.model)


def test_continued_training_keeps_the_pruner():
    start = trained(**BP, **PRUNED)
    further = Parser().fit(sentences("train", 12), start=start)
    assert np.array_equal(further.model.pruner.scorer.weights, start.model.pruner.scorer.weights)
    assert further.model.options.keywords()["pruner_features"] == "basic2005"
    for changed in ({"pruner_features": "rich"}, {"pruner_passes": 2}):
        with pytest.raises(ArgumentError, match="which cannot be changed"):
            Parser(**BP, **changed).fit(sentences("train", 12), start=start)


@pytest.mark.parametrize("trees", ["projective", "nonprojective"])
def test_the_schedule_of_belief_propagation(trees, test_sentences):
    options = BP | {"trees": trees, "learner": "l2", "bp_iterations": 3, "schedule": "parallel"}
    parser = at_temperature(trained(**options), 1.0)
    differ = 0
    for sentence in parser.parse(test_sentences):
        beliefs = parser.beliefs(sentence)
        serial = LoopyTrees(beliefs.parts, trees, beliefs.root, 3)
        words = np.arange(1, len(sentence) + 1)
        expected = np.minimum(beliefs.marginals[sentence.heads, words], 1.0)
        np.testing.assert_allclose(sentence.arc_probabilities, expected, atol=1e-9)
        differ += not np.allclose(serial.marginals, beliefs.marginals, atol=1e-6)
    assert differ > 0
    other = trained(**(options | {"schedule": "serial"}))
    assert not np.array_equal(other.model.scorer.weights, parser.model.scorer.weights)


LEARNERS = {
    "l2": {"learner": "l2"}, "risk": {"learner": "risk"}, "loglinear": {"learner": "loglinear"},
    "l2+risk": {"learner": "l2+risk", "risk_mix": 0.5},
}  # fmt: skip


@pytest.mark.parametrize("name", LEARNERS)
def test_found_rates_are_on_record(name):
    options = BP | LEARNERS[name] | {"pruner_passes": 1}
    parser = fit(**options, rate="auto")
    rates, card = parser.history.rates, parser.model.card
    assert len(rates) == len(parser.history.phases) == 1 + (name == "l2+risk")
    for rate in rates:
        assert rate is not None
        assert np.log2(rate / 0.05) == pytest.approx(round(np.log2(rate / 0.05)), abs=1e-9)
    assert card["best_pass"] == parser.history.best
    assert card["phases"] == [
        {"passes": passes, "rate": rate}
        for passes, rate in zip(parser.history.chosen, rates, strict=True)
    ]
    assert json.loads(json.dumps(card["phases"])) == card["phases"]
    if name != "l2+risk":  # training with the rate that was found is the same training
        again = fit(**options, rate=rates[0])
        assert np.array_equal(again.model.scorer.weights, parser.model.scorer.weights)
        assert again.history.rates == rates


def test_given_rates_are_on_record_too():
    assert fit(rate=0.25).history.rates == [0.25]
    assert fit(learner="l2+risk", rate=0.25).history.rates == [0.25, 0.025]
    assert fit(learner="mira").history.rates == [None]


def test_refitting_keeps_the_rate_that_was_found(monkeypatch):
    from arbora.fitting import phase_trainer

    searches = []

    def search(_, sentences, *others):
        searches.append((sentences, others))
        return 0.2

    monkeypatch.setattr(phase_trainer, "best_rate", search)
    parser = fit(dev=(), rate="auto")
    assert parser.model.card["refitted"]
    assert searches == [(36, (0.05, SMALL["seed"]))]  # not again on all 40
    assert parser.history.rates == [0.2]


def test_histories_without_rates_can_be_read():
    """Checkpoints of earlier versions."""
    values = History().to_dict()
    for phase in values["phases"]:
        del phase["rate"]
    assert History.from_dict(values) == History()
    values["phases"][0]["rate"] = "fast"
    with pytest.raises(TypeError, match="learning rate"):
        History.from_dict(values)
