"""Training of a model from a treebank: the steps of `Parser.fit`, in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.errors import ArgumentError, DataError
from arbora.features import (
    learn_arc_filter,
    no_arc_filter,
)
from arbora.fitting.calibration import calibrated
from arbora.fitting.checkpoint import LEARNT, Checkpoint, Saved, fingerprint
from arbora.fitting.checks import (
    check_edge_clusters,
    check_encoder,
    check_optimizer,
    check_scorer,
    check_start,
    is_exponentiated,
)
from arbora.fitting.completion import completed, has_gaps
from arbora.fitting.dev import DevSet, dev_set_of
from arbora.fitting.learners import make_label_trainer, make_trainer
from arbora.fitting.loop import (
    AfterPass,
    DevScores,
    Evaluate,
    History,
    LoopSettings,
    Parameters,
    Phase,
    begin_run,
    run_loop,
)
from arbora.fitting.phase_trainer import phase_trainer, rate_of
from arbora.fitting.phases import phases_of, with_rate
from arbora.fitting.preparation import (
    choose_root,
    multi_root_share,
    projectivise,
    root_labels,
    single_rooted,
)
from arbora.fitting.pruner import kept_arcs, pruning_figures, with_pruner
from arbora.fitting.reranking import OnlyTicks, cross_validated, fit_reranker, folds_of
from arbora.fitting.trainer import Problem, State, Trainer
from arbora.fitting.treebank import Treebank, hold_out, label_names
from arbora.fitting.untrained import Fit, fresh_scorer, untrained_model
from arbora.inference.engines import first_order_engine
from arbora.models.components import FirstOrderPruner, StagedLabels
from arbora.models.decoding import Decoder
from arbora.models.model import Model, make_labeller
from arbora.options import (
    BeliefLearnerOptions,
    FirstOrderOptions,
    NeuralOptions,
    ParserOptions,
    spelled,
)
from arbora.scoring import LinearScorer
from arbora.types import Root, TreeClass

__all__ = ["Fit", "check_fit", "fit_model"]

_SLOW_PATIENCE = 20  # passes


def check_fit(fit: Fit) -> None:
    """Raises for arguments that do not go together, before any work is done."""
    given = fit.scorer if fit.start is None else fit.start.scorer
    check_optimizer(fit.options, given)
    if fit.scorer is not None:
        check_scorer(fit.options, fit.scorer)
    if fit.edge_clusters is not None:
        check_edge_clusters(fit.options)
    if fit.vectors is not None and not isinstance(fit.options.scorer, NeuralOptions):
        raise ArgumentError(f"word vectors require {spelled('scorer', 'neural')}.")
    if fit.start is not None:
        check_start(fit.options)
    else:
        check_encoder(fit.options, fit.pretrained is not None)


def fit_model(fit: Fit, train: Block, dev: Block | None) -> tuple[Model, History]:
    """Trains a model on `train` and chooses the best pass on `dev`."""
    if len(train) == 0 or not (np.asarray(train.heads) >= 0).any():
        raise DataError(
            "no word has a head; training data must be annotated", "the training data", 1
        )
    check_fit(fit)
    if fit.start is not None:
        fit = replace(fit, start=fit.start.with_labels(label_names(train)))
    learnt, held_out = hold_out(train, dev, fit.options.held_out)
    model = untrained_model(fit, train, learnt)
    folds = folds_of(model.options, len(train) if learnt is None else len(learnt))
    dev_set = dev_set_of(model, train if held_out is not None else dev, held_out)
    checkpoint = None
    if fit.checkpoint_beside is not None:
        print_of = fingerprint(
            model.options,
            [train, dev],
            fit.start,
            fit.word_clusters,
            fit.scorer,
            fit.edge_clusters,
            fit.vectors,
            fit.pretrained,
        )
        checkpoint = Checkpoint.beside(fit.checkpoint_beside, print_of)
    model, history = _learn(fit, model, _treebank(model, train, learnt), dev_set, checkpoint)
    model = _with_decode_trees(fit, model, dev_set)
    base = history
    if folds:
        model, history = _with_reranker(fit, model, train, learnt, dev_set, history, folds)
    model = _finish(fit, model, dev_set, history, train)
    if held_out is not None and model.options.refit:
        model = _learn_again(fit, model, _treebank(model, train, None), base)
        model = model.with_card(refitted=True)
    return model, history


def _treebank(model: Model, block: Block, sentences: NDArray[np.int64] | None) -> Treebank:
    return Treebank.from_block(block, model.encoder, list(model.labels), sentences)


def _learn(
    fit: Fit,
    model: Model,
    treebank: Treebank,
    dev_set: DevSet | None,
    checkpoint: Checkpoint | None,
    fixed: History | None = None,
) -> tuple[Model, History]:
    """Makes passes until dev scores stop improving; returns the model of the best pass.

    With `fixed`, each phase has the number of passes and the learning rate of an earlier training.
    """
    saved = checkpoint.read() if fit.resume and checkpoint is not None else None
    model, annotated = _problem(fit, model, treebank, checkpoint, saved)
    problem = _without_gaps(model.options, annotated)
    phases = phases_of(model.options)
    if saved is not None and not saved.history.passes:  # the pruner was still being trained
        saved = None
    if saved is not None:
        saved.check(_shapes(model), len(phases))
    history = History() if saved is None else saved.history
    best: Parameters = {} if saved is None else saved.best
    trainers: dict[str, Trainer] = {}
    passes = [options.passes or 1 for options in phases]
    if fixed is not None:
        passes = fixed.chosen
        phases = [with_rate(*both) for both in zip(phases, fixed.rates, strict=True)]
    run = "parser" if fixed is None else "refit"
    begin_run(fit.observer, run, len(treebank), sum(passes), len(history.passes))
    for number, (options, planned) in enumerate(zip(phases, passes, strict=True)):
        if number < len(history.phases) - 1 or planned == 0:
            continue  # done before an interruption, or not needed
        if number == len(history.phases):
            history.phases.append(Phase(len(history.passes), history.best))
            saved = None
        model = model.with_parameters(best)
        earlier = trainers.get("scorer")
        found = None if saved is None else history.rates[-1]
        trainer = phase_trainer(options, problem, model, fit.start, earlier, found)
        trainers = {"scorer": trainer}
        if number == 0:
            trainers |= _label_trainers(fit, model, annotated.treebank)
        if saved is not None:
            for name, one in trainers.items():
                saved.restore(name, one)
        history.phases[-1] = replace(history.phases[-1], rate=rate_of(trainer, options))
        limits = LoopSettings(planned, _patience(options), options.seed)
        best, history = run_loop(
            trainers, len(treebank), _evaluation(fit, model, dev_set), limits, history=history,
            best=best, observer=fit.observer, after_pass=_saving(checkpoint, trainers, model),
        )  # fmt: skip
    return model.with_parameters(best), history


def _problem(
    fit: Fit,
    model: Model,
    treebank: Treebank,
    checkpoint: Checkpoint | None,
    saved: Saved | None,
) -> tuple[Model, Problem]:
    """The learning problem: gold trees of the right class, over the arcs left by pruning."""
    model, treebank, arc_filter = _fit_to_class(fit, model, treebank)
    scorer = model.scorer
    if isinstance(model.options.order, FirstOrderOptions):
        if isinstance(scorer, LinearScorer):
            scorer = scorer.with_filter(arc_filter)
    else:
        model, treebank = with_pruner(
            model,
            treebank,
            arc_filter,
            fit.start or fit.pruned_by,
            fit.threads,
            fit.observer,
            checkpoint,
            saved,
        )
        treebank = replace(treebank, kept=kept_arcs(model, treebank, fit.threads))
    engine = first_order_engine(model.options.trees, model.root, fit.threads)
    model = model.with_scorer(scorer)
    return model, Problem(scorer, treebank, engine, model.n_clusters > 0)


def _evaluation(fit: Fit, model: Model, dev_set: DevSet | None) -> Evaluate:
    def evaluate(parameters: Parameters) -> DevScores | None:
        if dev_set is None:
            return None
        return dev_set.score(Decoder(model.with_parameters(parameters), fit.threads))

    return evaluate


def _saving(checkpoint: Checkpoint | None, trainers: dict[str, Trainer], model: Model) -> AfterPass:
    pruner: State = {}
    if isinstance(model.pruner, FirstOrderPruner):
        pruner = {LEARNT: model.pruner.scorer.weights}

    def after_pass(done: History, best: Parameters) -> None:
        if checkpoint is not None:
            checkpoint.write(trainers, done, best, pruner)

    return after_pass


def _shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """The shape of every trained parameter."""
    if isinstance(model.scorer, LinearScorer):
        shapes: dict[str, tuple[int, ...]] = {"scorer.weights": (model.scorer.size,)}
    else:
        own = model.scorer.parameters()
        shapes = {f"scorer.{name}": values.shape for name, values in own.items()}
    if isinstance(model.labeller, StagedLabels):
        shapes["labeller.weights"] = (model.labeller.scorer.size,)
    return shapes


def _patience(options: ParserOptions) -> int:
    """The patience of early stopping, longer for exponentiated gradient, which begins slowly."""
    return max(options.patience, _SLOW_PATIENCE) if is_exponentiated(options) else options.patience


def _learn_again(fit: Fit, model: Model, treebank: Treebank, history: History) -> Model:
    """Trains the same model on other sentences, for the best number of passes of each phase."""
    fit = replace(fit, resume=False)
    # Choices made without the held-out sentences stay, including the root class.
    options = model.options.with_values(root=model.root)
    places, count = treebank.encoded.places, len(model.labels)
    scorer = fresh_scorer(fit, options, model.encoder, count, treebank.encoded.block, places)
    labeller = make_labeller(options, model.encoder, count, fit.threads, scorer)
    fresh = replace(model, options=options, scorer=scorer, labeller=labeller)
    again, _ = _learn(fit, fresh, treebank, None, None, history)
    return replace(again, options=model.options, card=model.card)


def _with_reranker(
    fit: Fit,
    model: Model,
    train: Block,
    learnt: NDArray[np.int64] | None,
    dev_set: DevSet | None,
    history: History,
    folds: int,
) -> tuple[Model, History]:
    """Cross-validates the lists of the reranker, which needs no labels, and trains it on them."""
    sentences = np.arange(len(train)) if learnt is None else learnt
    observer = None
    if fit.observer is not None:
        begin_run(fit.observer, "lists", (folds - 1) * len(sentences), sum(history.chosen), 0)
        observer = OnlyTicks(fit.observer)
    quiet = replace(fit, observer=observer)
    bare = replace(model, options=model.options.with_values(labels="none"))
    assert isinstance(model.options.order, FirstOrderOptions)
    candidates = cross_validated(
        folds, sentences, model.options.order.rerank,
        lambda chosen: _learn_again(quiet, bare, _treebank(model, train, chosen), history),
        lambda chosen: model.encoder.encode(train, chosen), fit.threads,
    )  # fmt: skip
    treebank = _treebank(model, train, learnt)
    return fit_reranker(
        model, fit.start, treebank, candidates, dev_set, history, fit.threads, fit.observer
    )


def _label_trainers(fit: Fit, model: Model, treebank: Treebank) -> dict[str, Trainer]:
    if not isinstance(model.labeller, StagedLabels):
        return {}
    scorer = model.labeller.scorer.on_threads(fit.threads)
    return {"labeller": make_label_trainer(model.options, scorer, treebank, fit.start)}


def _fit_to_class(
    fit: Fit, model: Model, treebank: Treebank
) -> tuple[Model, Treebank, NDArray[np.uint16]]:
    """Chooses the root class, converts the gold trees to the class that is learnt, and derives the
    arc filter from them."""
    options = model.options
    root: Root
    if options.root != "auto":
        root = options.root
    else:
        root = choose_root(treebank) if fit.start is None else fit.start.root
    card: dict[str, Any] = {
        "root": root, "multi_root_sentences": multi_root_share(treebank),
        "root_labels": root_labels(treebank, model.labels, fit.start),
    }  # fmt: skip
    if root == "single":
        treebank = single_rooted(treebank)
    if options.trees == "projective":
        projective, card["projective_oracle_uas"] = projectivise(treebank, root)
        learner = options.learner
        crossing = isinstance(learner, BeliefLearnerOptions) and learner.projectivise is False
        treebank = treebank if crossing else projective
    return replace(model, root=root, card=card), treebank, _arc_filter(fit, options, treebank)


def _arc_filter(fit: Fit, options: ParserOptions, treebank: Treebank) -> NDArray[np.uint16]:
    """The arc filter of the gold trees; continued training of a model without one has none."""
    start = None
    if fit.start is not None:
        inside = fit.start.pruner
        scorer = inside.scorer if isinstance(inside, FirstOrderPruner) else fit.start.scorer
        start = scorer.arc_filter if isinstance(scorer, LinearScorer) else no_arc_filter()
    if not options.arc_filter or (start is not None and not len(start)):
        return no_arc_filter()
    return learn_arc_filter(treebank.encoded, treebank.heads, start)


def _without_gaps(options: ParserOptions, problem: Problem) -> Problem:
    """The problem with complete trees, if the learner cannot handle missing heads."""
    if not is_exponentiated(options) or not has_gaps(problem):
        return problem
    guide = make_trainer(ParserOptions.from_keywords({"seed": options.seed}), problem, None)
    return replace(problem, treebank=completed(problem, guide, options.seed))


def _with_decode_trees(fit: Fit, model: Model, dev_set: DevSet | None) -> Model:
    """The model with the class of trees that is better on dev, if that is to be decided."""
    options = model.options
    if dev_set is None or options.decode_trees != "auto" or options.trees != "nonprojective":
        return model
    classes: tuple[TreeClass, ...] = ("nonprojective", "projective")
    scores = {
        trees: dev_set.score(Decoder(model, fit.threads, trees=trees)).deciding for trees in classes
    }
    return replace(model, decode_trees=max(classes, key=lambda trees: scores[trees]))


def _finish(
    fit: Fit, model: Model, dev_set: DevSet | None, history: History, train: Block
) -> Model:
    """Decisions after training: temperature, card."""
    if dev_set is not None:
        model = calibrated(model, dev_set, fit.threads)
        if isinstance(model.pruner, FirstOrderPruner):
            model = model.with_card(pruning=pruning_figures(model, dev_set, fit.threads))
    best = history.passes[history.best - 1]
    rule = None if dev_set is None else dev_set.gold.rule
    dev = None if rule is None else {"uas": best.uas, "las": best.las, "rule": rule}
    return model.with_card(
        trained_on={"sentences": len(train), "words": train.total_words},
        passes=len(history.passes),
        best_pass=history.best,
        phases=[
            {"passes": passes, "rate": rate}
            for passes, rate in zip(history.chosen, history.rates, strict=True)
        ],
        dev=dev,
        date=date.today().isoformat(),
    )
