"""A custom scorer, that of examples/07, in `Parser`: training, saving, loading, distributions."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import arbora
from arbora import ArgumentError, ModelError, Parser
from arbora.data.treebank import read_treebank
from arbora.features import Encoder, FeatureSettings
from arbora.fitting.rate_search import best_rate
from arbora.fitting.treebank import Treebank
from arbora.inference.engines import BeliefPropagation
from arbora.losses import Gold, l2_distance, marginal_loss
from arbora.models.model_file import from_bytes, to_bytes
from arbora.scoring import SCORERS, Batch, Scorer

EXAMPLE = runpy.run_path(
    str(Path(__file__).parents[2] / "examples" / "07_train_through_beliefs.py")
)
Bilinear, OPTIONS = EXAMPLE["Bilinear"], EXAMPLE["OPTIONS"] | {"passes": 3}


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(SCORERS, "bilinear", Bilinear)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return EXAMPLE["made_up"](rng, 60), EXAMPLE["made_up"](rng, 30)


def fit(data, scorer=None, dev=True, threads=1, **options):
    scorer = Bilinear.random(0, 0.01) if scorer is None else scorer
    how = {name: options.pop(name) for name in ("start", "checkpoint", "resume") if name in options}
    parser = Parser(scorer=scorer, threads=threads, **(OPTIONS | options))
    return parser.fit(data[0], data[1] if dev else None, **how)


@pytest.fixture(scope="module")
def parser(data):
    return fit(data)


def forms(parser):
    return {name: values.tobytes() for name, values in parser.model.scorer.parameters().items()}


def test_it_is_a_scorer():
    assert isinstance(Bilinear.random(0, 1.0), Scorer)


def test_it_learns(parser):
    first, last = parser.history.passes[0], parser.history.passes[-1]
    assert last.loss < 0.8 * first.loss
    assert last.uas > 55.0


def test_it_is_saved_and_loaded(parser, data, tmp_path):
    parser.save(tmp_path / "model")
    again = arbora.load(tmp_path / "model")
    assert isinstance(again.model.scorer, Bilinear)
    assert to_bytes(again.model) == to_bytes(parser.model)
    for ours, theirs in zip(parser.parse(data[1]), again.parse(data[1]), strict=True):
        assert ours.heads.tolist() == theirs.heads.tolist()
        assert ours.arc_probabilities.tobytes() == theirs.arc_probabilities.tobytes()


def test_a_scorer_that_is_not_registered(parser, monkeypatch, tmp_path):
    parser.save(tmp_path / "model")
    monkeypatch.delitem(SCORERS, "bilinear")
    expected = (
        f"{tmp_path / 'model'}: the model has a scorer of unknown kind 'bilinear': import the "
        "module that registers it with arbora.scoring.register_scorer."
    )
    with pytest.raises(ModelError, match=f"^{re.escape(expected)}$"):
        arbora.load(tmp_path / "model")


def test_the_gradient_reaches_the_parameters(data):
    """Finite differences of the loss in every parameter of both forms, through the beliefs."""
    block = read_treebank(data[0][:4])
    encoder = Encoder(FeatureSettings.for_training("rich", block))
    treebank = Treebank.from_block(block, encoder, [])
    sides = treebank.encoded.n_words + 1
    masks = [(~np.eye(side, dtype=bool) & (np.arange(side) > 0)).reshape(-1) for side in sides]
    batch = Batch(
        treebank.encoded, np.arange(4), treebank.heads, kept=np.concatenate(masks).astype(np.uint8)
    )
    gold, engine = Gold(batch.layout, batch.heads), BeliefPropagation(iterations=4)
    scorer = Bilinear.random(3, 0.3)

    def loss():
        scores, pullback = scorer.scores(batch)
        found = marginal_loss(scores, gold, engine, l2_distance)
        return float(found.values.sum()), pullback, found.d_scores

    _, pullback, d_scores = loss()
    gradient = pullback(d_scores)
    for name, values in scorer.parameters().items():
        assert np.abs(gradient[name]).max() > 1e-3
        for place in np.ndindex(values.shape):
            old, answers = values[place], []
            for step in (1e-5, -1e-5):
                values[place] = old + step
                answers.append(loss()[0])
            values[place] = old
            expected = (answers[0] - answers[1]) / 2e-5
            assert gradient[name][place] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_training_leaves_the_scorer_that_was_given_alone(data):
    scorer = Bilinear.random(0, 0.01)
    before = {name: values.tobytes() for name, values in scorer.parameters().items()}
    one, two = fit(data, scorer), fit(data, scorer, threads=2)
    assert {name: values.tobytes() for name, values in scorer.parameters().items()} == before
    assert forms(one) == forms(two) != before


def test_every_rate_begins_with_the_same_parameters(data, monkeypatch):
    """The search for a learning rate does not change the initial parameters."""

    def search(trainer_at, *arguments):
        assert best_rate(trainer_at, *arguments) > 0.0
        return 0.1

    monkeypatch.setattr("arbora.fitting.phase_trainer.best_rate", search)
    assert forms(fit(data, rate="auto", passes=1)) == forms(fit(data, rate=0.1, passes=1))


def test_what_was_held_out_is_learnt_from_the_beginning(data):
    """Retrains on everything for the best number of passes, from the given parameters."""
    parser = fit(data, dev=False)
    whole = fit((data[0], data[0][-6:]), passes=parser.history.best, patience=99)
    if whole.history.best == parser.history.best:
        assert forms(parser) == forms(whole)
    assert parser.model.card["refitted"]


def test_resuming(data, tmp_path):
    class Stop(Exception):  # noqa: N818  # not an error
        pass

    class Watcher:
        def begin(self, *_):
            pass

        def tick(self, _):
            pass

        def end_pass(self, record, _):
            if record.number == 2:
                raise Stop

    options, path = OPTIONS | {"passes": 4, "patience": 9}, tmp_path / "m"
    whole = Parser(scorer=Bilinear.random(0, 0.01), **options).fit(*data)
    with pytest.raises(Stop):
        Parser(scorer=Bilinear.random(0, 0.01), **options).fit(
            *data, checkpoint=path, observer=Watcher()
        )
    with pytest.raises(ModelError, match="other data or options"):
        Parser(scorer=Bilinear.random(1, 0.01), **options).fit(*data, checkpoint=path, resume=True)
    resumed = Parser(scorer=Bilinear.random(0, 0.01), **options).fit(
        *data, checkpoint=path, resume=True
    )
    assert to_bytes(resumed.model) == to_bytes(whole.model)


def test_going_on_keeps_the_scorer(parser, data):
    more = Parser(passes=1).fit(data[1], data[0][:10], start=parser)
    assert isinstance(more.model.scorer, Bilinear)
    assert forms(more) != forms(parser)
    uas = more.evaluate(data[1]).uas
    assert uas > parser.evaluate(data[1]).uas - 5.0
    with pytest.raises(ArgumentError, match="scorer cannot be combined with start"):
        Parser(scorer=Bilinear.random(0, 1.0), passes=1).fit(data[1], start=parser)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"order": "sibling"}, "scores grandparents, but order='sibling' needs siblings"),
        ({"learner": "mira", "inference": "dual", "training_inference": "automata"},
         "mira requires a linear scorer"),
    ],
    ids=["order", "mira"],
)  # fmt: skip
def test_what_does_not_fit(options, reason, data):
    own = {name: OPTIONS[name] for name in ("labels", "bits", "passes", "order", "inference")}
    with pytest.raises(ArgumentError, match=reason):
        Parser(scorer=Bilinear.random(0, 1.0), **(own | options)).fit(*data)


def test_first_order_does_not_want_parts(data):
    with pytest.raises(ArgumentError, match="order='first' needs no parts"):
        Parser(scorer=Bilinear.random(0, 1.0), labels="none").fit(*data)


def test_explanations_are_of_features(parser, data):
    with pytest.raises(ArgumentError, match="requires a model with a linear or neural scorer"):
        parser.explain(data[1][0], 1)


def test_files_whose_scorer_does_not_fit(parser, monkeypatch):
    data = to_bytes(parser.model)
    monkeypatch.setattr(Bilinear, "kinds", ("siblings",))
    with pytest.raises(ModelError, match="scorer does not fit its options"):
        from_bytes(data)


def test_arrays_may_have_any_name_and_shape(parser, monkeypatch):
    """Only linear weights are stored sparsely."""
    names = {"arcs": "weights", "paths": "index"}

    def state(self):
        return {}, {names[name]: np.asarray(v).reshape(-1) for name, v in self._forms.items()}

    def from_state(cls, _, arrays, __):
        return cls(*(arrays[name].reshape(6, 6) for name in names.values()))

    monkeypatch.setattr(Bilinear, "state", state)
    monkeypatch.setattr(Bilinear, "from_state", classmethod(from_state))
    zeros = {f"scorer.{name}": np.zeros((6, 6)) for name in ("arcs", "paths")}
    model = parser.model.with_parameters(zeros)
    assert not any(v.any() for v in from_bytes(to_bytes(model)).scorer.parameters().values())
