"""Expected counts against enumeration of all trees and labels, and draws with weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arbora import ArgumentError, Parser, Sentence
from arbora.corpus.estimator import Estimator
from arbora.corpus.pattern_parser import read_pattern
from arbora.data.treebank import read_treebank
from arbora.inference.tree_parts import list_parts
from arbora.models.draws import draw_trees, is_weighted
from arbora.testing import EnumeratedTrees, enumerate_trees
from arbora.testing.slow_counts import slow_moments
from tests.small_parsers import sentences, trained


@pytest.fixture(scope="module")
def short():
    """Sentences of at most four words, parts of others."""
    made = []
    for sentence in sentences("test", 40):
        n = min(len(sentence), 4)
        made.append(
            Sentence.from_words(
                sentence.forms[:n], sentence.upos[:n], sentence.xpos[:n], lemmas=sentence.lemmas[:n]
            )
        )
    return made[:6]


def doubtful(parser, temperature=4.0):
    """The same parser with flatter distributions, so that many trees matter."""
    return Parser.from_model(replace(parser.model, temperature=temperature), 1)


def slowly(parser, pattern, sentence):
    """Moments by enumeration of all trees and labels."""
    model, decoder = parser.model, parser.decoder()
    block = read_treebank([sentence])
    encoded = model.encoder.encode(block)
    arcs = decoder.score(encoded, np.array([0])).summed.arcs_of(0) / model.temperature
    n_labels = len(model.labels)
    if arcs.ndim == 3:
        top = np.logaddexp.reduce(arcs, axis=2)
        joint = np.exp(arcs - np.where(np.isfinite(top), top, 0.0)[:, :, None])
        arcs = top
    every = EnumeratedTrees(arcs, model.decode_trees, model.root)
    tables = []
    for heads in every.heads:
        if model.options.labels == "joint":
            tables.append(joint[heads, np.arange(1, len(heads) + 1)])
        elif model.options.labels == "staged":
            tables.append(
                decoder.model.labeller.given_tree(encoded, np.array([0]), heads.astype(np.int32))
            )
        else:
            tables.append(np.ones((len(heads), 1)))
    fits = pattern.candidates(block)
    root = [[word.is_root] for word in pattern.words]
    names = model.labels if n_labels else ("_",)
    return slow_moments(
        pattern, np.concatenate([root, fits], axis=1).tolist(), every.heads, every.probabilities,
        tables, pattern.allowed(names).tolist(),
    )  # fmt: skip


PATTERNS = [
    "[] -> []",
    "[] -> [upos=NOUN|PRON]",
    "ROOT -> []",
    "[] -> [] -> []",
    "[] <- [] -> []",
    "a:[] -> b:[], a -> c:[], b << c",
    "ROOT -> [] -> []",
]
LABELLED = ["[] -nsubj-> []", "[] <-nsubj- [] -!punct-> []", "[] -> [] -det|obj-> []"]


def found(parser, pattern, sentence, draws):
    rows = Estimator(parser.decoder(), pattern, draws=draws)(read_treebank([sentence]), 0)
    return [float(x.sum()) for x in (rows.expected, rows.variance, rows.noise, rows.likely)]


@pytest.mark.parametrize("text", PATTERNS)
@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
def test_unlabelled_arcs_and_pairs_are_exact(text, trees, short, monkeypatch):
    monkeypatch.setattr("arbora.corpus.exact_sums.LEAST", 0.0)
    monkeypatch.setattr("arbora.corpus.estimator.LEAST", 0.0)
    parser, pattern = doubtful(trained(trees=trees)), read_pattern(text)
    for sentence in short:
        expected, *_ = slowly(parser, pattern, sentence)
        assert found(parser, pattern, sentence, 2)[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("text", LABELLED)
def test_labelled_arcs_and_pairs_of_joint_models_are_exact(text, short, monkeypatch):
    monkeypatch.setattr("arbora.corpus.exact_sums.LEAST", 0.0)
    monkeypatch.setattr("arbora.corpus.estimator.LEAST", 0.0)
    parser, pattern = doubtful(trained(labels="joint")), read_pattern(text)
    for sentence in short[:3]:
        expected, *_ = slowly(parser, pattern, sentence)
        assert found(parser, pattern, sentence, 2)[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("text", [*LABELLED, "[] -> [] -> [] -> []", "[] <-nsubj- [] -> [] -> []"])
def test_draws_give_the_mean_the_variance_and_the_chance(text, short):
    parser, pattern = doubtful(trained()), read_pattern(text)
    draws = 4000
    for sentence in short[:2]:
        mean, variance, some = slowly(parser, pattern, sentence)
        expected, spread, noise, likely = found(parser, pattern, sentence, draws)
        # 5 standard errors; the variance and the chance have those of plain sampling
        assert expected == pytest.approx(mean, abs=5 * np.sqrt(noise) + 1e-9)
        assert noise <= variance / draws * 1.2 + 1e-9
        assert spread == pytest.approx(variance, abs=0.12 * variance + 0.02)
        assert likely == pytest.approx(some, abs=0.03)


def test_estimates_are_unbiased_with_few_draws(short):
    """Over many seeds, the mean of estimates from two draws is the sum over all trees."""
    parser, pattern = doubtful(trained()), read_pattern("[] -nsubj-> []")
    sentence = short[0]
    mean, *_ = slowly(parser, pattern, sentence)
    block = read_treebank([sentence])
    values = np.array(
        [
            Estimator(parser.decoder(), pattern, 2, seed)(block, 0).expected.sum()
            for seed in range(100)
        ]
    )
    assert values.mean() == pytest.approx(mean, abs=4 * values.std() / 10)


def test_certain_words_need_no_trees(short):
    rows = Estimator(trained().decoder(), read_pattern("[upos=NOUN]"))(read_treebank(short), 0)
    assert rows.expected.sum() == sum(sentence.upos.count("NOUN") for sentence in short)
    assert not rows.variance.any()


def test_best_trees_are_those_of_the_parser():
    parser, chosen = trained(), sentences("test", 20)
    pattern = read_pattern("[] -nsubj-> []")
    rows = Estimator(parser.decoder(), pattern)(read_treebank(list(chosen)), 0)
    parsed = parser.parse(list(chosen))
    assert rows.best.sum() == sum(one.labels.count("nsubj") for one in parsed)


def test_draws_do_not_depend_on_the_block():
    parser, pattern = trained(), read_pattern("[] -nsubj-> [] -> []")
    chosen = list(sentences("test", 12))
    estimate = Estimator(parser.decoder(), pattern, draws=4)
    whole = estimate(read_treebank(chosen), 0)
    parts = [estimate(read_treebank(chosen[i : i + 4]), i) for i in (0, 4, 8)]
    assert np.concatenate([part.expected for part in parts]) == pytest.approx(whole.expected)


@pytest.fixture(scope="module")
def dual():
    return trained(order="sibling", learner="mira", inference="dual")


def exactly_weighted(parser, sentence, temperature):
    """Arc probabilities of exp(score / T) over all trees of the kept arcs."""
    decoder = parser.decoder()
    encoded = parser.model.encoder.encode(read_treebank([sentence]))
    scored = decoder.score(encoded, np.array([0]))
    n = len(sentence)
    trees = enumerate_trees(n, parser.model.decode_trees, parser.model.root).astype(np.int32)
    kept = scored.batch.kept.reshape(n + 1, n + 1)
    possible = kept[trees, np.arange(1, n + 1)].all(axis=1)
    trees = trees[possible]
    _, scores = list_parts(
        scored.scores, trees.reshape(-1), np.array([len(trees)]), np.zeros(len(trees))
    )
    chances = np.exp((scores - scores.max()) / temperature)
    return trees, chances / chances.sum()


def test_weighted_draws_are_those_of_the_second_order_scores(dual, short):
    assert is_weighted(dual.decoder())
    for sentence in short[:3]:
        for temperature in (2.0, 20.0):
            trees, chances = exactly_weighted(dual, sentence, temperature)
            drawn = dual.sample_weighted(sentence, 20_000, seed=1, temperature=temperature)
            assert drawn.weights.sum() == pytest.approx(1.0)
            assert 1.0 <= drawn.effective <= 20_000
            for word in range(len(sentence)):
                for head in range(len(sentence) + 1):
                    share = drawn.weights[drawn.heads[:, word] == head].sum()
                    expected = chances[trees[:, word] == head].sum()
                    assert share == pytest.approx(expected, abs=4 / np.sqrt(drawn.effective))


def test_weights_need_a_temperature_which_is_fitted_and_saved(dual, short, tmp_path):
    parser = Parser.from_model(dual.model, 1)
    with pytest.raises(ArgumentError, match="no fitted temperature yet"):
        parser.sample_weighted(short[0], 10)
    temperature = parser.fit_weights(list(sentences("dev", 20)))
    assert 0.0 < temperature < 1e6
    parser.save(tmp_path / "m.arbora")
    again = Parser.from_model(parser.model, 1)
    first, second = parser.sample_weighted(short[0], 10), again.sample_weighted(short[0], 10)
    assert np.array_equal(first.weights, second.weights)
    # a smaller likelihood at half and double the temperature
    decoder = parser.decoder()
    dev = list(sentences("dev", 20))
    encoded = parser.model.encoder.encode(read_treebank(dev))

    def log_likelihood(at):
        total = 0.0
        for i, sentence in enumerate(dev):
            scored = decoder.score(encoded, np.array([i]))
            kept = scored.batch.kept.reshape(len(sentence) + 1, -1)
            words = np.arange(1, len(sentence) + 1)
            if len(sentence) > 6 or not kept[sentence.heads, words].all():
                continue
            trees, chances = exactly_weighted(parser, sentence, at)
            gold = (trees == sentence.heads).all(axis=1)
            total += float(np.log(chances[gold].sum()))
        return total

    best = max(log_likelihood(temperature * f) for f in (0.1, 10.0))
    assert log_likelihood(temperature) >= best


def test_exact_models_have_equal_weights(short):
    drawn = trained().sample_weighted(short[0], 8)
    assert drawn.weights == pytest.approx(np.full(8, 1 / 8))
    assert drawn.effective == pytest.approx(8)


def test_second_order_pairs_by_weighted_draws(dual, short):
    pattern, sentence, temperature = read_pattern("[] <- [] -> []"), short[0], 5.0
    trees, chances = exactly_weighted(dual, sentence, temperature)
    expected = 0.0
    for heads, chance in zip(trees, chances, strict=True):
        sizes = np.bincount(heads, minlength=len(heads) + 1)[1:]
        expected += chance * float((sizes * (sizes - 1)).sum())
    estimate = Estimator(dual.decoder(), pattern, 4000, temperature=temperature)
    rows = estimate(read_treebank([sentence]), 0)
    assert rows.expected.sum() == pytest.approx(expected, abs=5 * np.sqrt(rows.noise.sum()) + 1e-9)


def test_draws_have_the_trees_class(dual):
    chosen = list(sentences("test", 3))
    encoded = dual.model.encoder.encode(read_treebank(chosen))
    drawn = draw_trees(dual.decoder(), encoded, np.arange(3), 5, 0, np.arange(3), 1.0)
    assert drawn.weights.shape == (3, 5)
    assert len(drawn.heads) == 5 * sum(map(len, chosen))
