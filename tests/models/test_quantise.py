"""Rounded weights: close to the others, stored as codes, and read back exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import arbora
from arbora import ArboraError, ModelError
from arbora.models.model import StoredStage
from arbora.models.model_file import (
    from_bytes,
    read_model,
    stored_version,
    to_bytes,
    write_model,
)
from arbora.models.quantise import decoded, encode, quantise

TRAIN = "examples/treebank/train.conllu"


@pytest.fixture(scope="module", params=["first", "sibling"])
def parser(request):
    return arbora.Parser(
        threads=1, order=request.param, passes=1, bits=15, label_bits=10, refit=False
    ).fit(TRAIN)


@pytest.mark.parametrize("bits", [4, 6, 8])
def test_a_rounded_model_is_small_and_is_read_back_exactly(parser, bits, tmp_path):
    small = quantise(parser.model, bits)
    path = tmp_path / "small.arbora"
    arbora.Parser.from_model(small).save(path)
    again = arbora.load(path, threads=1).model
    np.testing.assert_array_equal(again.scorer.weights, small.scorer.weights)
    np.testing.assert_array_equal(again.labeller.scorer.weights, small.labeller.scorer.weights)
    if parser.options.keywords()["order"] != "first":
        np.testing.assert_array_equal(again.pruner.scorer.weights, small.pruner.scorer.weights)
    assert len(np.unique(again.scorer.weights)) <= 2**bits
    assert stored_version(path) == 4
    assert to_bytes(again) == path.read_bytes()
    assert path.stat().st_size < len(to_bytes(parser.model))


def test_eight_bits_change_hardly_anything(parser):
    weights = parser.model.scorer.weights
    rounded = quantise(parser.model, 8).scorer.weights
    # The values are chosen for the squared error. A single large weight may be changed by much
    # more than the others, but no weight is changed by more than the nearest value requires.
    assert np.mean((rounded - weights) ** 2) < 1e-3 * np.mean(weights**2)
    assert (rounded[weights == 0] == 0).all()
    values = np.unique(rounded)
    nearest = np.abs(weights[::64, None] - values).min(axis=1)
    np.testing.assert_allclose(np.abs(rounded - weights)[::64], nearest, atol=1e-7)


@pytest.mark.parametrize("bits", [4, 8])
def test_stages_are_rounded_and_read_back_exactly(parser, bits, tmp_path):
    rng = np.random.default_rng(0)
    tensors = {
        "weights": rng.normal(size=5001).astype(np.float16),
        "few": rng.normal(size=17).astype(np.float16),
        "keys": np.arange(5001, dtype=np.uint32),
    }
    model = replace(parser.model, stages={"other": StoredStage({"a": 1}, tensors)})
    small = quantise(model, 8, bits)
    path = tmp_path / "small.arbora"
    write_model(small, path)
    again = read_model(path)
    assert again.stages["other"].settings == {"a": 1}
    found, rounded = again.stages["other"].tensors, small.stages["other"].tensors
    assert set(found) == set(tensors)
    for name in tensors:
        np.testing.assert_array_equal(found[name], rounded[name])
        assert found[name].dtype == tensors[name].dtype
    np.testing.assert_array_equal(found["few"], tensors["few"])
    error = np.mean((found["weights"] - tensors["weights"]) ** 2)
    assert error < (0.02 if bits == 4 else 2e-4)
    assert len(np.unique(found["weights"])) <= 2**bits


def test_the_pruner_may_have_fewer_values(parser):
    small = quantise(parser.model, 6, pruner_bits=4)
    np.testing.assert_array_equal(small.scorer.weights, quantise(parser.model, 6).scorer.weights)
    if parser.options.keywords()["order"] != "first":
        assert len(np.unique(small.pruner.scorer.weights)) <= 16
        assert len(np.unique(quantise(parser.model, 6).pruner.scorer.weights)) > 16


def test_more_bits_are_closer(parser):
    weights = parser.model.scorer.weights
    errors = [np.mean((quantise(parser.model, b).scorer.weights - weights) ** 2) for b in (4, 8)]
    assert errors[1] < 0.1 * errors[0]


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 255, 256])
@pytest.mark.parametrize("size", [1000, 1001])
def test_codes_are_without_loss(count, size):
    rng = np.random.default_rng(count)
    values = rng.normal(size=count).astype(np.float32)
    weights = values[rng.integers(count, size=size)]
    coded = encode(weights)
    assert coded["codes"].nbytes <= (size + 1) // (2 if len(np.unique(weights)) <= 16 else 1)
    np.testing.assert_array_equal(decoded(coded["codes"], coded["values"], size), weights)


def test_many_values_are_not_coded():
    assert encode(np.arange(257, dtype=np.float32)) is None
    assert encode(np.arange(100_000, dtype=np.float32)) is None


@pytest.mark.parametrize(
    ("codes", "values"), [(9, 20), (11, 20), (10, 0), (10, 257), (10, 16), (6, 16)]
)
def test_codes_of_the_wrong_size_are_refused(codes, values):
    with pytest.raises(ModelError, match="does not fit"):
        decoded(np.zeros(codes, dtype=np.uint8), np.zeros(values, dtype=np.float32), 10)


def test_codes_beyond_the_values_are_zero():
    assert (decoded(np.full(10, 200, dtype=np.uint8), np.ones(20, dtype=np.float32), 10) == 0).all()


@pytest.mark.parametrize("bits", [0, 3, 16, "8"])
def test_other_numbers_of_bits_are_refused(parser, bits):
    with pytest.raises(ArboraError, match="bits must be a whole number from 4 to 8"):
        quantise(parser.model, bits)


def test_untouched_models_keep_their_format(parser):
    assert from_bytes(to_bytes(parser.model)) is not None
    assert b'"version": 2' in to_bytes(parser.model).replace(b"\\", b"")
