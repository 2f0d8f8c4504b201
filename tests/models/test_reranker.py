"""Reranking: scores of candidates against sums over parts, choices against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arbora import ArgumentError, HeadAutomata, ModelError, Parser, Parts, SpanningTrees
from arbora.data.treebank import read_treebank
from arbora.inference.engines import first_order_engine
from arbora.models.model_file import from_bytes, to_bytes
from arbora.models.reranker import PARTS, Candidates, Reranker, best_places, make_reranker
from arbora.scores import Scores
from arbora.scoring import Batch, LinearScorer
from arbora.testing import enumerate_trees, score_parts_slowly
from tests.models.test_model_file import description_of, refused, with_description
from tests.small_parsers import trained
from tests.toys import batch_of, encode, everything, random_weights, toy_sentences

OPTIONS = {"rerank": 4, "rerank_folds": 2}


@pytest.fixture(scope="module")
def parser():
    """Weights of the reranker are random, so that it often prefers a later candidate."""
    model = trained(**OPTIONS).model
    weights = np.random.default_rng(0).normal(size=model.reranker.scorer.size, scale=0.3)
    return Parser.from_model(model.with_parameters({
        "reranker.weights": weights.astype(np.float32), "reranker.base_weight": np.array([0.7]),
    }))  # fmt: skip


def random_reranker(rng, lengths, trees="nonprojective", root="single", k=6):
    """Toy sentences with random first-order scores, their candidates, and a random reranker."""
    settings, encoded = encode(toy_sentences(rng, lengths))
    scorer = LinearScorer(settings, 8, kinds=PARTS)
    scorer.weights = random_weights(rng, scorer).astype(np.float32)
    arcs = rng.normal(size=int(((encoded.n_words + 1) ** 2).sum()))
    scores = Scores(arcs, encoded.n_words)
    found = Candidates.best(first_order_engine(trees, root), scores, k)
    return Reranker(scorer, k, 0.6), encoded, scores, found


def all_parts(scorer, encoded, sentence):
    """The scores of all parts of a sentence, over all arcs."""
    n = int(encoded.n_words[sentence])
    mask = np.ones((n + 1, n + 1), dtype=np.uint8)
    mask[:, 0] = 0
    np.fill_diagonal(mask, 0)
    batch = Batch(encoded, np.array([sentence]), kept=mask.reshape(-1))
    return scorer.scores(batch)[0].sentence(0)


def split(candidates):
    """The candidates of each sentence, (trees, words)."""
    at, rows = 0, []
    for n, count in zip(candidates.n_words.tolist(), candidates.counts.tolist(), strict=True):
        rows.append(candidates.heads[at : at + n * count].reshape(count, n))
        at += n * count
    return rows


@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
@pytest.mark.parametrize("root", ["single", "multi"])
def test_a_score_is_the_sum_over_the_parts_of_the_tree(rng, trees, root):
    reranker, encoded, scores, found = random_reranker(rng, [5, 1, 7, 3], trees, root)
    values = reranker.tree_scores(encoded, everything(encoded), found)
    at = 0
    for i, rows in enumerate(split(found)):
        parts, arcs = all_parts(reranker.scorer, encoded, i), scores.arcs_of(i)
        assert len({tuple(row) for row in rows.tolist()}) == len(rows)
        for row in rows.tolist():
            base = sum(arcs[h, m] for m, h in enumerate(row, start=1))
            expected = score_parts_slowly(parts, row) + 0.6 * base
            assert values[at] == pytest.approx(expected, abs=1e-9)
            at += 1
    assert at == len(values)


@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("seed", range(3))
def test_among_all_trees_it_is_exact_decoding_with_the_same_parts(seed, trees, root):
    rng = np.random.default_rng(seed)
    reranker, encoded, scores, found = random_reranker(rng, [4, 2, 3, 4], trees, root, k=10**4)
    chosen = best_places(found, reranker.tree_scores(encoded, everything(encoded), found))
    heads = np.split(found.heads_at(chosen), np.cumsum(found.n_words)[:-1])
    for i, row in enumerate(heads):
        assert found.counts[i] == len(enumerate_trees(len(row), trees, root))
        own = all_parts(reranker.scorer, encoded, i)
        arcs = own.arcs + 0.6 * scores.arcs_of(i)
        lists = {kind: (getattr(own, kind).rows, getattr(own, kind).scores) for kind in own.kinds}
        best = HeadAutomata(Parts(arcs, **lists), trees, root).exact_argmax()
        assert best.certified
        assert row.tolist() == best.heads.tolist()


def test_parsing_chooses_the_best_candidate(parser, test_sentences):
    model, moved = parser.model, 0
    for sentence, parsed in zip(test_sentences, parser.parse(test_sentences), strict=True):
        encoded = model.encoder.encode(read_treebank([sentence]))
        parts = all_parts(model.reranker.scorer, encoded, 0)
        arcs = model.scorer.scores(batch_of(encoded))[0].arcs_of(0)
        candidates = SpanningTrees(arcs, root=model.root).kbest(4)
        scores = [
            score_parts_slowly(parts, tree.heads.tolist()) + 0.7 * tree.score for tree in candidates
        ]
        best = int(np.argmax(scores))
        moved += best > 0
        assert parsed.heads.tolist() == candidates[best].heads.tolist()
    assert moved > 2


def test_equal_candidates_stay_in_order(rng):
    _, _, _, found = random_reranker(rng, [4, 6])
    assert best_places(found, np.zeros(len(found.scores))).tolist() == found.first_tree.tolist()


def test_the_untrained_reranker_is_the_first_order_model(rng):
    _, encoded, _, found = random_reranker(rng, [4, 6])
    model = trained(**OPTIONS).model
    untrained = make_reranker(model.options, model.encoder)
    values = untrained.tree_scores(encoded, everything(encoded), found)
    assert np.array_equal(values, found.scores)
    assert make_reranker(trained().model.options, model.encoder) is None


def test_lists_can_be_taken_apart_and_joined(rng):
    _, _, _, found = random_reranker(rng, [4, 1, 6, 2])
    pieces = found.split()
    assert [one.heads.tolist() for one in pieces] == [
        rows.ravel().tolist() for rows in split(found)
    ]
    for one, again in zip(found, Candidates.joined(pieces), strict=True):
        assert np.array_equal(one, again)


def test_all_else_is_that_of_the_first_order_model(parser, test_sentences):
    """Probabilities, k-best lists and samples."""
    first = Parser.from_model(replace(parser.model, reranker=None))
    for ours, sentence in zip(parser.parse(test_sentences), test_sentences, strict=True):
        trees = first.distribution(sentence)
        words = np.arange(1, len(sentence) + 1)
        assert ours.arc_probabilities == pytest.approx(trees.marginals[ours.heads, words])
        label = np.log(ours.label_probabilities).sum()
        assert ours.log_prob == pytest.approx(trees.log_prob(ours.heads) + label)
    for options in ({"kbest": 3}, {"samples": 3, "seed": 1}):
        one, two = (p.parse(test_sentences, **options) for p in (parser, first))
        assert [bytes(s) for s in one] == [bytes(s) for s in two]
    assert parser.explain(test_sentences[0], 2).explains == "the score of the arc before reranking"


def test_what_a_reranked_model_cannot_do(parser, test_sentences):
    with pytest.raises(ArgumentError, match=r"not available with a model that reranks: use map\.$"):
        parser.parse(test_sentences, decode="mbr")
    with pytest.raises(ArgumentError, match=r"certificates requires a model that searches all"):
        parser.parse(test_sentences, certificates=True)


def test_the_file_holds_both_models(parser, test_sentences):
    again = Parser.from_model(from_bytes(to_bytes(parser.model)))
    assert to_bytes(again.model) == to_bytes(parser.model)
    assert again.model.reranker.base_weight == 0.7
    ours, theirs = parser.parse(test_sentences), again.parse(test_sentences)
    assert [bytes(s) for s in ours] == [bytes(s) for s in theirs]


def test_forged_rerankers_are_refused(parser):
    data = to_bytes(parser.model)
    for change, reason in (
        ({"base_weight": "1"}, "base weight '1'"), ({"base_weight": 1e300}, "base weight 1e+300"),
        ({"kinds": ["siblings"]}, "reranker does not fit its options"),
    ):  # fmt: skip
        components = description_of(data)["components"]
        components["reranker"] |= change
        assert reason in refused(with_description(data, components=components))
    del components["reranker"]
    assert "reranker does not fit" in refused(with_description(data, components=components))
    weights = np.full(parser.model.reranker.scorer.size, np.nan, dtype=np.float32)
    model = parser.model.with_parameters(
        {"reranker.weights": weights, "reranker.base_weight": np.array([1.0])}
    )
    with pytest.raises(ModelError, match="weights of the model's reranker are not all finite"):
        to_bytes(model)
