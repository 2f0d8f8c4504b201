"""Bad choices are refused when the parser is made, in one sentence."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from arbora.parsers.settings import Learner

from arbora import ArgumentError, ModelError, Parser, Sentence
from arbora.parsers import ParseOptions, ParserSettings

BAD = [
    ("learner", "svm"), ("optimizer", "adam"), ("trees", "planar"),
    ("root", "many"), ("order", "third"), ("features", "all"), ("labels", True),
    ("decode", "viterbi"), ("decode_trees", "both"), ("cluster_of", "word"), ("mira", "2-best"),
    ("average", "yes"), ("arc_filter", None), ("clusters", -1), ("clusters", 257),
    ("clusters", None), ("clusters", 2.5), ("passes", 0), ("passes", 1.5), ("passes", "3"),
    ("patience", 0), ("patience", None), ("batch_size", 0), ("batch_size", 2.0), ("rate", 0.0),
    ("rate", math.nan), ("rate", math.inf), ("rate", "fast"), ("l2", -1.0), ("l2", math.inf),
    ("largest_step", 0.0), ("largest_step", None), ("k", 0), ("k", True), ("bits", 7),
    ("bits", 29), ("bits", 20.5), ("label_bits", 3), ("label_bits", 25), ("seed", -1),
    ("seed", 2**63), ("seed", 0.5), ("seed", None), ("inference", "sampling"),
    ("training_inference", "z"), ("solver", "simplex"), ("max_iterations", 0),
    ("max_iterations", None), ("prune_threshold", 1.5), ("prune_heads", 0), ("held_out", 1.0),
    ("word_dropout", -1.0), ("word_dropout", None),
    ("bp_iterations", 0), ("bp_iterations", 2.0), ("damping", 1.0), ("damping", -0.1),
    ("damping", math.nan), ("factors", "triples"), ("first_temperature", 0.0),
    ("last_temperature", -1.0), ("last_temperature", math.nan), ("projectivise", "no"),
]  # fmt: skip

NONSENSE = [
    ({"learner": "perceptron", "optimizer": "sgd"}, "optimizer belongs to the loglinear learner"),
    ({"learner": "mira", "optimizer": "eg"}, "optimizer belongs to the loglinear learner"),
    ({"learner": "maxmargin", "optimizer": "lbfgs"}, "learnt by exponentiated gradient"),
    ({"learner": "maxmargin", "l2": 0.0}, "needs a regulariser"),
    ({"optimizer": "eg", "l2": 0}, "needs a regulariser"),
    ({"learner": "perceptron", "clusters": 2}, "use loglinear"),
    ({"optimizer": "eg", "clusters": 2}, "no clusters"),
    ({"clusters": 4, "labels": "joint"}, "use staged"),
    ({"decode": "max-z"}, "give clusters as well"),
    ({"trees": "projective", "decode_trees": "nonprojective"}, "decoded projectively"),
    ({"inference": "dual"}, "choice of higher orders"),
    ({"training_inference": "automata"}, "choice of higher orders"),
    ({"order": "sibling", "inference": "exact"}, "exact for projective trees only"),
    ({"order": "sibling", "training_inference": "exact"}, "needs trees='projective'"),
    ({"order": "sibling", "learner": "maxmargin"}, "use mira"),
    (
        {"order": "sibling", "learner": "loglinear", "training_inference": "dual"},
        "finds best trees only",
    ),
    ({"order": "sibling", "labels": "joint"}, "label after the tree"),
    ({"order": "sibling", "mira": "k-best"}, "1-best MIRA only"),
    ({"order": "grandsibling", "clusters": 4}, "clusters are of first order"),
    ({"order": "grandsibling", "clusters": 4, "labels": "joint"}, "label after the tree"),
    ({"order": "sibling", "clusters": 2, "learner": "loglinear"}, "clusters are of first order"),
    ({"order": "sibling", "clusters": 2, "learner": "perceptron"}, "clusters are of first order"),
    ({"order": "sibling", "decode": "max-z"}, "max-z' is for hidden clusters, which are of first"),
    ({"order": "sibling", "learner": "maxmargin", "l2": 0.0}, "use mira"),
    (
        {"order": "sibling", "learner": "loglinear", "optimizer": "eg", "l2": 0.0},
        "higher orders are learnt by adagrad or sgd",
    ),
    ({"order": "grandparent", "decode": "mbr"}, "needs sums over trees"),
    ({"learner": "l2", "optimizer": "lbfgs"}, "by adagrad or sgd, not by lbfgs"),
    ({"learner": "risk", "clusters": 2}, "use loglinear"),
    ({"learner": "l2", "inference": "bp"}, "choice of higher orders"),
    ({"learner": "l2", "order": "sibling", "inference": "dual"}, "does not look at"),
    (
        {"learner": "risk", "order": "sibling", "training_inference": "automata"},
        "training_inference is 'exact' or 'bp'",
    ),
    ({"learner": "l2", "order": "sibling", "inference": "exact"}, "projective trees only"),
    ({"learner": "mira", "order": "sibling", "inference": "bp"}, "compares best trees"),
    ({"learner": "mira", "order": "sibling", "training_inference": "bp"}, "compares best trees"),
    ({"bp_iterations": 3}, "belongs to belief propagation"),
    ({"order": "sibling", "damping": 0.1}, "belongs to belief propagation"),
    ({"order": "sibling", "factors": "automata"}, "belongs to belief propagation"),
    (
        {"order": "sibling", "training_inference": "bp", "factors": "pairs"},
        "only belief propagation looks at",
    ),
    ({"order": "sibling", "inference": "bp", "decode": "map"}, "decode is mbr, not map"),
    ({"first_temperature": 0.2}, "belongs to the learners risk"),
    ({"learner": "l2", "last_temperature": 0.01}, "belongs to the learners risk"),
    ({"learner": "risk", "last_temperature": 0.2}, "the temperature falls"),
    ({"learner": "risk", "first_temperature": 0.00001}, "the temperature falls"),
    ({"projectivise": True}, "belongs to trees='projective'"),
    ({"trees": "projective", "projectivise": False}, "gold trees of the class"),
    ({"optimizer": "lbfgs", "word_dropout": 1.0}, "this learner takes no steps"),
    ({"learner": "maxmargin", "word_dropout": 1.0}, "this learner takes no steps"),
    ({"learner": "mira", "rate": "auto"}, "this learner has none"),
]


@pytest.mark.parametrize(("name", "value"), BAD, ids=str)
def test_bad_values(name, value):
    with pytest.raises(ArgumentError, match=rf"^{name} is .*not .*\.$"):
        Parser(**{name: value})


@pytest.mark.parametrize(("options", "reason"), NONSENSE, ids=str)
def test_nonsense(options, reason):
    with pytest.raises(ArgumentError, match=reason):
        Parser(**options)


def test_unknown_options():
    with pytest.raises(ArgumentError, match="a parser has no option 'lerner'; the options are"):
        Parser(lerner="mira")
    for threads in (0, -1, 1.5, "two"):
        with pytest.raises(ArgumentError, match="threads is a number of threads"):
            Parser(threads=threads)


@pytest.mark.parametrize("learner", get_args(Learner))
@pytest.mark.parametrize("optimizer", ["adagrad", "sgd", "lbfgs", "cg", "eg"])
def test_resolving_fills_in_what_was_not_said(learner, optimizer):
    try:
        settings = ParserSettings(learner=learner, optimizer=optimizer)
    except ArgumentError:
        return
    resolved = settings.resolved()
    assert resolved.resolved() == resolved
    own = {"rate": 0.125, "l2": 0.25, "batch_size": 5}
    for name in ("rate", "l2", "batch_size"):  # an option that the learner has not is refused
        if getattr(resolved, name) is None:
            with pytest.raises(ArgumentError):
                ParserSettings(learner=learner, optimizer=optimizer, **{name: own.pop(name)})
    said = ParserSettings(
        learner=learner, optimizer=optimizer, passes=3, decode="greedy", decode_trees="projective",
        **own,
    ).resolved()  # fmt: skip
    assert {name: getattr(said, name) for name in own} == own
    assert (said.passes, said.decode, said.decode_trees) == (3, "greedy", "projective")


HIGHER = {"order": "grandsibling"}


@pytest.mark.parametrize(
    ("options", "resolved"),
    [
        ({}, ("mira", "dual", "automata", None)),
        ({"learner": "perceptron"}, ("perceptron", "dual", "automata", None)),
        ({"learner": "loglinear"}, ("loglinear", "dual", "automata", None)),
        ({"inference": "bp"}, ("loglinear", "bp", "bp", "pairs")),
        ({"training_inference": "bp"}, ("loglinear", "dual", "bp", "automata")),
        ({"learner": "l2"}, ("l2", "bp", "bp", "pairs")),
        ({"learner": "l2+risk", "factors": "automata"}, ("l2+risk", "bp", "bp", "automata")),
        (
            {"inference": "exact", "trees": "projective", "training_inference": "bp"},
            ("loglinear", "exact", "bp", "automata"),
        ),
        (
            {"learner": "risk", "training_inference": "exact", "trees": "projective"},
            ("risk", "exact", "exact", None),
        ),
    ],
)
def test_what_is_learnt_with_what(options, resolved):
    settings = ParserSettings(**HIGHER, **options).resolved()
    found = (settings.learner, settings.inference, settings.training_inference, settings.factors)
    assert found == resolved
    assert settings.resolved() == settings
    assert settings.bp_iterations == (4 if "bp" in found else None)


def test_siblings_have_trees_for_rivals():
    for options, training, passes in (
        ({}, "dual", 30), ({"trees": "projective"}, "dual", 30),
        ({"training_inference": "automata"}, "automata", 15),
        ({"learner": "perceptron"}, "automata", 15),
        ({"learner": "perceptron", "training_inference": "dual"}, "dual", 30),
        ({"inference": "exact", "trees": "projective", "learner": "mira"}, "exact", 15),
    ):  # fmt: skip
        settings = ParserSettings(order="sibling", **options).resolved()
        assert (settings.training_inference, settings.passes) == (training, passes)


def test_gold_trees_of_learners_of_beliefs_stay_as_they_are():
    for learner, projectivise in (("loglinear", True), ("l2", False), ("l2+risk", False)):
        settings = ParserSettings(learner=learner, trees="projective").resolved()
        assert settings.projectivise is projectivise
        assert ParserSettings(learner=learner).resolved().projectivise is None
    assert ParserSettings(learner="l2", trees="projective", projectivise=True).resolved()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"decode": "best"}, "decode is one of map, mbr, greedy, greedy-posterior, max-z, not"),
        ({"trees": "planar"}, "trees is one of nonprojective, projective"),
        ({"kbest": 0}, "kbest is a number of trees"),
        ({"samples": 1.5}, "samples is a number of trees"),
        ({"kbest": True}, "kbest is a number of trees"),
        ({"kbest": 2, "samples": 2}, "choose one"),
        ({"seed": -1}, "seed is a whole number"),
        ({"seed": "x"}, "seed is a whole number"),
    ],
)
def test_bad_options_of_parsing(options, reason):
    with pytest.raises(ArgumentError, match=reason):
        ParseOptions(**options)


def test_parsing_before_learning():
    parser = Parser()
    with pytest.raises(ModelError, match="has not learnt yet"):
        parser.parse([Sentence.from_words(["a"])])
    with pytest.raises(ModelError, match="has not learnt yet"):
        parser.save("nowhere")


def test_rates_of_adagrad():
    """Smaller for losses that are flat where beliefs are sure, and with parts."""

    def rate(**options):
        return ParserSettings(**options).resolved().rate

    higher = {"order": "grandsibling"}
    assert rate() == rate(**higher, learner="loglinear") == 0.05
    assert rate(**higher, learner="loglinear", inference="bp") == 0.02
    assert rate(learner="l2") == 0.015
    assert rate(learner="risk", **higher) == 0.01
    assert rate(learner="l2", optimizer="sgd") == 0.02
    assert rate(learner="l2", rate=0.3) == 0.3


def test_risk_after_l2_takes_smaller_steps():
    phases = ParserSettings(learner="l2+risk", rate=0.02).resolved().phases()
    assert [phase.learner for phase in phases] == ["l2", "risk"]
    assert [phase.rate for phase in phases] == pytest.approx([0.02, 0.002])
    for rate, share in ((1, 0.1), (1e-9, 1e-9)):
        phases = ParserSettings(learner="l2+risk", rate=rate).resolved().phases()
        assert phases[1].rate == pytest.approx(share)
    phases = ParserSettings(learner="l2+risk", rate="auto").resolved().phases()
    assert [phase.rate for phase in phases] == ["auto", "auto"]
