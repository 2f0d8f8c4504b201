"""Training of rerankers: losses against differences, lists against cross-validation by hand."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError, Parser
from arbora.fitting import fit as fitting
from arbora.fitting.reranking import (
    RerankTrainer,
    cross_validated,
    folds_of,
    list_loss,
    most_right,
)
from arbora.inference.engines import MatrixTree
from arbora.models.decoding import Decoder
from arbora.models.model_file import to_bytes
from arbora.models.reranker import PARTS, Candidates, Reranker
from arbora.options import ParserOptions
from arbora.scores import Scores
from arbora.scoring import LinearScorer
from arbora.testing import finite_difference
from tests.parsers.test_fitting import Stop, Watcher, fit
from tests.small_parsers import sentences, trained
from tests.toys import dense, everything, toy_sentences, toy_treebank

OPTIONS = {"rerank": 3, "rerank_folds": 2, "labels": "none"}


def toy_lists(rng, lengths, missing=0.0, k=4):
    """A treebank with lists of candidates from random first-order scores."""
    settings, treebank = toy_treebank(toy_sentences(rng, lengths, missing=missing))
    n_words = treebank.encoded.n_words
    scores = Scores(rng.normal(size=int(((n_words + 1) ** 2).sum())), n_words)
    return settings, treebank, Candidates.best(MatrixTree(), scores, k)


def trees_of(candidates):
    """(sentence, place, heads) of every candidate."""
    layout = candidates.layout
    owners = np.repeat(np.arange(len(candidates.counts)), candidates.counts)
    for place, (i, first, n) in enumerate(
        zip(owners, layout.first_word, layout.n_words, strict=True)
    ):
        yield int(i), place, candidates.heads[first : first + n]


@pytest.mark.parametrize("missing", [0.0, 0.5, 1.0])
def test_gold_candidates_have_the_most_right_heads(rng, missing):
    _, treebank, lists = toy_lists(rng, [3, 6, 1, 4], missing)
    gold, counts = most_right(lists, treebank.heads), {}
    for i, place, heads in trees_of(lists):
        known = treebank.heads_of(i) >= 0
        counts[place] = i, int((heads == treebank.heads_of(i))[known].sum())
    for place, (i, right) in counts.items():
        best = max(other for j, other in counts.values() if j == i)
        assert gold[place] == (right == best)
    if missing == 1.0:
        assert gold.all()


def test_loss_is_the_negative_log_likelihood_of_the_gold_candidates(rng):
    _, treebank, lists = toy_lists(rng, [3, 6, 1, 4])
    gold = most_right(lists, treebank.heads)
    scores = rng.normal(size=len(gold), scale=3.0)
    found = list_loss(scores, gold, lists)
    for i, first in enumerate(lists.first_tree):
        own = slice(first, first + lists.counts[i])
        shares = np.exp(scores[own]) / np.exp(scores[own]).sum()
        assert found.values[i] == pytest.approx(-np.log(shares[gold[own]].sum()))
    slope = finite_difference(lambda at: list_loss(at, gold, lists).values.sum(), scores)
    assert found.d_scores == pytest.approx(slope, abs=1e-6)
    far = list_loss(np.where(gold, -2000.0, 2000.0), gold, lists)
    assert np.isfinite(far.values).all()
    assert np.isfinite(far.d_scores).all()


def test_gradient_of_a_step(rng, monkeypatch):
    """With respect to the weights of parts and that of the first-order score."""
    settings, treebank, lists = toy_lists(rng, [3, 5, 4])
    scorer = LinearScorer(settings, 8, kinds=PARTS)
    trainer = RerankTrainer(Reranker(scorer, 4, 0.5), treebank, lists)
    weights = rng.normal(size=scorer.size, scale=0.1)
    trainer.rule.start_from({"weights": weights})
    found = {}
    monkeypatch.setattr("arbora.fitting.reranking._SMALLEST", 0.0)

    def apply(gradient, _):
        found["weights"] = dense(gradient, scorer.size)

    monkeypatch.setattr(trainer.rule, "apply", apply)
    monkeypatch.setattr(trainer, "_step_base", lambda slope: found.update(base=slope))
    gold = most_right(lists, treebank.heads)

    def loss(at):
        """The last number is the base weight."""
        own = Reranker(scorer.with_parameters({"weights": at[:-1]}), 4, float(at[-1]))
        values = own.tree_scores(treebank.encoded, everything(treebank.encoded), lists)
        return list_loss(values, gold, lists).values.sum()

    report = trainer.run_pass(everything(treebank.encoded), lambda _: None)
    here = np.append(weights, 0.5)
    assert report.loss * len(treebank.heads) == pytest.approx(loss(here))
    slope = finite_difference(loss, here)
    assert np.abs(slope).max() > 0.1
    assert found["weights"] == pytest.approx(slope[:-1], abs=1e-5)
    assert found["base"] == pytest.approx(slope[-1], abs=1e-5)


def test_training_finds_the_gold_candidates(rng):
    settings, treebank, lists = toy_lists(rng, [6] * 12, k=5)
    trainer = RerankTrainer(Reranker(LinearScorer(settings, 14, kinds=PARTS), 5), treebank, lists)
    losses = [trainer.run_pass(everything(treebank.encoded), lambda _: None).loss
              for _ in range(30)]  # fmt: skip
    assert losses[-1] < 0.3 * losses[0]
    middle = trainer.state()
    again = RerankTrainer(Reranker(LinearScorer(settings, 14, kinds=PARTS), 5), treebank, lists)
    again.restore({name: values.copy() for name, values in middle.items()})
    for one in (trainer, again):
        one.run_pass(everything(treebank.encoded), lambda _: None)
    for name, values in trainer.parameters().items():
        assert np.array_equal(values, again.parameters()[name])


def test_lists_come_from_models_of_the_other_folds():
    """Each sentence is in one fold, and its list is that of the model without this fold."""
    models = {"a": trained(labels="none").model, "b": trained(learner="mira", labels="none").model}
    encoder, seen = models["a"].encoder, []
    from arbora.data.treebank import read_treebank

    block = read_treebank(list(sentences("test", 9)))
    chosen = np.arange(1, 9)

    def learn(others):
        seen.append(others.tolist())
        return models["a" if len(seen) % 2 else "b"]

    lists = cross_validated(3, chosen, 4, learn, lambda fold: encoder.encode(block, fold), 1)
    assert seen == [[4, 5, 6, 7, 8], [1, 2, 3, 7, 8], [1, 2, 3, 4, 5, 6]]
    expected = []
    for name, fold in (("a", [1, 2, 3]), ("b", [4, 5, 6]), ("a", [7, 8])):
        decoder = Decoder(models[name], 1)
        scored = decoder.score(encoder.encode(block), np.array(fold))
        expected.append(decoder.candidates(scored, 4))
    for one, other in zip(lists, Candidates.joined(expected), strict=True):
        assert np.array_equal(one, other)


def test_no_fold_is_learnt_with_its_own_sentences(monkeypatch):
    """`fit` cross-validates by default with 5 folds; the base model learns from everything."""
    learnt, learn = [], fitting._learn

    def watched(fit, model, treebank, *arguments):
        learnt.append((model.options.labels, treebank.encoded.places.tolist()))
        return learn(fit, model, treebank, *arguments)

    monkeypatch.setattr(fitting, "_learn", watched)
    parser = Parser(bits=12, passes=1, rerank=2).fit(sentences("train", 25), sentences("dev", 3))
    assert parser.options.order.rerank_folds == 5
    assert [labels for labels, _ in learnt] == ["staged", *["none"] * 5]
    everyone = set(range(25))
    assert set(learnt[0][1]) == everyone
    folds = [everyone - set(others) for _, others in learnt[1:]]
    assert folds == [set(range(5 * i, 5 * i + 5)) for i in range(5)]


def test_what_a_fit_reports():
    parser = trained(**OPTIONS)
    history, card = parser.history, parser.model.card
    figures = card["reranking"]
    assert [phase.before for phase in history.phases] == [0, 2]
    assert history.phases[1].start in (1, 2)
    assert figures["first_uas"] == history.passes[history.phases[1].start - 1].uas
    assert figures["first_uas"] <= card["dev"]["uas"] <= figures["oracle_uas"]
    assert 0 < figures["train_first_uas"] < figures["train_oracle_uas"] <= 100
    # The score reported is that of the model that is kept.
    assert parser.evaluate(sentences("dev", 20)).uas == pytest.approx(card["dev"]["uas"])


def test_a_reranker_that_does_not_help_changes_nothing(monkeypatch):
    monkeypatch.setattr(RerankTrainer, "parameters", lambda self: {
        "weights": np.random.default_rng(0).normal(size=self.reranker.scorer.size),
        "base_weight": np.array([-1.0]),
    })  # fmt: skip
    parser = fit(**OPTIONS)
    assert not parser.model.reranker.scorer.weights.any()
    assert parser.model.reranker.base_weight == 1.0
    assert parser.history.best <= 2


@pytest.mark.parametrize("learner", [{"learner": "perceptron"}, {"clusters": 2}, {
    "trees": "projective", "root": "multi", "labels": "staged"}], ids=str)  # fmt: skip
def test_threads(learner):
    one, two = (to_bytes(fit(threads=n, **(OPTIONS | learner)).model) for n in (1, 2))
    assert one == two


class StopInRun(Watcher):
    """Interrupts the n-th run (1 is the first model)."""

    def __init__(self, run):
        super().__init__()
        self.left = run

    def begin(self, total, passes):
        super().begin(total, passes)
        self.left -= 1

    def tick(self, count):
        super().tick(count)
        if self.left == 0:
            raise Stop


@pytest.mark.parametrize("dev", [None, ()], ids=["dev", "refitted"])
def test_resuming(dev, tmp_path):
    """The folds and the reranker are repeated, the passes of the first model are not."""
    whole = fit(**OPTIONS, dev=dev)
    for run in (3,) if dev is None else (2, 4):
        with pytest.raises(Stop):
            fit(**OPTIONS, dev=dev, checkpoint=tmp_path / f"m{run}", observer=StopInRun(run))
        resumed = fit(**OPTIONS, dev=dev, checkpoint=tmp_path / f"m{run}", resume=True)
        assert to_bytes(resumed.model) == to_bytes(whole.model)
    if dev is not None:
        first = fit(**OPTIONS, dev=dev, refit=False).model
        assert whole.model.card["refitted"]
        assert not first.card.get("refitted")
        assert whole.model.reranker.base_weight == first.reranker.base_weight
        assert (whole.model.scorer.weights != first.scorer.weights).any()


def test_without_dev_the_last_pass_is_kept():
    parser = fit(sentences("train", 10), (), **OPTIONS)
    assert parser.history.best == len(parser.history.passes)
    assert parser.model.card["reranking"]["oracle_uas"] is None
    assert parser.model.reranker.scorer.weights.any()


def test_continued_training():
    first = fit(**OPTIONS)
    again = fit(sentences("train", 60)[40:], start=first)
    assert again.options.order.rerank == 3
    plain = fit(sentences("train", 60)[40:], start=first, rerank=0)
    assert plain.model.reranker is None
    assert plain.options.decode == "mbr"
    more = fit(sentences("train", 60)[40:], start=plain, rerank=2)
    assert more.options.order.rerank_folds == 5
    assert more.model.reranker.candidates == 2


def test_too_few_sentences():
    options = ParserOptions.from_keywords({"rerank": 2, "rerank_folds": 7})
    assert folds_of(options, 7) == 7
    assert folds_of(ParserOptions.from_keywords({}), 0) == 0
    with pytest.raises(ArgumentError, match=r"^rerank_folds must not exceed .*sentences, 6:.*\.$"):
        folds_of(options, 6)
