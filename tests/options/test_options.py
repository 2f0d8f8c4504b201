"""Validation of options, and defaults that depend on other options."""

from __future__ import annotations

import itertools
import math

import pytest

from arbora import ArgumentError, ModelError, Parser, Sentence
from arbora.fitting.phases import phases_of
from arbora.options import (
    AdaGradOptions,
    BeliefPropagationOptions,
    GrandsiblingOptions,
    L2Options,
    MiraOptions,
    ParseOptions,
    ParserOptions,
    SiblingOptions,
    public_options,
)

HIGHER = {"order": "grandsibling"}
BP = {**HIGHER, "inference": "bp"}
# Where options have an effect that have none by default.
PLACES = {
    "mira": {"learner": "mira"}, "k": {"learner": "mira"}, "largest_step": {"learner": "mira"},
    "first_temperature": {"learner": "risk"}, "last_temperature": {"learner": "risk"},
    "annealing": {"learner": "risk"}, "risk_mix": {"learner": "risk"},
    "pruner_features": HIGHER, "pruner_passes": HIGHER, "schedule": BP, "tree_share": HIGHER,
    "projectivise": {"learner": "l2", "trees": "projective"},
    "inference": HIGHER, "training_inference": HIGHER, "prune_threshold": HIGHER,
    "prune_heads": HIGHER, "head_bigrams": HIGHER, "max_iterations": HIGHER, "solver": HIGHER,
    "bp_iterations": BP, "damping": BP, "factors": BP,
    "restarts": {**HIGHER, "inference": "hill-climbing"}, "rerank_folds": {"rerank": 2},
    **{
        name: {"scorer": "neural"}
        for name in (
            "width", "layers", "arc_width", "label_width", "rank", "dropout", "warm_up", "clip",
            "fine_tune", "encoder_layers", "encoder_rate",
        )
    },
}  # fmt: skip

BAD = [
    ("learner", "svm"), ("optimizer", "adamw"), ("trees", "planar"), ("learner", 3),
    ("root", "many"), ("order", "third"), ("features", "all"), ("labels", True),
    ("decode", "viterbi"), ("decode_trees", "both"), ("cluster_of", "word"), ("mira", "2-best"),
    ("average", "yes"), ("average", None), ("arc_filter", None), ("refit", 1),
    ("clusters", -1), ("clusters", 1), ("clusters", 4097), ("cluster_features", "some"),
    ("cluster_bits", 3), ("cluster_bits", 25), ("cluster_bits", 18.0),
    ("clusters", None), ("clusters", 2.5), ("passes", 0), ("passes", 1.5), ("passes", "3"),
    ("patience", 0), ("patience", None), ("batch_size", 0), ("batch_size", 2.0), ("rate", 0.0),
    ("rate", math.nan), ("rate", math.inf), ("rate", "fast"), ("regularization", -1.0),
    ("regularization", math.inf), ("regularization", None),
    ("largest_step", 0.0), ("largest_step", None), ("k", 0), ("k", True), ("bits", 7),
    ("bits", 29), ("bits", 20.5), ("label_bits", 3), ("label_bits", 25), ("seed", -1),
    ("seed", 2**63), ("seed", 0.5), ("seed", None), ("inference", "sampling"),
    ("training_inference", "z"), ("solver", "simplex"), ("max_iterations", 0),
    ("max_iterations", "many"), ("prune_threshold", 1.5), ("prune_heads", 0), ("held_out", 1.0),
    ("word_dropout", -1.0), ("word_dropout", None), ("restarts", -1), ("head_bigrams", "yes"),
    ("bp_iterations", 0), ("bp_iterations", 2.0), ("damping", 1.0), ("damping", -0.1),
    ("damping", math.nan), ("factors", "triples"), ("first_temperature", 0.0),
    ("last_temperature", -1.0), ("last_temperature", math.nan), ("projectivise", "no"),
    ("annealing", "cosine"), ("annealing", None), ("risk_mix", 1.5), ("risk_mix", -0.1),
    ("risk_mix", math.nan), ("pruner_features", "none"), ("pruner_passes", 0),
    ("pruner_passes", None), ("schedule", "random"), ("schedule", None),
    ("tree_share", 1.5), ("tree_share", -0.1), ("tree_share", None), ("tree_share", math.nan),
    ("rerank", -1), ("rerank", 1), ("rerank", 2.0), ("rerank", None), ("rerank_folds", 1),
    ("rerank_folds", "all"), ("scorer", "quadratic"), ("scorer", 3), ("width", 3), ("layers", 0),
    ("arc_width", 1), ("label_width", 2.5), ("rank", 0), ("dropout", 1.0), ("dropout", None),
    ("fine_tune", 1), ("encoder_layers", 0), ("encoder_rate", 0.0),
    ("warm_up", 1.5), ("clip", 0.0),
]  # fmt: skip

# Options that are None unless another option is given.
UNSET = ("cluster_of", "cluster_features", "cluster_bits", "projectivise", "rerank_folds")

# Options that other choices leave without effect, and who has them.
WITHOUT_EFFECT = [
    ({"learner": "perceptron", "optimizer": "sgd"}, "optimizer", "learner='loglinear'"),
    ({"learner": "mira", "optimizer": "eg"}, "optimizer", "learner='loglinear'"),
    ({"learner": "mira", "rate": "auto"}, "rate", "optimizer='adagrad', optimizer='sgd'"),
    ({"learner": "perceptron", "regularization": 1.0}, "regularization", "optimizer='adagrad'"),
    ({"mira": "k-best"}, "mira", "learner='mira'"),
    ({"k": 3}, "k", "learner='mira'"),
    ({"inference": "dual"}, "inference", "order='sibling'"),
    ({"training_inference": "automata"}, "training_inference", "order='sibling'"),
    ({"learner": "l2", "inference": "bp"}, "inference", "order='sibling'"),
    ({"order": "grandsibling", "clusters": 4}, "clusters", "order='first'"),
    ({"bp_iterations": 3}, "bp_iterations", "inference='bp'"),
    ({"order": "sibling", "damping": 0.1}, "damping", "inference='bp'"),
    ({"order": "sibling", "factors": "automata"}, "factors", "inference='bp'"),
    ({**BP, "max_iterations": 3}, "max_iterations", "inference='dual'"),
    ({"order": "sibling", "restarts": 3}, "restarts", "inference='hill-climbing'"),
    ({"first_temperature": 0.2}, "first_temperature", "learner='risk'"),
    ({"learner": "l2", "last_temperature": 0.01}, "last_temperature", "learner='risk'"),
    ({"learner": "l2", "annealing": "log"}, "annealing", "learner='risk'"),
    ({"learner": "l2", "risk_mix": 1.0}, "risk_mix", "learner='risk'"),
    ({"pruner_features": "basic2005"}, "pruner_features", "order='sibling'"),
    ({"pruner_passes": 2}, "pruner_passes", "order='sibling'"),
    ({"order": "sibling", "schedule": "parallel"}, "schedule", "inference='bp'"),
    ({"projectivise": True}, "projectivise", "learner='l2'"),
    ({"trees": "projective", "projectivise": False}, "projectivise", "learner='l2'"),
    ({"optimizer": "lbfgs", "word_dropout": 1.0}, "word_dropout", "optimizer='adagrad'"),
    ({"learner": "maxmargin", "word_dropout": 1.0}, "word_dropout", "learner='perceptron'"),
    ({"optimizer": "cg", "batch_size": 2}, "batch_size", "optimizer='sgd'"),
    ({"order": "sibling", "rerank": 10}, "rerank", "order='first'"),
]

NONSENSE = [
    ({"learner": "maxmargin", "optimizer": "lbfgs"}, "must be one of eg, adam, not 'lbfgs'"),
    ({"learner": "maxmargin", "regularization": 0.0}, "regularization must be between 1e-12"),
    ({"optimizer": "eg", "regularization": 0}, "regularization must be between 1e-12"),
    ({"learner": "perceptron", "clusters": 2}, "require learner='loglinear'"),
    ({"learner": "risk", "clusters": 2}, "require learner='loglinear'"),
    ({"optimizer": "eg", "clusters": 2}, "no clusters"),
    ({"clusters": 4, "labels": "joint"}, "use labels='staged'"),
    ({"cluster_of": "edge"}, "give clusters as well"),
    ({"cluster_features": "all"}, "cluster_features has no effect here: give clusters as well"),
    ({"cluster_bits": 18}, "cluster_bits has no effect here: give clusters as well"),
    ({"clusters": 1000, "cluster_bits": 18},
     r"have 262,144,000 weights, more than 134,217,728 .*: use cluster_bits=17"),
    ({"decode": "max-z"}, "give clusters"),
    ({"rerank_folds": 3}, "give rerank as well"),
    ({"rerank": 3, "labels": "joint"}, "use labels='staged'"),
    ({"rerank": 3, "decode": "mbr"}, "rerank cannot be combined with decode='mbr'"),
    ({"trees": "projective", "decode_trees": "nonprojective"}, "leave out decode_trees"),
    ({"learner": "mira", "k": 3}, "k requires mira='k-best'"),
    ({"order": "sibling", "inference": "exact"}, "requires trees='projective'"),
    ({"order": "sibling", "training_inference": "exact"}, "requires trees='projective'"),
    ({"learner": "l2", "order": "sibling", "inference": "exact"}, "requires trees='projective'"),
    ({"order": "sibling", "learner": "maxmargin"},
     "use trees='projective' and inference='exact', or learner='mira'"),
    ({"order": "sibling", "learner": "maxmargin", "trees": "projective"}, "inference='exact', or"),
    ({"order": "sibling", "learner": "maxmargin", "trees": "projective", "inference": "exact",
      "training_inference": "bp"}, "and training_inference='exact', or learner='mira'"),
    ({"order": "sibling", "learner": "loglinear", "training_inference": "dual"},
     "learner='loglinear' needs sums over trees"),
    ({"order": "sibling", "learner": "loglinear", "optimizer": "cg"},
     "optimizer='cg' needs exact sums .*, or adagrad or sgd"),
    ({**BP, "optimizer": "eg"}, "optimizer='eg' needs exact sums over trees"),
    ({"order": "sibling", "labels": "joint"}, "staged labels or none"),
    ({"order": "sibling", "mira": "k-best"}, "1-best only"),
    ({"order": "grandparent", "decode": "mbr"}, "not available with inference='dual': use map"),
    ({**BP, "decode": "map"}, "not available with inference='bp': use mbr"),
    ({"learner": "l2", "optimizer": "lbfgs"}, "one of adagrad, sgd, adam, not 'lbfgs'"),
    ({"learner": "l2", "order": "sibling", "inference": "dual"}, "inference='dual' does not use"),
    ({"learner": "l2", "order": "sibling", "inference": "hill-climbing"},
     "inference='hill-climbing' does not use"),
    ({"learner": "risk", "order": "sibling", "training_inference": "automata"},
     "training_inference='automata' does not give: use exact or bp"),
    ({"learner": "mira", "order": "sibling", "inference": "bp"},
     "^learner='mira' needs best trees, which inference='bp' does not give"),
    ({"learner": "mira", "order": "sibling", "training_inference": "bp"},
     "^learner='mira' needs best trees, which training_inference='bp' does not give"),
    ({"order": "sibling", "training_inference": "bp", "factors": "pairs"},
     "requires bp for training and decoding"),
    ({"learner": "risk", "last_temperature": 0.2}, r"must not exceed first_temperature \(0.1\)"),
    ({"learner": "risk", "first_temperature": 0.00001}, "must not exceed first_temperature"),
    ({"learner": "risk", "annealing": "log", "last_temperature": 20.0},
     r"must not exceed first_temperature \(10\)"),
    ({"learner": "l2", "projectivise": True}, "projectivise requires trees='projective'"),
    ({"order": "sibling", "head_bigrams": True, "solver": "branch"},
     "head_bigrams requires solver='ad3'"),
    ({"order": "sibling", "head_bigrams": True, "training_inference": "automata"},
     "head_bigrams requires bp or dual for training and decoding, not training_inference="),
    ({"order": "sibling", "head_bigrams": True, "inference": "exact", "trees": "projective"},
     "not inference='exact'"),
]  # fmt: skip


def resolved(**keywords):
    return ParserOptions.from_keywords(keywords).keywords()


@pytest.mark.parametrize(("name", "value"), BAD, ids=str)
def test_bad_values(name, value):
    with pytest.raises(ArgumentError, match=rf"^{name} must be .*not .*\.$"):
        Parser(**PLACES.get(name, {}), **{name: value})


def test_every_option_has_a_bad_value_here():
    assert {name for name, _ in BAD} == set(public_options(ParserOptions))


@pytest.mark.parametrize("name", public_options(ParserOptions))
def test_every_option_says_what_it_is(name):
    option = public_options(ParserOptions)[name]
    assert option.spec.help.endswith(".")
    assert option.default is not None or option.spec.default_text
    assert option.tags or option.kind.choices or option.kind.number or option.kind.boolean


@pytest.mark.parametrize(("options", "name", "owner"), WITHOUT_EFFECT, ids=str)
def test_options_without_effect_name_their_owners(options, name, owner):
    pattern = rf"^{name} has no effect here: it belongs to .*{owner}.*\.$"
    with pytest.raises(ArgumentError, match=pattern):
        Parser(**options)


@pytest.mark.parametrize(("options", "reason"), NONSENSE, ids=str)
def test_nonsense(options, reason):
    with pytest.raises(ArgumentError, match=rf"{reason}.*\.$"):
        Parser(**options)


def test_unknown_options():
    with pytest.raises(ArgumentError, match=r"^there is no option lerner; did you mean learner\?$"):
        Parser(lerner="mira")
    with pytest.raises(ArgumentError, match=r"^there is no option zzz\.$"):
        Parser(zzz=1)
    for threads in (0, -1, 1.5, "two"):
        with pytest.raises(ArgumentError, match="threads must be a positive whole number"):
            Parser(threads=threads)


LEARNERS = ["perceptron", "mira", "loglinear", "maxmargin", "l2", "risk", "l2+risk"]
OPTIMIZERS = [None, "adagrad", "sgd", "lbfgs", "cg", "eg"]
ORDERS = ["first", "sibling", "grandparent", "grandsibling"]
INFERENCES = [None, "dual", "exact", "bp", "hill-climbing"]
TRAINING = [None, "automata", "dual", "exact", "bp"]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("order", ORDERS)
def test_keywords_make_the_same_options_again(learner, order):
    """All combinations: valid ones survive a round trip, invalid ones give a one-sentence error."""
    allowed, refusals = 0, []
    others = itertools.product(OPTIMIZERS, INFERENCES, TRAINING, ["nonprojective", "projective"])
    for optimizer, inference, training, trees in others:
        given = {
            "learner": learner, "order": order, "trees": trees, "optimizer": optimizer,
            "inference": inference, "training_inference": training,
        }  # fmt: skip
        given = {name: value for name, value in given.items() if value is not None}
        try:
            options = ParserOptions.from_keywords(given)
        except ArgumentError as problem:
            refusals.append(str(problem))
            continue
        allowed += 1
        keywords = options.keywords()
        assert given.items() <= keywords.items()
        assert (
            None
            not in {name: value for name, value in keywords.items() if name not in UNSET}.values()
        )
        assert ParserOptions.from_keywords(keywords) == options
        assert options.continued({}) == options
    assert all(one.endswith(".") and "\n" not in one for one in refusals)
    assert allowed > 0


def test_components_can_be_given_as_they_are():
    options = ParserOptions.from_keywords({"learner": MiraOptions(largest_step=0.5)})
    assert options == ParserOptions.from_keywords({"learner": "mira", "largest_step": 0.5})
    given = {"learner": L2Options(AdaGradOptions(rate=0.3))}
    assert ParserOptions.from_keywords(given).keywords()["rate"] == 0.3
    with pytest.raises(ArgumentError, match="one of first, sibling"):
        ParserOptions.from_keywords({"order": MiraOptions()})
    with pytest.raises(ArgumentError, match=r"largest_step must be between .*\.$"):
        MiraOptions(largest_step=-1.0)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("optimizer", ["adagrad", "sgd", "lbfgs", "cg", "eg"])
def test_what_is_said_is_kept(learner, optimizer):
    given = {"learner": learner}
    if learner not in ("perceptron", "mira"):
        given["optimizer"] = optimizer
    try:
        defaults = resolved(**given)
    except ArgumentError:
        return
    own = {"rate": 0.125, "regularization": 0.25, "batch_size": 5}
    for name in tuple(own):  # an option that the learner has not is refused
        if name not in defaults:
            with pytest.raises(ArgumentError, match="has no effect here"):
                resolved(**given, **{name: own.pop(name)})
    own |= {"passes": 3, "decode": "greedy", "decode_trees": "projective"}
    assert own.items() <= resolved(**given, **own).items()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ("mira", "dual", "automata", None)),
        ({"learner": "perceptron"}, ("perceptron", "dual", "automata", None)),
        ({"learner": "loglinear"}, ("loglinear", "dual", "automata", None)),
        ({"inference": "bp"}, ("loglinear", "bp", "bp", "pairs")),
        ({"training_inference": "bp"}, ("loglinear", "dual", "bp", "automata")),
        ({"learner": "l2"}, ("l2", "bp", "bp", "pairs")),
        ({"learner": "l2+risk", "factors": "automata"}, ("l2+risk", "bp", "bp", "automata")),
        ({"inference": "hill-climbing"}, ("mira", "hill-climbing", "automata", None)),
        (
            {"inference": "exact", "trees": "projective", "training_inference": "bp"},
            ("loglinear", "exact", "bp", "automata"),
        ),
        (
            {"learner": "risk", "training_inference": "exact", "trees": "projective"},
            ("risk", "exact", "exact", None),
        ),
        (
            {"learner": "maxmargin", "inference": "exact", "trees": "projective"},
            ("maxmargin", "exact", "exact", None),
        ),
    ],
)
def test_what_is_learnt_with_what(options, expected):
    keywords = resolved(**HIGHER, **options)
    names = ("learner", "inference", "training_inference", "factors")
    assert tuple(keywords.get(name) for name in names) == expected
    assert keywords.get("bp_iterations") == (4 if "bp" in expected else None)


def test_parts_follow_factors():
    """Any two siblings where belief propagation scores pairs, consecutive ones elsewhere."""
    pairs = ParserOptions.from_keywords(BP)
    assert pairs.order.parts == GrandsiblingOptions.pairs
    for options in (HIGHER, {**BP, "factors": "automata"}, {**HIGHER, "training_inference": "bp"}):
        assert ParserOptions.from_keywords(options).order.parts == GrandsiblingOptions.automata
    assert ParserOptions.from_keywords({}).order.parts == ()


def test_siblings_have_trees_for_rivals():
    for options, training, passes in (
        ({}, "dual", 30), ({"trees": "projective"}, "dual", 30),
        ({"training_inference": "automata"}, "automata", 15),
        ({"learner": "perceptron"}, "automata", 15),
        ({"learner": "perceptron", "training_inference": "dual"}, "dual", 30),
        ({"inference": "exact", "trees": "projective", "learner": "mira"}, "exact", 15),
    ):  # fmt: skip
        keywords = resolved(order="sibling", **options)
        assert (keywords["training_inference"], keywords["passes"]) == (training, passes)


def test_gold_trees_of_learners_of_marginals_stay_as_they_are():
    for learner in ("l2", "risk", "l2+risk"):
        assert resolved(learner=learner, trees="projective")["projectivise"] is False
        assert resolved(learner=learner)["projectivise"] is None
    assert resolved(learner="l2", trees="projective", projectivise=True)["projectivise"] is True
    assert "projectivise" not in resolved(trees="projective")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"decode": "best"},
            "decode must be one of map, mbr, greedy, greedy-posterior, max-z, not",
        ),
        ({"trees": "planar"}, "trees must be one of nonprojective, projective"),
        ({"kbest": 0}, "kbest must be between 1 and"),
        ({"samples": 1.5}, "samples must be a whole number"),
        ({"kbest": True}, "kbest must be a whole number"),
        ({"kbest": 2, "samples": 2}, "not both"),
        ({"certificates": True, "kbest": 2}, "certificates cannot be combined with"),
        ({"probabilities": 1}, "probabilities must be true or false"),
        ({"seed": -1}, "seed must be between 0 and"),
        ({"seed": "x"}, "seed must be a whole number"),
    ],
)
def test_bad_options_of_parsing(options, reason):
    with pytest.raises(ArgumentError, match=rf"{reason}.*\.$"):
        ParseOptions(**options)


def test_parsing_before_learning():
    parser = Parser()
    with pytest.raises(ModelError, match="is not trained"):
        parser.parse([Sentence.from_words(["a"])])
    with pytest.raises(ModelError, match="is not trained"):
        parser.save("nowhere")


def test_rates_of_adagrad():
    """The rate is smaller for losses of marginals, and with parts."""

    def rate(**options):
        return resolved(**options)["rate"]

    assert rate() == rate(**HIGHER, learner="loglinear") == 0.05
    assert rate(**HIGHER, learner="loglinear", inference="bp") == 0.02
    assert rate(learner="l2") == 0.015
    assert rate(learner="risk", **HIGHER) == 0.01
    assert rate(learner="l2", optimizer="sgd") == 0.02
    assert rate(learner="l2", rate=0.3) == 0.3


def test_risk_after_l2_takes_smaller_steps():
    def phases(rate):
        options = ParserOptions.from_keywords({"learner": "l2+risk", "rate": rate})
        return [phase.keywords() for phase in phases_of(options)]

    assert [phase["learner"] for phase in phases(0.02)] == ["l2", "risk"]
    assert [phase["rate"] for phase in phases(0.02)] == pytest.approx([0.02, 0.002])
    for rate, share in ((1, 0.1), (1e-9, 1e-9)):
        assert phases(rate)[1]["rate"] == pytest.approx(share)
    assert [phase["rate"] for phase in phases("auto")] == ["auto", "auto"]


def test_default_engines_inside_an_order_object():
    def tags(**keywords):
        options = ParserOptions.from_keywords(keywords)
        order = options.order
        return options.learner.tag, order.inference.tag, order.training_inference.tag

    by_beliefs = SiblingOptions(inference=BeliefPropagationOptions(), prune_heads=3)
    assert tags(order=SiblingOptions()) == tags(order="sibling")
    assert tags(order=GrandsiblingOptions()) == tags(order="grandsibling")
    assert tags(order=by_beliefs) == tags(order="sibling", inference="bp")
    assert tags(order=by_beliefs, learner="l2") == ("l2", "bp", "bp")
    assert ParserOptions.from_keywords({"order": by_beliefs}).order.prune_heads == 3
    with pytest.raises(ArgumentError, match="inference='bp' does not give"):
        tags(order=by_beliefs, learner="mira")
    with pytest.raises(ArgumentError, match="inference has no effect here"):
        tags(order=by_beliefs, inference="dual")
