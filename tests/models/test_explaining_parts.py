"""Explanations in higher orders: contributions sum to the difference of the tree scores."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arbora import ArgumentError
from arbora.data.treebank import read_treebank
from arbora.inference.tree_checks import in_class
from arbora.models.decoding import Decoder
from arbora.models.variants import part_variant_text
from tests.small_parsers import trained

EXACT = {"order": "grandsibling", "trees": "projective", "inference": "exact", "labels": "none"}
MODELS = [
    {"order": "sibling"}, {"order": "grandparent"}, {"order": "grandsibling"},
    {"order": "grandsibling", "features": "mcdonald2005"},
    {"order": "grandsibling", "features": "morphological"}, EXACT,
    {"order": "grandsibling", "features": "carreras2007", "pruner_features": "basic2005"},
    {"order": "grandsibling", "inference": "bp", "learner": "l2"},
    {"order": "sibling", "inference": "bp", "learner": "l2", "head_bigrams": True},
    {"order": "sibling", "head_bigrams": True},
]  # fmt: skip


def parts_of(parser, sentence):
    """The scores of a sentence, from the decoder."""
    encoded = parser.model.encoder.encode(read_treebank([sentence]))
    return Decoder(parser.model, 1).score(encoded, np.array([0])).scores.sentence(0)


def with_head(heads, word, head):
    changed = np.array(heads)
    changed[word - 1] = head
    return changed


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_contributions_sum_to_the_difference_of_trees(test_sentences, options):
    parser = trained(**options)
    explained = 0
    for sentence in test_sentences[:3]:
        parts = parts_of(parser, sentence)
        heads = parser.parse([sentence], probabilities=False)[0].heads
        for word in range(1, len(sentence) + 1):
            for rival in np.flatnonzero(parts.arcs[:, word] > -np.inf).tolist():
                if rival == heads[word - 1]:
                    continue
                answer = parser.explain(sentence, word, against=rival)
                total = math.fsum(one.value for one in answer.contributions)
                expected = parts.score(heads) - parts.score(with_head(heads, word, rival))
                assert answer.head == heads[word - 1]
                assert total == pytest.approx(answer.difference, abs=1e-6)
                assert answer.difference == pytest.approx(expected, abs=1e-6)
                explained += 1
    assert explained > 20


def test_the_rival_is_the_next_best_tree(test_sentences):
    parser = trained(order="grandsibling")
    for sentence in test_sentences[:3]:
        parts = parts_of(parser, sentence)
        heads = parser.parse([sentence], probabilities=False)[0].heads
        for word in range(1, len(sentence) + 1):
            others = np.flatnonzero(parts.arcs[:, word] > -np.inf)
            others = others[others != heads[word - 1]]
            rivals = np.array([with_head(heads, word, other) for other in others])
            if len(rivals) == 0:
                with pytest.raises(ArgumentError, match="no other head"):
                    parser.explain(sentence, word)
                continue
            allowed = in_class(rivals, "nonprojective", parser.model.root)
            scores = np.array([parts.score(rival) for rival in rivals])
            if allowed.any():
                scores = np.where(allowed, scores, -np.inf)
            assert parser.explain(sentence, word).against == others[scores.argmax()]


def test_parts_are_among_the_templates(test_sentences):
    """Sibling features mention s, grandparent features mention g."""
    for order, letter in (("sibling", "s"), ("grandparent", "g")):
        parser = trained(order=order)
        names = set()
        for word in range(1, len(test_sentences[1]) + 1):
            answer = parser.explain(test_sentences[1], word)
            assert "parts that change" in answer.explains
            names |= {one.template for one in answer.contributions}
        assert any(f"{letter}p" in name.split() for name in names)
        assert "hp mp" in names


def test_another_head_than_the_parse_has(test_sentences):
    parser, sentence = trained(order="sibling"), test_sentences[1]
    answer = parser.explain(sentence, 3)
    back = parser.explain(sentence, 3, answer.against, answer.head)
    assert back.difference == pytest.approx(-answer.difference, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((99,), "no word 99"),
        ((2, 2), "another word up to"),
        ((2, 77), "another word up to"),
    ],
)
def test_bad_questions(test_sentences, arguments, reason):
    with pytest.raises(ArgumentError, match=reason):
        trained(order="sibling").explain(test_sentences[0], *arguments)


def test_pruned_heads_are_said_to_be(test_sentences):
    parser = trained(order="sibling")
    for sentence in test_sentences:
        arcs = parts_of(parser, sentence).arcs
        for word in range(1, len(sentence) + 1):
            for head in np.flatnonzero(np.isneginf(arcs[:, word])).tolist():
                if head != word:
                    with pytest.raises(ArgumentError, match="considers it too improbable"):
                        parser.explain(sentence, word, against=head)
                    return
    pytest.fail("nothing was pruned")


def test_variants_in_words():
    assert part_variant_text("consecutive_siblings", 1) == "left"
    assert part_variant_text("consecutive_siblings", 13) == "right 11+"
    assert part_variant_text("consecutive_siblings", 14) == "left end"
    assert part_variant_text("siblings", 3) == "both sides"
    assert part_variant_text("siblings", 7) == "left 6-10"
    assert part_variant_text("siblings", 14) == "both sides 1-5"
    assert part_variant_text("siblings", 15) == "both sides 6+"
    assert part_variant_text("grandparents", 3) == "g h m"
    assert part_variant_text("grandsiblings", 4) == "m h g"
    assert part_variant_text("grandparents", 15) == "right 6+"
    assert part_variant_text("head_bigrams", 0) == "one head"
    assert part_variant_text("head_bigrams", 7) == "right right 1-2"
    assert part_variant_text("head_bigrams", 14) == "left left 3+"
