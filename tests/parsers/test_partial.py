"""Partial annotation: every learner trains on the known heads."""

from __future__ import annotations

import numpy as np
import pytest

from tests.parsers.test_fitting import LEARNERS, Watcher, fit
from tests.small_parsers import sentences
from tests.toys import without_heads


@pytest.mark.parametrize("trees", ["projective", "nonprojective"])
@pytest.mark.parametrize("name", LEARNERS)
def test_partial_annotation(name, trees, rng):
    """70 % of the heads are missing, and every sentence is used."""
    train = [without_heads(s, rng, 0.7) for s in sentences("train", 60)]
    watcher = Watcher()
    if LEARNERS[name].get("inference") == "exact":
        trees = "projective"
    parser = fit(train, observer=watcher, **(LEARNERS[name] | {"trees": trees}))
    assert watcher.seen == 60 * len(parser.history.passes)
    assert "_" not in parser.model.labels
    for record in parser.history.passes:
        assert np.isfinite(record.loss)
    assert np.isfinite(parser.model.scorer.weights).all()
    assert parser.evaluate(sentences("train", 60)).uas > 0.0


def test_labels_are_learnt_from_annotation_only(rng):
    """The labeller is not trained on heads and labels that were filled in."""
    train = [without_heads(s, rng, 0.5) for s in sentences("train", 40)]
    weights = [
        fit(train, passes=1, **LEARNERS[name]).model.labeller.scorer.weights.tobytes()
        for name in ("maxmargin", "eg", "perceptron")
    ]
    assert len(set(weights)) == 1


def test_partial_annotation_costs_little(rng):
    options = {"passes": 6, "bits": 16}
    whole = fit(sentences("train"), **options)
    part = fit([without_heads(s, rng, 0.5) for s in sentences("train")], **options)
    test = sentences("test")
    assert part.evaluate(test).uas > whole.evaluate(test).uas - 12.0


@pytest.mark.parametrize("options", [{"learner": "maxmargin"}, {"optimizer": "eg"}], ids=str)
def test_gaps_are_filled_sensibly(options, rng):
    """With the nearest word as missing head, they lose more than twenty points."""
    options = options | {"passes": 6, "bits": 16, "labels": "none"}
    test = sentences("test")
    whole = fit(sentences("train", 250), **options).evaluate(test).uas
    train = [without_heads(s, rng, 0.5) for s in sentences("train", 250)]
    assert fit(train, **options).evaluate(test).uas > whole - 8.0


def test_partial_dev_is_scored_as_partial_gold(rng):
    dev = [without_heads(s, rng, 0.4) for s in sentences("dev", 15)]
    parser = fit(dev=dev)
    scores = parser.evaluate(dev)
    assert scores.unannotated == sum((s.heads < 0).sum() for s in dev) > 0
    reported = parser.model.card["dev"]
    assert (scores.uas, scores.las) == pytest.approx((reported["uas"], reported["las"]))
