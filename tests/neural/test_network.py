"""The network: NumPy against PyTorch, gradients against differences, shards, threads, files."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.errors import ModelError
from arbora.features import FeatureSettings
from arbora.neural import NeuralScorer
from arbora.neural.shards import shards_of
from arbora.scoring import softmax
from tests.neural.small import ALL_KINDS, NAMES, small_batch, small_block, small_scorer

SHAPES = [{}, {"labels": 0}, {"joint": True}, {"kinds": ALL_KINDS}]


def with_kept(shape):
    return "kinds" in shape


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numpy_and_torch_give_the_same_scores(shape):
    block = small_block()
    scorer, kept = small_scorer(block, **shape), with_kept(shape)
    plain, _ = scorer.scores(small_batch(block, annotated=False, kept=kept))
    graph, _ = scorer.scores(small_batch(block, kept=kept))
    np.testing.assert_allclose(plain.arcs, graph.arcs, rtol=1e-12)
    assert np.abs(plain.arcs[np.isfinite(plain.arcs)]).max() > 0.01
    for kind in plain.kinds:
        np.testing.assert_allclose(plain.tables[kind], graph.tables[kind], rtol=1e-12, atol=1e-15)
        assert np.abs(plain.tables[kind]).max() > 1e-3


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_pullback_is_the_gradient(shape):
    """Of a random linear function of the scores, plus the labels' loss, by central differences."""
    block = small_block()
    scorer = small_scorer(block, **shape)
    batch = small_batch(block, kept=with_kept(shape))
    scores, pullback = scorer.scores(batch)
    rng = np.random.default_rng(3)
    d_arcs = np.where(np.isfinite(scores.arcs), rng.normal(size=len(scores.arcs)), 0.0)
    d_tables = {kind: rng.normal(size=len(table)) for kind, table in scores.tables.items()}
    gradient = pullback(scores.with_values(d_arcs, d_tables))

    def total(parameters):
        own = scorer.with_parameters(parameters)
        found, _ = own.scores(small_batch(block, annotated=False, kept=with_kept(shape)))
        value = float(np.where(np.isfinite(found.arcs), found.arcs, 0.0) @ d_arcs)
        value += sum(float(found.tables[kind] @ d) for kind, d in d_tables.items())
        if own.sizes.n_labels and not own.sizes.joint:
            shares = softmax(own.label_scores(batch.encoded, batch.sentences, batch.heads))
            value -= float(np.log(shares[np.arange(len(batch.labels)), batch.labels]).sum())
        return value

    parameters = scorer.parameters()
    assert gradient.keys() == parameters.keys()
    for name, values in parameters.items():
        assert gradient[name].shape == values.shape
        # A random direction finds mistakes in any number, at the cost of two evaluations.
        direction, step = rng.normal(size=values.shape), 1e-6
        ends = [
            total(parameters | {name: values + sign * step * direction}) for sign in (1.0, -1.0)
        ]
        slope = (ends[0] - ends[1]) / (2 * step)
        assert float((gradient[name] * direction).sum()) == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_the_likelihood_of_trees_has_the_right_gradient_through_the_network():
    """The complete chain: words, network, matrix-tree, and back."""
    from arbora.fitting.treebank import gold_of
    from arbora.inference.engines import first_order_engine
    from arbora.losses import negative_log_likelihood

    block = small_block()
    scorer = small_scorer(block, labels=0)
    batch, engine = small_batch(block), first_order_engine("nonprojective", "single")

    def loss(parameters):
        scores, _ = scorer.with_parameters(parameters).scores(small_batch(block, annotated=False))
        return float(negative_log_likelihood(scores, gold_of(batch, None), engine).values.sum())

    scores, pullback = scorer.scores(batch)
    found = negative_log_likelihood(scores, gold_of(batch, None), engine)
    gradient, parameters = pullback(found.d_scores), scorer.parameters()
    rng = np.random.default_rng(0)
    direction = {name: rng.normal(size=values.shape) for name, values in parameters.items()}
    ends = [
        loss({name: v + step * direction[name] for name, v in parameters.items()})
        for step in (1e-6, -1e-6)
    ]
    slope = sum(float((gradient[name] * direction[name]).sum()) for name in parameters)
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def test_dropout_is_the_batch_s_and_the_same_on_any_number_of_threads():
    block = small_block()
    scorer = small_scorer(block, dropout=0.4, dtype=np.float32)

    def run(threads, noise):
        batch = small_batch(block, noise=noise)
        scores, pullback = scorer.on_threads(threads).scores(batch)
        return scores.arcs, pullback(scores.with_values(np.ones(len(scores.arcs))))

    first, again, threaded, other = (run(*how) for how in ((1, 7), (1, 7), (3, 7), (1, 8)))
    for one in (again, threaded):
        assert np.array_equal(first[0], one[0])
        assert all(np.array_equal(first[1][name], one[1][name]) for name in first[1])
    assert not np.array_equal(first[0], other[0])


def test_labels_are_those_of_the_arcs():
    block = small_block()
    scorer, batch = small_scorer(block), small_batch(block)
    both = scorer.label_scores(batch.encoded, batch.sentences, batch.heads)
    assert both.shape == (9, len(NAMES))
    last = scorer.label_scores(batch.encoded, np.array([1]), batch.heads[-1:])
    np.testing.assert_allclose(both[-1:], last, rtol=1e-12)
    moved = batch.heads.copy()
    moved[0] = 3
    changed = scorer.label_scores(batch.encoded, batch.sentences, moved)
    assert np.array_equal((changed != both).any(axis=1), np.arange(9) == 0)


def test_a_scorer_reads_what_it_wrote():
    block = small_block()
    scorer = small_scorer(block, kinds=("grandparents",), dtype=np.float32)
    description, arrays = scorer.state()
    settings = FeatureSettings.for_training("rich", block)
    again = NeuralScorer.from_state(description, arrays, settings)
    batch = small_batch(block, annotated=False, kept=True)
    assert np.array_equal(again.scores(batch)[0].arcs, scorer.scores(batch)[0].arcs)
    with pytest.raises(ModelError, match=r"the scorer's arc.head do not fit"):
        NeuralScorer.from_state(description, arrays | {"arc.head": np.zeros(2, "f4")}, settings)
    names = description["names"] | {"upos": 99}
    sizes = description["sizes"] | {"width": -1}
    with pytest.raises(ModelError, match="vocabulary of 'upos' is damaged"):
        NeuralScorer.from_state(description | {"names": names}, arrays, settings)
    with pytest.raises(ModelError, match="sizes are not those of a network"):
        NeuralScorer.from_state(description | {"sizes": sizes}, arrays, settings)


def test_shards_have_every_sentence_once_and_do_not_depend_on_threads():
    n_words = np.random.default_rng(2).integers(1, 60, size=100)
    for training in (True, False):
        found = list(shards_of(n_words, training))
        assert sorted(np.concatenate(found).tolist()) == list(range(100))
        assert all((np.diff(n_words[one]) <= 0).all() for one in found)
        assert len(found) >= 2


def test_numpy_has_one_thread_inside_and_as_many_as_before_afterwards():
    from arbora.neural.blas import _functions, one_blas_thread

    found = _functions()
    if found is None:
        pytest.skip("NumPy is built without OpenBLAS")
    get, _ = found
    before = get()
    with one_blas_thread(), one_blas_thread():
        assert get() == 1
    assert get() == before
