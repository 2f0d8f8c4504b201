"""Training of a reranker: cross-validated lists of candidates, and their likelihood.

A model ranks the trees of its own training sentences better than those of new ones. The lists that
the reranker learns from therefore come from models that were trained on the other sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.features import Encoded
from arbora.fitting.dev import DevSet
from arbora.fitting.dot import dot
from arbora.fitting.loop import (
    DevScores,
    History,
    LoopSettings,
    Observer,
    Parameters,
    PassRecord,
    Phase,
    begin_run,
    run_loop,
)
from arbora.fitting.rules import AdaGrad
from arbora.fitting.trainer import PassReport, State
from arbora.fitting.treebank import Tick, Treebank
from arbora.inference.tree_parts import list_parts
from arbora.models.decoding import Decoder
from arbora.models.model import Model
from arbora.models.reranker import Candidates, Reranker, best_places, make_reranker
from arbora.options import FirstOrderOptions, ParserOptions, spelled
from arbora.types import FloatArray, IntArray

__all__ = [
    "ListLoss",
    "OnlyTicks",
    "RerankTrainer",
    "cross_validated",
    "fit_reranker",
    "folds_of",
    "list_loss",
    "most_right",
]

_PASSES = 15
_BATCH_SIZE = 16
_RATE, _REGULARIZATION, _DELTA = 0.02, 100.0, 1e-6  # of AdaGrad; chosen on dev sentences
_SMALLEST = 1e-3  # smaller gradients are ignored


def folds_of(options: ParserOptions, sentences: int) -> int:
    """The number of folds, 0 without reranking; too few sentences raise an error."""
    order = options.order
    if not isinstance(order, FirstOrderOptions) or not order.rerank:
        return 0
    folds = order.rerank_folds or 2
    if sentences < folds:
        raise ArgumentError(
            f"{spelled('rerank_folds')} must not exceed the number of training sentences, "
            f"{sentences}: give a smaller one."
        )
    return folds


def cross_validated(
    folds: int,
    sentences: NDArray[np.int64],
    k: int,
    learn: Callable[[NDArray[np.int64]], Model],
    encode: Callable[[NDArray[np.int64]], Encoded],
    threads: int,
) -> Candidates:
    """The k best trees of every sentence under a model that `learn` made from the other folds.

    Folds are runs of neighbouring sentences, because neighbours may be of one text.
    """
    parts = []
    for fold in np.array_split(sentences, folds):
        model = learn(np.setdiff1d(sentences, fold))
        parts.append(_best_trees(model, encode(fold), k, threads))
    return Candidates.joined(parts)


def _best_trees(model: Model, encoded: Encoded, k: int, threads: int) -> Candidates:
    decoder = Decoder(replace(model, reranker=None), threads)
    pieces = decoder.pieces(encoded)
    return Candidates.joined([decoder.candidates(decoder.score(encoded, one), k) for one in pieces])


def most_right(candidates: Candidates, heads: IntArray) -> NDArray[np.bool_]:
    """Which candidates have the most correct heads of their list; unknown heads do not count."""
    right = _right(candidates, heads)
    best = np.maximum.reduceat(right, candidates.first_tree)
    return np.asarray(right == np.repeat(best, candidates.counts))


def _right(candidates: Candidates, heads: IntArray) -> FloatArray:
    """The number of correct heads of every candidate; an unknown gold head is -1."""
    ends = np.cumsum(candidates.n_words)
    rows = zip(candidates.n_words.tolist(), ends.tolist(), candidates.counts.tolist(), strict=True)
    gold = np.concatenate([np.tile(heads[end - n : end], count) for n, end, count in rows])
    return candidates.layout.per_sentence(candidates.heads == gold)


class RerankTrainer:
    """Maximises the likelihood of each list's best trees, by AdaGrad.

    A candidate has probability exp(score) / sum over its list. The best trees of a list are those
    with the most correct heads; their probabilities are added.
    """

    def __init__(self, reranker: Reranker, treebank: Treebank, candidates: Candidates) -> None:
        self.treebank, self.lists = treebank, candidates.split()
        self.gold = np.split(most_right(candidates, treebank.heads), candidates.first_tree[1:])
        self.rule = AdaGrad(reranker.scorer, _RATE, _REGULARIZATION, max(1, len(treebank)), _DELTA)
        self.reranker = reranker
        # The base weight, its sum over all steps, and the sum of its squared gradients (AdaGrad).
        self._base = np.array([reranker.base_weight, 0.0, 0.0])

    def start_from(self, reranker: Reranker) -> None:
        """Starts from the weights of another reranker."""
        self.rule.start_from(reranker.scorer.parameters())
        self._set_base(reranker.base_weight)

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:
        """One pass over the sentences in the given order (indices, int64)."""
        loss = 0.0
        for start in range(0, len(order), _BATCH_SIZE):
            sentences = order[start : start + _BATCH_SIZE]
            loss += self._step(sentences)
            tick(len(sentences))
        return PassReport(loss / max(1, len(self.treebank.heads)))

    def _step(self, sentences: NDArray[np.int64]) -> float:
        lists = Candidates.joined([self.lists[i] for i in sentences])
        scorer, gold = self.reranker.scorer, np.concatenate([self.gold[i] for i in sentences])
        batch = self.reranker.batch(self.treebank.encoded, sentences, lists)
        scores, pullback = scorer.scores(batch)
        found = list_loss(self.reranker.scores_with(scores, lists), gold, lists)
        amounts = np.where(np.abs(found.d_scores) < _SMALLEST, 0.0, found.d_scores)
        d_scores, _ = list_parts(scores, lists.heads, lists.counts, amounts, scorer.threads)
        self.rule.apply(pullback(d_scores), len(sentences))
        self._step_base(float(dot(found.d_scores, lists.scores)))
        return float(found.values.sum())

    def _step_base(self, gradient: float) -> None:
        weight, total, squares = self._base
        squares += gradient * gradient
        weight -= _RATE * gradient / (_DELTA + np.sqrt(squares))
        self._base[:] = weight, total + weight, squares
        self._set_base(weight)

    def _set_base(self, weight: float) -> None:
        self._base[0] = weight
        self.reranker = replace(self.reranker, base_weight=float(weight))

    def parameters(self) -> Parameters:
        """The mean parameters over all steps, by name."""
        weight = self._base[1] / self.rule.step if self.rule.step else self._base[0]
        return {**self.rule.average(), "base_weight": np.array([weight])}

    def state(self) -> State:
        """The contents of a checkpoint, by name."""
        return {**self.rule.checkpoint(), "base": self._base}

    def restore(self, state: State) -> None:
        """Continues from a saved state."""
        self.rule.restore(state)
        self._base[:] = state["base"]
        self._set_base(self._base[0])


class ListLoss(NamedTuple):
    """-log P(gold candidates) of every list, and its gradient for every candidate's score."""

    values: FloatArray
    d_scores: FloatArray


def list_loss(scores: FloatArray, gold: NDArray[np.bool_], candidates: Candidates) -> ListLoss:
    """The loss of the scores of candidates; every list has a gold candidate."""
    every, of_every = _log_sums(scores, candidates)
    right, of_right = _log_sums(np.where(gold, scores, -np.inf), candidates)
    return ListLoss(every - right, of_every - of_right)


def _log_sums(scores: FloatArray, candidates: Candidates) -> tuple[FloatArray, FloatArray]:
    """The logarithm of each list's sum of exp(score), and the candidates' shares of it."""
    first, counts = candidates.first_tree, candidates.counts
    top = np.maximum.reduceat(scores, first)
    weights = np.exp(scores - np.repeat(top, counts))
    totals = np.add.reduceat(weights, first)
    return top + np.log(totals), weights / np.repeat(totals, counts)


@dataclass(frozen=True)
class _DevLists:
    """The candidates of the dev sentences, which stay the same while the reranker is trained."""

    dev: DevSet
    model: Model
    candidates: Candidates

    def score(self, reranker: Reranker) -> DevScores:
        """UAS and LAS of the reranker's choices."""
        everything = np.arange(len(self.dev.encoded))
        values = reranker.tree_scores(self.dev.encoded, everything, self.candidates)
        heads = self.candidates.heads_at(best_places(self.candidates, values))
        labels = self.model.labeller.label(
            self.dev.encoded, everything, heads, None, probabilities=False
        ).labels
        return self.dev.scores_of(heads, labels)

    def figures(self) -> dict[str, float]:
        """UAS of the first candidates, and of the best ones."""
        gold = np.where(self.dev.gold.counted, self.dev.gold.heads, -1)
        best = best_places(self.candidates, _right(self.candidates, gold))
        uas = [
            self.dev.gold.uas(self.candidates.heads_at(places))
            for places in (self.candidates.first_tree, best)
        ]
        return {"first_uas": uas[0], "oracle_uas": uas[1]}


def fit_reranker(
    model: Model,
    start: Model | None,
    treebank: Treebank,
    candidates: Candidates,
    dev: DevSet | None,
    history: History,
    threads: int,
    observer: Observer | None,
) -> tuple[Model, History]:
    """The model with a reranker, trained on the candidates of the treebank's sentences.

    Its passes are one more phase of the history. If none of them is better on dev than the
    first-order model, the reranker chooses the first candidates, as that model does.
    """
    untrained = make_reranker(model.options, model.encoder, threads)
    assert untrained is not None
    dev_lists = None
    if dev is not None:
        found = _best_trees(model, dev.encoded, untrained.candidates, threads)
        dev_lists = _DevLists(dev, model, found)
    own = replace(untrained, scorer=untrained.scorer.on_threads(threads))  # with its own weights
    trainer = RerankTrainer(own, treebank, candidates)
    if start is not None and start.reranker is not None:
        trainer.start_from(start.reranker)

    def evaluate(parameters: Parameters) -> DevScores | None:
        if dev_lists is None:
            return None
        named = {name.removeprefix("reranker."): values for name, values in parameters.items()}
        return dev_lists.score(untrained.with_parameters(named))

    done = len(history.passes)
    phases = [*history.phases, Phase(done, history.best)]
    begin_run(observer, "reranker", len(treebank), done + _PASSES, done)
    best, history = run_loop(
        {"reranker": trainer}, len(treebank), evaluate,
        LoopSettings(_PASSES, model.options.patience, model.options.seed),
        history=History([*history.passes], history.best, phases), observer=observer,
    )  # fmt: skip
    model = replace(model, reranker=untrained).with_parameters(best)
    figures = {"first_uas": None, "oracle_uas": None} if dev_lists is None else dev_lists.figures()
    return model.with_card(reranking=figures | _train_figures(candidates, treebank)), history


def _train_figures(candidates: Candidates, treebank: Treebank) -> dict[str, float]:
    """The same of the training lists: the percentage of known heads."""
    right, known = _right(candidates, treebank.heads), max(1, int((treebank.heads >= 0).sum()))
    best = np.maximum.reduceat(right, candidates.first_tree)
    first = right[candidates.first_tree]
    return {
        "train_first_uas": 100.0 * float(first.sum()) / known,
        "train_oracle_uas": 100.0 * float(best.sum()) / known,
    }


class OnlyTicks:
    """An observer of folds, which shows how far training is, but not the passes of the folds."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def begin(self, sentences: int, passes: int) -> None:
        """Nothing: all folds together have begun."""

    def tick(self, sentences: int) -> None:
        """Called after some sentences of a pass."""
        self._observer.tick(sentences)

    def end_pass(self, record: PassRecord, is_best: bool) -> None:
        """Nothing."""
