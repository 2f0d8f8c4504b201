"""Parsers with belief propagation, and learners that backpropagate through it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arbora import ArgumentError, LoopyTrees, Parser, Sentence
from arbora.data.treebank import read_treebank
from arbora.models.model_file import from_bytes, to_bytes
from arbora.models.output import parse_block
from arbora.options import ParseOptions, ParserOptions
from tests.small_parsers import SMALL, at_temperature, sentences, trained
from tests.toys import toy_sentences, without_heads

BP = {"order": "grandsibling", "inference": "bp", "labels": "none"}


def decoded(parser, some, **options):
    how = ParseOptions(**options)
    return parse_block(parser.decoder(how), read_treebank(some), how)


@pytest.mark.parametrize("factors", ["pairs", "automata"])
@pytest.mark.parametrize("trees", ["projective", "nonprojective"])
def test_trees_and_probabilities_are_those_of_the_beliefs(factors, trees, test_sentences):
    options = BP | {"factors": factors, "trees": trees, "bp_iterations": 2, "damping": 0.1}
    parser = at_temperature(trained(**options), 1.0)
    for sentence in parser.parse(test_sentences):
        beliefs = parser.beliefs(sentence)
        assert isinstance(beliefs, LoopyTrees)
        assert sentence.heads.tolist() == beliefs.mbr().heads.tolist()
        words = np.arange(1, len(sentence) + 1)
        expected = np.minimum(beliefs.marginals[sentence.heads, words], 1.0)
        np.testing.assert_allclose(sentence.arc_probabilities, expected, atol=1e-9)
        assert sentence.log_prob is None  # beliefs are of arcs, not of trees


def test_the_temperature_makes_beliefs_honest(test_sentences):
    parser = trained(**BP)
    assert parser.model.temperature != 1.0
    hot = at_temperature(parser, 50.0).parse(test_sentences)
    cold = at_temperature(parser, 0.5).parse(test_sentences)
    assert sum(s.arc_probabilities.sum() for s in hot) < sum(
        s.arc_probabilities.sum() for s in cold
    )
    assert [s.heads.tolist() for s in hot] == [s.heads.tolist() for s in cold]


def test_written_probabilities(test_sentences):
    text = decoded(trained(**BP), test_sentences, probabilities=True).to_bytes(True).decode()
    assert "ArcProb=" in text
    assert "log_prob" not in text


def test_who_has_beliefs(test_sentences):
    with pytest.raises(ArgumentError, match="requires a model trained with inference='bp'"):
        trained().beliefs(test_sentences[0])
    with pytest.raises(ArgumentError, match=r"use beliefs\(\)"):
        trained(**BP).distribution(test_sentences[0])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"certificates": True}, "certificates requires a model that searches"),
        ({"decode": "map"}, r"inference \(bp\): use mbr"),
        ({"decode": "greedy"}, r"inference \(bp\): use mbr"),
        ({"kbest": 3}, "kbest requires a first-order model"),
        ({"samples": 3}, "samples requires a first-order model"),
    ],
)
def test_what_beliefs_cannot_answer(options, reason, test_sentences):
    with pytest.raises(ArgumentError, match=reason):
        trained(**BP).parse(test_sentences, **options)


def test_the_class_to_choose_from(test_sentences):
    from arbora.inference.tree_checks import in_class

    parser = trained(**BP)
    for sentence in parser.parse(test_sentences, trees="projective"):
        row = sentence.heads[None, :].astype(np.int64)
        assert in_class(row, "projective", parser.model.root).all()


def test_learnt_with_beliefs_and_decoded_by_dual_decomposition(test_sentences):
    parser = trained(order="grandsibling", training_inference="bp", labels="none")
    options = parser.model.options.keywords()
    assert (options["inference"], options["factors"]) == ("dual", "automata")
    assert (options["learner"], options["decode"]) == ("loglinear", "map")
    text = decoded(parser, test_sentences).to_bytes(False, True).decode()
    assert text.count("# arbora.certified = yes") > len(test_sentences) // 2


def test_one_model_for_three_inferences(test_sentences):
    """Models with automata can be decoded by each inference, with nearly the same trees."""
    options = {"order": "grandsibling", "training_inference": "bp", "trees": "projective"}
    model = trained(**options, labels="none").model
    heads = {}
    for inference, decode in (("dual", "map"), ("exact", "mbr"), ("bp", "mbr")):
        chosen = ParserOptions.from_keywords(
            {"inference": inference, "decode": decode}, model.options.keywords()
        )
        parser = Parser.from_model(replace(model, options=chosen))
        found = parser.parse(test_sentences, probabilities=False)
        heads[inference] = np.concatenate([sentence.heads for sentence in found])
    assert (heads["dual"] == heads["exact"]).mean() > 0.9
    assert (heads["bp"] == heads["exact"]).mean() > 0.9


def test_the_file_holds_everything(test_sentences):
    parser = trained(**BP, bp_iterations=3)
    again = Parser.from_model(from_bytes(to_bytes(parser.model)))
    assert again.model.options == parser.model.options
    heads = [s.heads.tolist() for s in parser.parse(test_sentences)]
    assert [s.heads.tolist() for s in again.parse(test_sentences)] == heads


LEARNERS = {
    "first order, l2": {"learner": "l2"},
    "first order, projective risk": {"learner": "risk", "trees": "projective"},
    "exact, l2+risk": {
        "learner": "l2+risk", "order": "sibling", "trees": "projective", "inference": "exact",
    },
    "beliefs, loglinear": {"order": "grandparent", "inference": "bp"},
    "beliefs, l2": {"learner": "l2", "order": "grandsibling", "bp_iterations": 1},
    "automata, l2": {"learner": "l2", "order": "sibling", "factors": "automata"},
    "beliefs, risk": {"learner": "risk", "order": "sibling", "trees": "projective"},
    "beliefs, l2+risk": {"learner": "l2+risk", "order": "grandparent"},
}  # fmt: skip


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_learn(name):
    options = SMALL | LEARNERS[name] | {"labels": "none", "passes": 4, "regularization": 10.0}
    parser = Parser(threads=2, **options).fit(sentences("train", 120), sentences("dev", 40))
    first, best = parser.history.passes[0], parser.history.passes[parser.history.best - 1]
    assert best.uas >= first.uas
    assert best.uas > 75.0
    assert parser.history.passes[3].loss < first.loss  # of one phase, the same loss


@pytest.mark.parametrize("name", ["beliefs, l2", "automata, l2", "beliefs, loglinear"])
def test_threads_change_nothing(name):
    options = SMALL | LEARNERS[name]
    models = [
        to_bytes(
            Parser(threads=n, **options).fit(sentences("train", 40), sentences("dev", 9)).model
        )
        for n in (1, 2)
    ]
    assert models[0] == models[1]


@pytest.mark.parametrize("learner", ["l2", "l2+risk", "loglinear"])
@pytest.mark.parametrize("order", ["first", "sibling"])
def test_partial_annotation(learner, order, rng):
    partial = [without_heads(s, rng, 0.5) for s in toy_sentences(rng, [5, 6, 7, 4] * 8)]
    inference = {} if order == "first" else {"inference": "bp"}
    parser = Parser(**SMALL, learner=learner, order=order, labels="none", **inference).fit(partial)
    assert len(parser.parse(toy_sentences(rng, [5, 9]))) == 2


def crossing(count):
    """Sentences whose second word always hangs on the fourth, across the arc of the third."""
    forms, tags, heads = ["root", "far", "near", "head"], ["A", "B", "C", "D"], [0, 4, 1, 1]
    one = Sentence.from_words(forms, tags, heads=heads, labels=["x"] * 4)
    return [one] * count


@pytest.mark.parametrize("order", ["first", "grandparent"])
def test_gold_trees_stay_as_they_are(order):
    """Projective models are trained on crossing arcs, unless `projectivise` is set."""
    train = crossing(30)
    options = SMALL | {"learner": "l2", "order": order, "trees": "projective", "labels": "none"}
    losses = {}
    for projectivise in (None, True):
        parser = Parser(**options | {"passes": 4}, projectivise=projectivise, held_out=0.0)
        losses[projectivise] = parser.fit(train).history.passes[-1].loss
        assert parser.model.card["projective_oracle_uas"] == 0.75
    assert losses[True] < 0.1  # a projective tree can be learnt by heart
    assert losses[None] > 0.3  # and the other cannot


def test_going_on():
    first = trained(**BP)
    options = SMALL | BP | {"passes": 1}
    second = Parser(**options).fit(sentences("train", 30), sentences("dev", 10), start=first)
    assert np.array_equal(second.model.pruner.scorer.weights, first.model.pruner.scorer.weights)
    with pytest.raises(ArgumentError, match="scores other parts"):
        Parser(**options, factors="automata").fit(sentences("train", 30), start=first)
