"""Higher-order parsers: pruner, certificates, probabilities, errors."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError, Parser, SecondOrderTrees, SpanningTrees
from arbora.data.treebank import read_treebank
from arbora.fitting.pruner import kept_arcs
from arbora.fitting.treebank import Treebank
from arbora.inference.engines import SecondOrder
from arbora.inference.tree_parts import tree_parts
from arbora.models.decoding import Decoder
from arbora.models.model_file import from_bytes, to_bytes
from arbora.models.output import parse_block
from arbora.options import ParseOptions
from arbora.testing import best_tree_slowly
from tests.small_parsers import SMALL, sentences, trained
from tests.toys import toy_sentences, without_heads

ORDERS = ["sibling", "grandparent", "grandsibling"]


def decoded(parser, some, **options):
    how = ParseOptions(**options)
    return parse_block(parser.decoder(how), read_treebank(some), how)


@pytest.mark.parametrize("order", ORDERS)
def test_the_tree_is_the_best_under_the_scores(order, rng):
    """Short sentences, by enumeration of all trees."""
    parser = trained(order=order, labels="none")
    short = toy_sentences(rng, [1, 3, 4, 5, 5])
    answer = decoded(parser, short)
    encoded = parser.model.encoder.encode(read_treebank(short))
    parts = Decoder(parser.model, 1).score(encoded, np.arange(len(short))).scores
    first = 0
    for i, sentence in enumerate(short):
        n = len(sentence)
        heads = answer.trees.heads[first : first + n]
        alone = parts.sentence(i)
        _, score = best_tree_slowly(alone, "nonprojective", parser.model.root)
        gap = 0.0 if answer.trees.certified[i] else answer.trees.gaps[i]
        assert score - gap - 1e-6 <= alone.score(heads) <= score + 1e-6
        first += n
    assert answer.trees.certified.sum() >= 4


def test_higher_orders_see_what_first_order_cannot(rng):
    """A word has one modifier, or two: only siblings tell which."""
    from arbora import Sentence

    def sentence(length):
        heads = [0] + [1] * (length - 1)
        if length == 3:  # the third word moves to the second where there is no fourth
            heads[2] = 2
        forms = ["head", *["same"] * (length - 1)]
        return Sentence.from_words(forms, ["A", *["B"] * (length - 1)], heads=heads,
                                   labels=["x"] * length)  # fmt: skip

    train = [sentence(int(n)) for n in rng.choice([3, 4], size=60)]
    scores = {
        order: Parser(order=order, labels="none", passes=6, seed=1).fit(train, train[:10])
        .evaluate(train[:20]).uas
        for order in ("first", "grandsibling")
    }  # fmt: skip
    assert scores["grandsibling"] >= scores["first"]
    assert scores["grandsibling"] == 100.0


def test_the_pruner_is_in_the_file(test_sentences):
    parser = trained(order="sibling")
    again = from_bytes(to_bytes(parser.model))
    assert again.pruner is not None
    assert np.array_equal(again.pruner.scorer.weights, parser.model.pruner.scorer.weights)
    heads = [s.heads.tolist() for s in parser.parse(test_sentences)]
    assert [s.heads.tolist() for s in Parser.from_model(again).parse(test_sentences)] == heads


@pytest.mark.parametrize("learner", ["mira", "l2"])
def test_a_model_that_was_learnt_without_dev_can_be_read(learner, test_sentences):
    parser = Parser(order="sibling", learner=learner, bits=14, label_bits=8, passes=2, threads=1)
    parser.fit(sentences("train", 40))
    assert parser.model.card["refitted"]
    again = Parser.from_model(from_bytes(to_bytes(parser.model)), 1)
    for ours, theirs in zip(again.parse(test_sentences), parser.parse(test_sentences), strict=True):
        assert ours.heads.tolist() == theirs.heads.tolist()
        assert ours.labels == theirs.labels


def test_the_card_has_the_figures_of_pruning():
    figures = trained(order="sibling").model.card["pruning"]
    assert 1.0 <= figures["arcs_per_word"] <= 12.0
    assert 50.0 < figures["oracle_uas"] <= 100.0


def test_gold_arcs_are_kept_in_training(rng):
    """With any strength of pruning, and however unlikely they are."""
    parser = Parser(**SMALL, order="sibling", prune_heads=1, prune_threshold=0.99)
    parser.fit(sentences("train", 40), sentences("dev", 10))
    assert parser.history.passes[-1].loss >= 0.0
    gold = toy_sentences(rng, [6, 9, 7])
    model = parser.model
    treebank = Treebank.from_block(read_treebank(gold), model.encoder, list(model.labels), None)
    kept = kept_arcs(model, treebank, 1)
    for i, sentence in enumerate(gold):
        n = len(sentence)
        mask = kept.of(np.array([i])).reshape(n + 1, n + 1)
        assert mask[sentence.heads, np.arange(1, n + 1)].all()
        assert mask.sum() <= 4 * n  # the likeliest head, the best tree's, the chain's and gold's


@pytest.mark.parametrize("order", ORDERS)
def test_certificates_are_written(order, test_sentences):
    text = decoded(trained(order=order), test_sentences).to_bytes(False, True).decode()
    assert text.count("# arbora.certified = ") == len(test_sentences)
    assert text.count("# arbora.gap = ") == len(test_sentences)
    first_order = decoded(trained(), test_sentences).to_bytes(False, True).decode()
    assert first_order.count("# arbora.certified = yes") == len(test_sentences)


def test_few_iterations_are_not_certified_but_give_trees(test_sentences):
    parser = trained(order="grandsibling", max_iterations=1)
    answer = decoded(parser, test_sentences)
    assert (answer.trees.gaps[~answer.trees.certified] > 0.0).all()
    assert len(answer.trees.heads) == sum(len(s) for s in test_sentences)


def test_probabilities_of_dual_models_are_those_of_first_order(test_sentences):
    parser = trained(order="sibling")
    for sentence in parser.parse(test_sentences):
        assert ((sentence.arc_probabilities >= 0) & (sentence.arc_probabilities <= 1)).all()
        assert sentence.log_prob <= 0.0


@pytest.mark.parametrize("decode", ["map", "mbr"])
def test_exact_models_have_probabilities_of_their_own(test_sentences, decode):
    parser = trained(order="grandsibling", trees="projective", inference="exact", labels="none")
    block = read_treebank(test_sentences)
    how = ParseOptions(decode=decode, probabilities=True)
    answer = parse_block(parser.decoder(how), block, how).trees
    scored = parser.decoder(how).score(parser.model.encoder.encode(block), np.arange(len(block)))
    parts = scored.summed.scaled(1.0 / parser.model.temperature)
    sums = SecondOrder(parser.model.root).infer(parts)
    expected = tree_parts(parts, answer.heads)[1] - sums.log_partition
    assert answer.log_probs == pytest.approx(expected)
    assert answer.certified.all()


@pytest.mark.parametrize(
    ("learnt_by", "order", "inference"),
    [
        ({"learner": "maxmargin"}, "sibling", "exact"),
        ({"optimizer": "eg"}, "grandsibling", "dual"),
        ({"optimizer": "lbfgs"}, "grandparent", "exact"),
        ({"optimizer": "cg"}, "sibling", "dual"),
    ],
)
def test_exact_sums_serve_every_optimizer(learnt_by, order, inference, rng):
    """Also if gold heads are missing, or if best trees are found in another way."""
    partial = [without_heads(s, rng, 0.1) for s in sentences("train", 8)]
    parser = Parser(
        **SMALL, order=order, trees="projective", labels="none", held_out=0.0, inference=inference,
        training_inference="exact", threads=1, **({"learner": "loglinear"} | learnt_by),
    ).fit(partial)  # fmt: skip
    name = "gap" if learnt_by in ({"learner": "maxmargin"}, {"optimizer": "eg"}) else "objective"
    first, second = (one.figures[name] for one in parser.history.passes)
    assert first > second > 0.0


def test_distributions(test_sentences):
    exact = trained(order="grandsibling", trees="projective", inference="exact", labels="none")
    trees = exact.distribution(test_sentences[0])
    assert isinstance(trees, SecondOrderTrees)
    parsed = exact.parse(test_sentences[:1], decode="map")[0]
    assert trees.argmax().heads.tolist() == parsed.heads.tolist()
    assert trees.log_prob(parsed.heads) == pytest.approx(parsed.log_prob)


def test_the_distribution_of_the_pruner_has_a_name_of_its_own(test_sentences):
    """`distribution` never returns that of the pruner."""
    sentence = test_sentences[0]
    dual, beliefs = trained(order="sibling"), trained(order="sibling", inference="bp")
    for parser, remedy in ((dual, r"first_order_distribution\(\)"), (beliefs, r"beliefs\(\)")):
        with pytest.raises(ArgumentError, match=f"use {remedy}"):
            parser.distribution(sentence)
        trees = parser.first_order_distribution(sentence)
        assert isinstance(trees, SpanningTrees)
    parsed, trees = dual.parse([sentence])[0], dual.first_order_distribution(sentence)
    expected = trees.marginals[parsed.heads, np.arange(1, len(sentence) + 1)]
    np.testing.assert_allclose(parsed.arc_probabilities, expected, atol=1e-9)
    first = trained()
    one, other = first.distribution(sentence), first.first_order_distribution(sentence)
    assert one.marginals.tobytes() == other.marginals.tobytes()


def test_decoding_classes(test_sentences):
    parser = trained(order="sibling")
    projective = list(parser.parse(test_sentences, trees="projective", probabilities=False))
    from arbora.inference.tree_checks import in_class

    for sentence in projective:
        row = sentence.heads[None, :].astype(np.int64)
        assert in_class(row, "projective", parser.model.root).all()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"kbest": 3}, "kbest requires a first-order model"),
        ({"samples": 3}, "samples requires a first-order model"),
        ({"decode": "mbr"}, r"inference \(dual\): use map"),
        ({"kbest": 3, "certificates": True}, "certificates cannot be combined with"),
    ],
)
def test_what_needs_sums_is_refused(test_sentences, options, reason):
    with pytest.raises(ArgumentError, match=reason):
        trained(order="sibling").parse(test_sentences, **options)


def test_exact_models_find_projective_trees_only(test_sentences):
    parser = trained(order="grandsibling", trees="projective", inference="exact", labels="none")
    with pytest.raises(ArgumentError, match="projective"):
        parser.parse(test_sentences, trees="nonprojective")


def test_partial_annotation_is_completed(rng):
    partial = [without_heads(s, rng, 0.5) for s in toy_sentences(rng, [5, 6, 7, 4] * 8)]
    parser = Parser(**SMALL, order="sibling", labels="none").fit(partial)
    assert len(list(parser.parse(toy_sentences(rng, [5, 9])))) == 2


def test_going_on_keeps_the_pruner():
    first = trained(order="sibling")
    options = {k: v for k, v in SMALL.items() if k != "passes"} | {"order": "sibling", "passes": 1}
    second = Parser(**options).fit(sentences("train", 30), sentences("dev", 10), start=first)
    assert np.array_equal(second.model.pruner.scorer.weights, first.model.pruner.scorer.weights)
    with pytest.raises(ArgumentError, match="order='sibling', which cannot be changed"):
        Parser(**SMALL, order="first").fit(sentences("train", 30), start=first)


def test_going_on_keeps_what_is_not_said():
    """In Python as at the command line, order, inference and pruning are kept."""
    first = trained(order="sibling", inference="bp", bp_iterations=2, prune_heads=5)
    second = Parser(passes=1, seed=3).fit(sentences("train", 20), sentences("dev", 9), start=first)
    old, new = first.model.options.keywords(), second.model.options.keywords()
    assert (new["passes"], new["seed"]) == (1, 3)
    free = {"passes", "seed", "patience", "held_out", "refit", "root"}
    assert {n: v for n, v in new.items() if n not in free} == {
        n: v for n, v in old.items() if n not in free
    }
