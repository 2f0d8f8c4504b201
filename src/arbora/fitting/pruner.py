"""Training of the first-order pruner of a higher-order model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arbora.fitting.checkpoint import LEARNT, PASSES, Checkpoint, Saved
from arbora.fitting.completion import filled, has_gaps
from arbora.fitting.dev import DevSet
from arbora.fitting.learners import make_trainer
from arbora.fitting.loop import History, LoopSettings, Observer, PassRecord, begin_run, run_loop
from arbora.fitting.preparation import projectivise
from arbora.fitting.trainer import Problem
from arbora.fitting.treebank import KeptArcs, Treebank
from arbora.inference.engines import first_order_engine
from arbora.models.components import FirstOrderPruner
from arbora.models.decoding import Decoder
from arbora.models.model import Model, pruner_scorer
from arbora.options import BeliefLearnerOptions, HigherOrderOptions, ParserOptions
from arbora.scoring import Batch, LinearScorer, as_float32

__all__ = ["kept_arcs", "pruning_figures", "with_pruner"]


def with_pruner(
    model: Model,
    treebank: Treebank,
    arc_filter: NDArray[np.uint16],
    start: Model | None,
    threads: int,
    observer: Observer | None,
    checkpoint: Checkpoint | None = None,
    saved: Saved | None = None,
) -> tuple[Model, Treebank]:
    """The model with its pruner, and the treebank with missing heads filled in by the pruner.

    Continued training keeps the model's pruner. Belief learners keep missing heads and exclude them
    from their loss. The pruner is trained by likelihood, on gold trees of its own class.
    With a checkpoint, each of its passes is saved, and training continues from `saved`.
    """
    order = model.options.order
    assert isinstance(order, HigherOrderOptions)
    options = ParserOptions.from_keywords({
        "learner": "loglinear", "trees": model.options.trees, "root": model.root, "labels": "none",
        "features": order.pruner_features or model.options.features, "bits": model.options.bits,
        "passes": order.pruner_passes,
        "arc_filter": model.options.arc_filter, "seed": model.options.seed,
    })  # fmt: skip
    gold = treebank
    learner = model.options.learner
    if isinstance(learner, BeliefLearnerOptions) and learner.projectivise is False:
        gold, _ = projectivise(treebank, model.root)
    engine = first_order_engine(options.trees, model.root, threads)
    scorer = pruner_scorer(model.options, model.encoder, threads).with_filter(arc_filter)
    problem = Problem(scorer, gold, engine)
    if start is not None and isinstance(start.pruner, FirstOrderPruner):
        scorer = start.pruner.scorer.on_threads(threads)
    else:
        scorer = _learnt(options, problem, scorer, observer, checkpoint, saved)
    if not isinstance(learner, BeliefLearnerOptions) and has_gaps(problem):
        treebank = filled(replace(problem, scorer=scorer))
    pruner = FirstOrderPruner(scorer, engine, order.prune_threshold, order.prune_heads)
    return replace(model, pruner=pruner), treebank


def _learnt(
    options: ParserOptions,
    problem: Problem,
    scorer: LinearScorer,
    observer: Observer | None,
    checkpoint: Checkpoint | None,
    saved: Saved | None,
) -> LinearScorer:
    if saved is not None and LEARNT in saved.pruner:
        return scorer.with_parameters({"weights": saved.learnt_pruner(scorer.size)})
    trainer = make_trainer(options, problem, None)
    done = saved.restore_pruner(trainer) if saved is not None and saved.pruner else 0
    sentences, passes = len(problem.treebank), options.passes or 1
    begin_run(observer, "pruner", sentences, passes, done)
    earlier = [PassRecord(number, 0.0, None, None, 0.0) for number in range(1, done + 1)]

    def save(history: History, _: object) -> None:
        if checkpoint is not None:
            state = trainer.state() | {PASSES: np.array([len(history.passes)])}
            checkpoint.write({}, History(), {}, state)

    run_loop(
        {"scorer": trainer}, sentences, None,
        LoopSettings(passes, passes, options.seed), history=History(earlier, done),
        tick=None if observer is None else observer.tick, after_pass=save,
    )  # fmt: skip
    return scorer.with_parameters(as_float32(trainer.parameters()))


def kept_arcs(model: Model, treebank: Treebank, threads: int) -> KeptArcs:
    """The arcs of the training sentences that the pruner keeps, and all gold arcs.

    The pruner was trained briefly on the same sentences and may prune them more than new ones.
    Cross-validation would avoid that, but needs one pruner per fold.
    """
    pruner, decoder = model.pruner, Decoder(model, threads)
    assert isinstance(pruner, FirstOrderPruner)
    kept = KeptArcs(treebank.encoded.n_words)
    for sentences in decoder.pieces(treebank.encoded):
        likely = pruner.pruning(pruner.first_order(Batch(treebank.encoded, sentences)))
        kept.put(sentences, likely.with_arcs(treebank.heads[treebank.words(sentences)]).kept)
    return kept


def pruning_figures(model: Model, dev: DevSet, threads: int) -> dict[str, float]:
    """Arcs per word and the percentage of gold heads after pruning, on dev."""
    pruner, decoder = model.pruner, Decoder(model, threads)
    assert isinstance(pruner, FirstOrderPruner)
    arcs = words = left = known = 0.0
    first = 0
    for sentences in decoder.pieces(dev.encoded):
        kept = pruner.pruning(pruner.first_order(Batch(dev.encoded, sentences)))
        count = int(dev.encoded.n_words[sentences].sum())
        heads = np.where(dev.gold.counted, dev.gold.heads, -1)[first : first + count]
        first += count
        arcs += kept.arcs_per_word * count
        words += count
        left += kept.oracle(heads) * float((heads >= 0).sum())
        known += float((heads >= 0).sum())
    return {"arcs_per_word": arcs / max(words, 1.0), "oracle_uas": 100.0 * left / max(known, 1.0)}
