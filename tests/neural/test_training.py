"""Training of neural parsers: losses, orders, threads, resuming, files, sums of scorers."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

import arbora
from arbora import Parser
from arbora.data.conllu import sentences_of
from arbora.data.treebank import read_treebank
from arbora.errors import ArgumentError, ModelError
from arbora.fitting.treebank import by_length
from arbora.models.model_file import from_bytes, to_bytes
from arbora.options import ParserOptions
from arbora.scoring import Batch
from tests.small_parsers import sentences

pytest.importorskip("torch", reason="PyTorch is not installed")

SMALL = {
    "scorer": "neural", "width": 16, "layers": 1, "arc_width": 12, "label_width": 8, "rank": 4,
    "passes": 1, "batch_size": 8, "rate": 0.01, "threads": 1,
}  # fmt: skip


@lru_cache
def trained(**options):
    """A briefly trained parser; tests share it and must not change it."""
    given = SMALL | options
    return Parser(**given).fit(sentences("train", 24), sentences("dev", 8))


def test_it_learns():
    """From nothing, on few sentences, better than chance by far."""
    options = SMALL | {"passes": 10, "batch_size": 4, "dropout": 0.1, "width": 24}
    parser = Parser(**options).fit(sentences("train", 40), sentences("dev", 10))
    losses = [record.loss for record in parser.history.passes]
    assert losses[-1] < 0.7 * losses[0]
    found = parser.evaluate(sentences("train", 40))
    assert found.uas > 70
    assert found.las > 55


ORDERS = [
    {"learner": "head-selection"},
    {"learner": "maxmargin"},
    {"learner": "l2"},
    {"learner": "l2+risk"},
    {"trees": "projective", "labels": "none"},
    {"root": "multi", "labels": "joint"},
    {"order": "sibling", "inference": "bp"},
    {"order": "grandparent", "inference": "bp", "learner": "l2", "head_bigrams": True},
    {"order": "grandsibling", "inference": "exact", "trees": "projective"},
    {"order": "sibling"},  # dual decomposition, and likelihood of head automata
    {"order": "sibling", "learner": "maxmargin"},
]


@pytest.mark.parametrize(
    "options", ORDERS, ids=lambda options: "-".join(map(str, options.values()))
)
def test_every_loss_and_order_trains_parses_and_is_saved(options):
    parser = trained(**options)
    before = parser.model.scorer.parameters()
    assert all(np.isfinite(values).all() for values in before.values())
    again = Parser.from_model(from_bytes(to_bytes(parser.model)), 1)
    some = sentences("test", 6)
    parsed = parser.parse(some)
    assert [bytes(one) for one in again.parse(some)] == [bytes(one) for one in parsed]
    for sentence in parsed:
        assert sentence.heads.min() >= 0
        assert np.asarray(sentence.arc_probabilities).max() <= 1.0


def test_partial_annotation_trains():
    block = list(sentences("train", 10))
    whole = read_treebank(block)
    heads = [np.array(s.heads) for s in block]
    for own in heads:
        own[::2] = -1
    partial = whole.with_columns(heads=heads)
    for learner in ("loglinear", "head-selection", "maxmargin"):
        options = SMALL | {"learner": learner, "root": "multi"}
        parser = Parser(**options).fit(list(sentences_of(partial)), sentences("dev", 4))
        assert len(parser.parse(sentences("test", 2))) == 2


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads():
    one = to_bytes(trained(dropout=0.3).model)
    two = to_bytes(trained(dropout=0.3, threads=2).model)
    other = to_bytes(trained(dropout=0.3, seed=1).model)
    assert one == two
    assert one != other


def test_training_resumes_with_the_same_result(tmp_path):
    path = tmp_path / "neural.arbora"
    train, dev = sentences("train", 16), sentences("dev", 6)
    options = SMALL | {"passes": 3, "average": True}
    whole = Parser(**options).fit(train, dev)

    class Interrupts:
        def begin(self, *_): ...
        def tick(self, *_): ...
        def end_pass(self, record, _):
            if record.number == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Parser(**options).fit(train, dev, checkpoint=path, observer=Interrupts())
    resumed = Parser(**options).fit(train, dev, checkpoint=path, resume=True)
    assert to_bytes(resumed.model) == to_bytes(whole.model)
    with pytest.raises(ModelError, match="other data or options"):  # the schedule would differ
        Parser(**options | {"passes": 5}).fit(train, dev, checkpoint=path, resume=True)


def test_training_continues_from_a_model():
    first = trained()
    further = Parser(passes=1, rate=0.001, threads=1).fit(
        sentences("train", 24), sentences("dev", 8), start=first
    )
    before, after = (one.model.scorer.parameters() for one in (first, further))
    assert before.keys() == after.keys()
    assert any(not np.array_equal(before[name], after[name]) for name in before)
    with pytest.raises(ArgumentError, match="width"):
        Parser(width=8).fit(sentences("train", 24), start=first)


def test_linear_and_neural_scores_add(tmp_path):
    parser = trained(scorer="linear+neural", bits=14, label_bits=9)
    experts = parser.model.scorer.experts
    assert [one.scorer.kind for one in experts] == ["linear", "neural"]
    assert 0.1 <= parser.model.card["linear_share"] <= 0.9
    some = sentences("dev", 8)
    encoded = parser.model.encoder.encode(read_treebank(some))
    batch = Batch(encoded, np.arange(3))
    total = parser.model.scorer.scores(batch)[0].arcs
    alone = [one.weight * one.scorer.scores(batch)[0].arcs for one in experts]
    np.testing.assert_allclose(total, alone[0] + alone[1], rtol=1e-6)
    path = tmp_path / "both.arbora"
    parser.save(path)
    again = arbora.load(path)
    assert [bytes(s) for s in again.parse(some)] == [bytes(s) for s in parser.parse(some)]
    with pytest.raises(ArgumentError, match="cannot continue"):
        Parser(threads=1).fit(some, start=parser)


def test_linear_and_neural_resume_in_the_second_training(tmp_path):
    path = tmp_path / "both.arbora"
    options = SMALL | {"scorer": "linear+neural", "bits": 12, "label_bits": 8, "order": "sibling",
                       "inference": "bp", "pruner_passes": 1, "passes": 2}  # fmt: skip
    train, dev = sentences("train", 10), sentences("dev", 4)
    whole = Parser(**options).fit(train, dev)

    class Interrupts:
        runs = 0

        def enter_run(self, name):
            self.runs += name == "parser"

        def begin(self, *_): ...
        def tick(self, *_): ...
        def end_pass(self, *_):
            if self.runs == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Parser(**options).fit(train, dev, checkpoint=path, observer=Interrupts())
    resumed = Parser(**options).fit(train, dev, checkpoint=path, resume=True)
    assert to_bytes(resumed.model) == to_bytes(whole.model)
    resumed.save(path)
    assert [one.name for one in tmp_path.iterdir()] == ["both.arbora"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "mira"}, "mira' requires a linear scorer"),
        ({"learner": "perceptron"}, "use learner='maxmargin'"),
        ({"optimizer": "lbfgs"}, "use optimizer='adam'"),
        ({"clusters": 4}, "clusters requires a linear scorer"),
        ({"bits": 12}, "bits has no effect"),
        ({"width": 0}, "width must be between"),
        ({"order": "sibling", "learner": "head-selection"}, "requires order='first'"),
    ],
)
def test_options_that_do_not_go_together(options, message):
    with pytest.raises(ArgumentError, match=message):
        ParserOptions.from_keywords({"scorer": "neural"} | options)


def test_adam_requires_a_network():
    with pytest.raises(ArgumentError, match="adam' requires scorer='neural'"):
        Parser(optimizer="adam").fit(sentences("train", 24))


def test_parsing_imports_no_torch(tmp_path):
    """A neural model parses with NumPy alone, and training says what is missing."""
    path = tmp_path / "small.arbora"
    trained().save(path)
    program = f"""
import sys
sys.modules["torch"] = None  # as if it were not installed
import arbora
from tests.small_parsers import sentences
parser = arbora.load({str(path)!r}, threads=1)
print(len(parser.parse(sentences("test", 3))))
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "3"


def test_damaged_networks_are_refused():
    model = trained().model
    wrong = {name: np.array(values) for name, values in model.scorer.parameters().items()}
    wrong["arc.pair"][0, 0] = np.nan
    with pytest.raises(ModelError, match=r"arc\.pair are not all finite"):
        to_bytes(model.with_scorer(model.scorer.with_parameters(wrong)))
    with pytest.raises(ModelError, match="labels, and its scorer"):
        to_bytes(replace(model, labels=(*model.labels, "another")))


def test_batches_of_similar_lengths_are_the_same_number_in_every_order():
    n_words = np.random.default_rng(1).integers(1, 40, size=90)
    counts = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(90)
        found = by_length(n_words, order, 8)
        assert sorted(np.concatenate(found).tolist()) == list(range(90))
        sizes = [int(n_words[one].sum()) for one in found]
        assert max(sizes) < 2 * np.mean(sizes)
        assert max(np.ptp(n_words[one]) for one in found) < 15
        counts.add(len(found))
    assert len(counts) == 1
