"""Parses around known arcs, labels of given trees, and the least certain arcs."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest

import arbora
from arbora import ArboraError, Parser
from arbora.testing import enumerate_trees

TRAIN = "examples/treebank/train.conllu"
TEST = "examples/treebank/test.conllu"

MODELS = {
    "first order": {},
    "projective": {"trees": "projective"},
    "joint labels": {"labels": "joint"},
    "clusters": {"clusters": 2},
    "no labels": {"labels": "none"},
    "exact": {"order": "sibling", "trees": "projective", "inference": "exact"},
    "dual": {"order": "grandsibling", "learner": "perceptron"},
    "beliefs": {"order": "grandsibling", "inference": "bp"},
    "reranker": {"rerank": 4},
}


@pytest.fixture(scope="module", params=MODELS)
def parser(request):
    sentences = list(arbora.read_conllu(TRAIN))[:60]
    options = {"passes": 1, "bits": 14, "refit": False, **MODELS[request.param]}
    return Parser(threads=1, **options).fit(sentences)


@pytest.fixture(scope="module")
def first_order():
    return Parser(threads=1, passes=2, bits=16, refit=False).fit(TRAIN)


@pytest.fixture(scope="module")
def sentences():
    return [s for s in arbora.read_conllu(TEST) if 3 < len(s) < 12][:12]


def test_required_and_forbidden_arcs_are_obeyed(parser, sentences):
    free = parser.parse(sentences)
    required, forbidden = [], []
    for sentence, parsed in zip(sentences, free, strict=True):
        root = int(np.flatnonzero(parsed.heads == 0)[0]) + 1
        word = next(m for m in range(1, len(sentence) + 1) if m != root)
        required.append([(root, word)])  # an arc from the root word closes no cycle
        other = next(m for m in range(1, len(sentence) + 1) if m not in (root, word))
        forbidden.append([(int(parsed.heads[other - 1]), other)])
    found = parser.parse(sentences, required=required, forbidden=forbidden)
    for parsed, must, must_not in zip(found, required, forbidden, strict=True):
        assert all(parsed.heads[word - 1] == head for head, word in must)
        assert all(parsed.heads[word - 1] != head for head, word in must_not)
        assert arbora.SpanningTrees(np.zeros((len(parsed) + 1,) * 2), root="multi").log_prob(
            parsed.heads
        ) > -np.inf  # fmt: skip
        probabilities = parsed.arc_probabilities
        assert np.allclose(probabilities[[word - 1 for _, word in must]], 1.0)
        assert ((probabilities >= 0.0) & (probabilities <= 1.0)).all()
        has_labels = parser.model.options.labels != "none"
        assert all((label != "_") == has_labels for label in parsed.labels)


def test_annotated_heads_are_kept_with_their_labels(parser, sentences):
    partial = []
    for sentence in sentences:
        heads = np.where(np.arange(len(sentence)) % 2 == 0, sentence.heads, -1)
        labels = [
            label if i % 4 == 0 else "_" for i, label in enumerate(sentence.labels)
        ]  # fmt: skip
        labels[0] = "own:label"
        partial.append(sentence.with_tree(heads, labels))
    trees = parser.model.decode_trees
    for parsed, given in zip(parser.parse(partial, keep_heads=True), partial, strict=True):
        known = given.heads >= 0
        assert (parsed.heads[known] == given.heads[known]).all(), trees
        for word in np.flatnonzero(known):
            if given.labels[word] != "_":
                assert parsed.labels[word] == given.labels[word]
                assert parsed.label_probabilities[word] == 1.0
    assert all(s.labels[0] == "own:label" for s in parser.parse(partial, keep_heads=True))


def test_probabilities_are_conditional(first_order, sentences):
    """P(tree | arcs) is P(tree) over the sum of P of all trees with these arcs."""
    long = sentences[0]
    sentence = arbora.Sentence.from_words(
        long.forms[:5], long.upos[:5], long.xpos[:5], lemmas=long.lemmas[:5]
    )
    n = len(sentence)
    distribution = first_order.distribution(sentence)
    (free,) = first_order.parse([sentence])
    word = int(free.arc_probabilities.argmin()) + 1
    head = int(free.runner_ups[word - 1])
    (parsed,) = first_order.parse([sentence], required=[(head, word)])
    trees = list(enumerate_trees(n, "nonprojective", "single"))
    chances = {tuple(h): math.exp(distribution.log_prob(h)) for h in trees}
    with_arc = {h: p for h, p in chances.items() if h[word - 1] == head}
    total = sum(with_arc.values())
    best = max(with_arc, key=lambda h: with_arc[h])
    assert tuple(parsed.heads) == best
    for m in range(1, n + 1):
        expected = sum(p for h, p in with_arc.items() if h[m - 1] == best[m - 1]) / total
        assert parsed.arc_probabilities[m - 1] == pytest.approx(expected, abs=1e-9)
    of_labels = np.log(parsed.label_probabilities).sum()
    assert parsed.log_prob == pytest.approx(math.log(with_arc[best] / total) + of_labels, abs=1e-9)


def test_the_arc_filter_does_not_stand_in_the_way(first_order):
    """Arcs between tags that never occurred together can be required all the same."""
    sentence = next(s for s in arbora.read_conllu(TEST) if 5 < len(s) < 9)
    n = len(sentence)
    for head, word in itertools.permutations(range(1, n + 1), 2):
        (parsed,) = first_order.parse([sentence], required=[(head, word)])
        assert parsed.heads[word - 1] == head
    # A chain backwards: every head is fixed, whatever the filter says.
    chain = [(m + 1, m) for m in range(1, n)] + [(0, n)]
    (parsed,) = first_order.parse([sentence], required=[chain])
    assert parsed.heads.tolist() == [*range(2, n + 1), 0]
    assert np.allclose(parsed.arc_probabilities, 1.0)


def test_a_label_can_be_required(first_order, sentences):
    sentence = sentences[0]
    (parsed,) = first_order.parse([sentence], required=[(0, 2, "strange")])
    assert parsed.heads[1] == 0
    assert parsed.labels[1] == "strange"
    assert first_order.parse(sentences, required={3: [(0, 1)]})[3].heads[0] == 0


def test_k_best_trees_and_samples_obey(first_order, sentences):
    sentence = sentences[0]
    for options in ({"kbest": 5}, {"samples": 5}):
        found = first_order.parse([sentence], required=[(0, 2, "strange")], **options)
        assert len(found) == 5
        assert all(tree.heads[1] == 0 and tree.labels[1] == "strange" for tree in found)


def test_impossible_arcs_are_refused(first_order, sentences):
    parse = first_order.parse
    for arcs, message in [
        ({"required": [[(2, 1), (1, 2)]]}, "cycle"),
        ({"required": [[(0, 1), (0, 2)]]}, "several roots"),
        ({"required": [[(2, 1), (3, 1)]]}, "two heads"),
        ({"required": [[(2, 1)]], "forbidden": [[(2, 1)]]}, "both required and forbidden"),
        ({"required": [[(1, 1)]]}, "must be from 1"),
        ({"required": [[(99, 1)]]}, "must be from 1"),
        ({"required": [[(1, 2, 3)]]}, "label"),
        ({"forbidden": [[(1, 2, "a")]]}, "an arc is"),
        ({"required": [[(1, 2)], []]}, "2 lists"),
        ({"required": {5: [(1, 2)]}}, r"sentences\[5\]"),
        ({"required": 3}, "must be a list"),
        ({"required": "ab"}, "required"),
        ({"required": [[(2, 1)]], "keep_heads": True}, "keep_heads"),
    ]:
        with pytest.raises(ArboraError, match=message):
            parse(sentences[:1], **arcs)
    with pytest.raises(ArboraError, match="each sentence"):
        parse(sentences[:2], required=[(2, 1)])
    with pytest.raises(ArboraError, match="list of sentences"):
        parse(TEST, required=[(2, 1)])


def test_labels_of_given_trees(parser, sentences):
    sentence = sentences[0]
    if parser.model.options.labels == "none":
        with pytest.raises(ArboraError, match="no labels"):
            parser.label(sentence)
        return
    (parsed,) = parser.parse([sentence])
    labelled = parser.label(sentence, parsed.heads)
    assert labelled.labels == parsed.labels
    assert labelled.heads.tolist() == parsed.heads.tolist()
    if parser.model.scorer.n_labels is None or parser.model.n_clusters:
        np.testing.assert_allclose(labelled.label_probabilities, parsed.label_probabilities)
    n = len(sentence)
    crossing = [3, 4, 0, *[3] * (n - 3)]
    assert parser.label(sentence, crossing).heads.tolist() == crossing
    for heads in ([0] * (n - 1), [2, 1, *[0] * (n - 2)], [-1] * n, "abc"):
        with pytest.raises(ArboraError):
            parser.label(sentence, heads)


def test_least_certain_arcs_have_their_runner_up(first_order, sentences):
    sentence = sentences[1]
    (parsed,) = first_order.parse([sentence])
    marginals = first_order.distribution(sentence).marginals
    arcs = parsed.least_certain()
    assert [arc.probability for arc in arcs] == sorted(parsed.arc_probabilities.tolist())
    for arc in arcs:
        column = marginals[:, arc.word].copy()
        assert arc.head == parsed.heads[arc.word - 1]
        assert arc.probability == pytest.approx(column[arc.head], abs=1e-12)
        column[arc.head] = -1.0
        assert arc.runner_up_probability == pytest.approx(column.max(), abs=1e-12)
        assert column[arc.runner_up] == pytest.approx(column.max(), abs=1e-12)
        assert arc.form == sentence.forms[arc.word - 1]
        assert arc.sent_id == sentence.sent_id
    assert parsed.least_certain(2) == arcs[:2]
    copy = pickle.loads(pickle.dumps(parsed))
    assert [arc.word for arc in copy.least_certain()] == [arc.word for arc in arcs]
    (bare,) = first_order.parse([sentence], probabilities=False)
    with pytest.raises(ArboraError, match="probabilities"):
        bare.least_certain()


def test_sentences_say_where_their_probabilities_are_from(parser):
    sentences = list(arbora.read_conllu(TEST))[:2]
    (found,) = parser.parse(sentences[:1], required=[(0, 3)])
    expected = parser.model.source_of_probabilities
    assert found.source_of_probabilities == expected
    assert pickle.loads(pickle.dumps(found)).source_of_probabilities == expected
    assert parser.parse(sentences, probabilities=False)[0].source_of_probabilities is None
    inference = parser.options.keywords().get("inference")
    told = {"dual": "first-order pruner", "bp": "approximate"}.get(inference)
    assert expected is None if told is None else told in expected


def test_arcs_in_the_wrong_shape_are_explained(first_order):
    sentences = list(arbora.read_conllu(TEST))[:1]
    with pytest.raises(ArboraError, match=r"write \[\(4, 2\)\]"):
        first_order.parse(sentences, required=(4, 2))
    with pytest.raises(ArboraError, match="word numbers"):
        first_order.parse(sentences, required=[("saw", "man")])
