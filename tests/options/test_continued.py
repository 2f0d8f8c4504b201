"""Options in continued training: which are kept, and which cannot change."""

from __future__ import annotations

import pytest

from arbora import ArgumentError
from arbora.options import ParserOptions, public_options


def options(**keywords):
    return ParserOptions.from_keywords(keywords)


def test_choices_are_kept_and_amounts_begin_anew():
    """Options of weights and decoder are kept; passes and learning rates are not."""
    first = options(
        order="grandsibling", learner="loglinear", prune_heads=5, solver="ad3", features="rich",
        passes=3, rate=0.5, regularization=2.0, batch_size=7, seed=9, average=False,
    )  # fmt: skip
    further = first.continued({}).keywords()
    kept = {"order": "grandsibling", "learner": "loglinear", "prune_heads": 5, "solver": "ad3"}
    assert kept.items() <= further.items()
    assert further["average"] is False
    plain = options(order="grandsibling", learner="loglinear").keywords()
    for name in ("passes", "rate", "regularization", "batch_size", "seed"):
        assert further[name] == plain[name]


def test_new_keywords_win():
    further = options(prune_heads=5, order="sibling").continued({"prune_heads": 7, "passes": 2})
    assert further.keywords()["prune_heads"] == 7
    assert further.keywords()["passes"] == 2


def test_another_learner_takes_what_suits_it():
    """Options of the old learner that the new one does not have are ignored, not refused."""
    mira = options(learner="mira", mira="k-best", k=3)
    assert mira.continued({"learner": "loglinear"}).keywords()["decode"] == "mbr"
    assert "k" not in mira.continued({"learner": "loglinear"}).keywords()
    sibling = options(order="sibling").continued({"learner": "perceptron"}).keywords()
    assert sibling["training_inference"] == "automata"


def test_another_class_of_trees():
    projective = options(learner="l2", trees="projective", projectivise=True)
    further = projective.continued({"trees": "nonprojective"}).keywords()
    assert (further["decode_trees"], further["projectivise"]) == ("nonprojective", None)


@pytest.mark.parametrize(
    ("first", "name", "new"),
    [
        ({}, "features", "mcdonald2005"), ({}, "labels", "none"), ({}, "bits", 10),
        ({}, "label_bits", 10), ({}, "order", "sibling"), ({"clusters": 4}, "clusters", 2),
        ({"clusters": 4}, "cluster_of", "token"), ({"clusters": 4}, "cluster_bits", 12),
        ({"clusters": 4}, "cluster_features", "beside"), ({}, "scorer", "neural"),
        ({"scorer": "neural"}, "width", 8), ({"scorer": "neural"}, "layers", 3),
    ],
    ids=str,
)  # fmt: skip
def test_what_fixes_the_weights_cannot_change(first, name, new):
    with pytest.raises(
        ArgumentError,
        match=rf"continue from has {name}=.*cannot be changed to {new!r}.*leave out {name}\.$",
    ):
        options(**first).continued({name: new})


def test_other_parts_are_refused():
    with pytest.raises(
        ArgumentError, match="scores other parts: do not change inference or factors"
    ):
        options(order="sibling").continued({"inference": "bp", "learner": "loglinear"})


def test_options_without_effect_are_refused_as_ever():
    with pytest.raises(ArgumentError, match="has no effect here"):
        options(learner="mira").continued({"rate": 0.1})


def test_every_option_says_whether_it_is_kept():
    known = public_options(ParserOptions)
    fresh = {name for name, option in known.items() if not option.spec.kept}
    assert fresh == {
        "root", "passes", "patience", "held_out", "refit", "seed", "batch_size", "word_dropout",
        "rate", "regularization", "warm_up", "clip", "dropout", "encoder_rate",
    }  # fmt: skip
