"""Doubt about tags: trees and probabilities averaged over drawn tags."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import arbora
from arbora import ArboraError, Mixture, Sentence
from arbora.data.treebank import read_treebank
from arbora.models.card import check_card
from arbora.options import (
    LemmatiserOptions,
    ParseOptions,
    SegmenterOptions,
    TaggerOptions,
)
from arbora.pipeline import Pipeline, StageOptions
from tests.cli.conftest import arbora_process
from tests.small_parsers import sentences

STAGES = StageOptions(
    SegmenterOptions(passes=2), TaggerOptions(passes=2), LemmatiserOptions(passes=2), folds=2
)
SMALL = {"threads": 1, "passes": 1, "bits": 14, "label_bits": 9, "refit": False}
KINDS = {
    "staged": {},
    "joint": {"labels": "joint"},
    "no labels": {"labels": "none"},
    "projective": {"trees": "projective"},
    "clusters": {"clusters": 2},
    "exact": {"order": "sibling", "trees": "projective", "inference": "exact"},
    "beliefs": {"order": "grandsibling", "inference": "bp"},
    "dual": {"order": "grandsibling", "inference": "dual"},
}
THREE = {"NOUN": "NOUN", "PROPN": "NOUN", "PRON": "NOUN", "VERB": "VERB", "AUX": "VERB"}


@pytest.fixture(scope="module", params=KINDS)
def nlp(request):
    options = SMALL | KINDS[request.param]
    return Pipeline(**options).fit(sentences("train", 80), sentences("dev", 20), stages=STAGES)


@pytest.fixture(scope="module")
def first_order():
    return Pipeline(**SMALL).fit(sentences("train", 80), sentences("dev", 20), stages=STAGES)


def bare(count=6):
    return [Sentence.from_words(one.forms) for one in sentences("test", count)]


def marginals_of(nlp, block, heads=None):
    """P(arc) of each sentence by the model's own sums, whatever its order is.

    `heads` are those of the parsed trees, whose arcs get a bonus if the model has no sums.
    """
    decoder = nlp.decoder()
    encoded = nlp.model.encoder.encode(block)
    scored = decoder.score(encoded, np.arange(len(block)))
    found = decoder.calibrated(scored, scale=nlp.model.averaging_scale, heads=heads)
    arcs = found.arcs.reshape(-1, found.scores.depth).sum(axis=1)
    sizes = (block.n_words + 1) ** 2
    return [
        one.reshape(int(n) + 1, int(n) + 1)
        for one, n in zip(np.split(arcs, np.cumsum(sizes)[:-1]), block.n_words, strict=True)
    ]


def drawings(nlp, given, count, seed):
    """The best tags and count - 1 drawings, with lemmas."""
    block = read_treebank(given)
    blocks = [nlp.tagger(block), *nlp.tagger.samples(block, count - 1, seed)]
    return blocks if nlp.lemmatiser is None else [nlp.lemmatiser(one) for one in blocks]


def test_the_average_is_the_mean_of_separate_parses(nlp):
    given, count = bare(), 5
    drawn = drawings(nlp, given, count, 3)
    assert len({block.text(0) + block.text(1) for block in drawn}) > 1
    heads = np.concatenate([tree.heads for tree in nlp.parse(given)])
    each = [marginals_of(nlp, block, heads) for block in drawn]
    tables = [np.mean(one, axis=0) for one in zip(*each, strict=True)]
    beliefs = nlp.model.options.keywords().get("inference") == "bp"
    for decode in (None,) if beliefs else (None, "map"):
        found = nlp.parse(given, tag_samples=count, seed=3, decode=decode)
        for table, tree in zip(tables, found, strict=True):
            words = np.arange(1, len(tree) + 1)
            np.testing.assert_allclose(tree.arc_probabilities, table[tree.heads, words], atol=1e-9)
            table = table.copy()
            table[tree.heads, words] = -1.0
            others = table[:, 1:].max(axis=0)
            np.testing.assert_allclose(tree.runner_up_probabilities, others, atol=1e-9)


def test_trees_are_those_of_the_mixture(first_order):
    given, count = bare(), 6
    model = first_order.model.with_card(averaging={"samples": 8, "scale": 1.0})
    first_order = Pipeline.from_model(model, threads=1)
    drawn = drawings(first_order, given, count, 0)
    drawn = [list(arbora.data.conllu.sentences_of(block)) for block in drawn]
    found = first_order.parse(given, tag_samples=count)
    for i, tree in enumerate(found):
        mixture = Mixture([first_order.distribution(draw[i]) for draw in drawn])
        assert mixture.mbr().heads.tolist() == tree.heads.tolist()
        np.testing.assert_allclose(
            tree.arc_probabilities,
            mixture.marginals[tree.heads, np.arange(1, len(tree) + 1)], atol=1e-9,
        )  # fmt: skip
        labelled = [first_order.label(draw[i], tree.heads) for draw in drawn]
        unlabelled = mixture.log_prob(tree.heads)
        assert tree.log_prob <= unlabelled + 1e-9
        assert (tree.label_probabilities <= 1.0).all()
        if all(one.labels == tree.labels for one in labelled):
            terms = [
                m.log_prob(tree.heads) + np.log(one.label_probabilities).sum()
                for m, one in zip(mixture.components, labelled, strict=True)
            ]
            expected = np.logaddexp.reduce(terms) - np.log(count)
            assert tree.log_prob == pytest.approx(expected, abs=1e-9)


def simplified(part, count):
    """Sentences with three tags, and nothing else that a tagger has to find."""
    block = read_treebank(sentences(part, count))
    tags = [[THREE.get(tag, "X") for tag in block.column(i, 3)] for i in range(len(block))]
    none = [["_"] * len(row) for row in tags]
    return block.with_columns(upos=tags, xpos=none, feats=none, lemmas=none)


def sequences(tagger, words):
    """Every tag sequence of a sentence and its probability, by the chain rule."""
    chances = {(): 1.0}
    for place in range(len(words)):
        longer = {}
        for before, chance in chances.items():
            tags = [[*before, *["_"] * (len(words) - place)]]
            block = arbora.data.Block.from_columns([words], upos=tags)
            posterior = tagger.tag(block, posterior=True).posterior[place]
            for tag, share in zip(tagger.upos, posterior, strict=True):
                longer[*before, tag] = chance * share
        chances = longer
    return chances


def test_the_limit_is_the_sum_over_all_tag_sequences():
    nlp = Pipeline(**SMALL).fit(simplified("train", 60), simplified("dev", 20), stages=STAGES)
    assert len(nlp.tagger.upos) == 3
    words, count = ["Grandmother", "mends", "nets", "."], 1000
    chances = sequences(nlp.tagger, words)
    assert len(chances) == len(list(product(range(3), repeat=len(words))))
    assert sum(chances.values()) == pytest.approx(1.0)
    tables = {
        tags: marginals_of(nlp, arbora.data.Block.from_columns([words], upos=[list(tags)]))[0]
        for tags in chances
    }
    exact = sum(chance * tables[tags] for tags, chance in chances.items())
    spread = sum(c * (tables[tags] - exact) ** 2 for tags, c in chances.items())
    tree = nlp.parse([Sentence.from_words(words)], tag_samples=count)[0]
    arcs = (tree.heads, np.arange(1, len(words) + 1))
    error = 4.5 * np.sqrt(spread[arcs] / count) + 1 / count  # the first are the best tags
    assert (np.abs(tree.arc_probabilities - exact[arcs]) <= error).all()
    best = nlp.parse([Sentence.from_words(words)])[0]
    assert np.abs(best.arc_probabilities - exact[arcs]).max() > 1e-4  # doubt makes a difference


def test_sentences_with_tags_are_not_in_doubt(first_order):
    tagged = list(sentences("test", 4))
    mixed = [tagged[0], *bare(2), *tagged[1:]]
    plain = first_order.parse(mixed)
    found = first_order.parse(mixed, tag_samples=4)
    for i in (0, 3, 4, 5):
        assert bytes(found[i]) == bytes(plain[i])
        assert found[i].arc_probabilities.tolist() == plain[i].arc_probabilities.tolist()
    again = first_order.parse(mixed, tag_samples=4, retag=True)
    assert again[0].arc_probabilities.tolist() != plain[0].arc_probabilities.tolist()


def test_the_temperature_is_fitted_for_averages(first_order):
    fitted = first_order.model.card["averaging"]
    assert fitted["samples"] == 8
    assert 0.6 <= fitted["scale"] <= 1.0
    losses = []
    for scale in (1.0, fitted["scale"]):
        model = first_order.model.with_card(averaging={"samples": 8, "scale": scale})
        gold = sentences("dev", 20)
        found = Pipeline.from_model(model, threads=1).parse(gold, tag_samples=8, retag=True)
        truth = [np.where(a.heads == b.heads, b.arc_probabilities, 1 - b.arc_probabilities)
                 for a, b in zip(gold, found, strict=True)]  # fmt: skip
        losses.append(-np.log(np.concatenate(truth)).mean())
    assert losses[1] <= losses[0]
    with pytest.raises(ArboraError, match=r"averaging\.scale"):
        check_card({"averaging": {"samples": 8, "scale": 0.0}})


def test_tags_are_the_best_ones(first_order):
    plain, found = first_order.parse(bare()), first_order.parse(bare(), tag_samples=3)
    assert [one.upos for one in plain] == [one.upos for one in found]
    assert [one.feats for one in plain] == [one.feats for one in found]


def test_bytes_do_not_depend_on_threads_or_batches(first_order):
    block = read_treebank(bare(12))
    options = ParseOptions(tag_samples=4, probabilities=True, seed=9)
    one = first_order.stage(options)(block)
    two = Pipeline.from_model(first_order.model, threads=2).stage(options)(block)
    assert one.texts(0, len(one)) == two.texts(0, len(two))
    assert b"# arbora.probabilities = averaged over 4 tag sequences" in one.text(0)
    part = arbora.data.Block(block.texts(5, 8), block.layout, first_sentence=5)
    alone = first_order.stage(options)(part)
    assert alone.texts(0, 3) == one.texts(5, 8)
    other = first_order.stage(ParseOptions(tag_samples=4, probabilities=True, seed=1))(block)
    assert other.texts(0, len(other)) != one.texts(0, len(one))


def test_corrections_hold_in_every_drawing(first_order):
    given = bare(2)
    arc = (3, 1)
    tree = first_order.parse(given, required=[[arc], []], tag_samples=4)[0]
    assert tree.heads[0] == 3
    assert tree.arc_probabilities[0] == pytest.approx(1.0)


def test_one_drawing_is_the_best_tags(first_order):
    model = replace(first_order.model, temperature=1.0)  # trees are chosen at 1, averages at T
    model = model.with_card(averaging={"samples": 8, "scale": 1.0})
    first_order = Pipeline.from_model(model, threads=1)
    plain = first_order.parse(bare(), decode="mbr")
    found = first_order.parse(bare(), tag_samples=1, decode="mbr")
    assert [one.heads.tolist() for one in plain] == [one.heads.tolist() for one in found]


def test_what_cannot_be_averaged_is_refused(first_order):
    for options in ({"kbest": 2}, {"samples": 2}, {"certificates": True}):
        with pytest.raises(ArboraError, match="tag_samples"):
            first_order.parse(bare(1), tag_samples=2, **options)
    with pytest.raises(ArboraError, match="requires a model with a tagger"):
        arbora.Parser.from_model(first_order.model).parse(sentences("test", 1), tag_samples=2)


def test_the_command_averages(first_order, tmp_path):
    first_order.save(tmp_path / "village.arbora")
    shared = ("parse", "--model", tmp_path / "village.arbora", "The gulls sleep on the wall.")
    found = arbora_process(*shared, "--probabilities", "--tag-samples", "4").stdout
    assert "averaged over 4 tag sequences" in found
    listed = arbora_process(*shared, "--tag-samples", "4", "--least-certain", "2").stdout
    assert len(listed.splitlines()) == 3


def test_root_is_the_label_of_the_root(first_order):
    """However bad the labels are."""
    model = first_order.model
    shape = model.labeller.scorer.weights.shape
    weights = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    bad = Pipeline.from_model(model.with_parameters({"labeller.weights": weights}), 1)
    for sentence in bad.parse(bare(), tag_samples=4):
        roots = [label == "root" for label in sentence.labels]
        assert roots == (sentence.heads == 0).tolist()
