"""From a treebank to a model: everything `Parser.fit` decides, in order."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.errors import ArgumentError, DataError
from arbora.features import FeatureSettings, WordClusters, learn_arc_filter, no_arc_filter
from arbora.parsers.calibrate import fit_temperature
from arbora.parsers.checkpoint import Checkpoint, Saved, fingerprint
from arbora.parsers.decoding import BlockDecoder
from arbora.parsers.dev import DevSet
from arbora.parsers.model import Model, make_arc_scorer
from arbora.parsers.pruner import kept_arcs, pruning_figures, with_pruner
from arbora.parsers.settings import ParserSettings, parts_of
from arbora.parsers.trainers import make_label_trainer, make_part_trainer, make_trainer
from arbora.training.completion import completed, has_gaps
from arbora.training.loop import (
    AfterPass,
    DevScores,
    Evaluate,
    History,
    LoopSettings,
    Observer,
    Parameters,
    Phase,
    run_loop,
)
from arbora.training.online import SteppingTrainer
from arbora.training.parts import PartProblem
from arbora.training.preparation import (
    choose_root,
    multi_root_share,
    projectivise,
    single_rooted,
)
from arbora.training.rate_search import best_rate
from arbora.training.trainer import ArcProblem, Trainer
from arbora.training.treebank import Treebank
from arbora.types import Root, TreeClass

__all__ = ["Fit", "fit_model"]

_SLOW_PATIENCE = 20  # passes
_TOO_FEW = 20  # sentences, to hold any out


@dataclass(frozen=True)
class Fit:
    """What training is given besides the data."""

    settings: ParserSettings
    threads: int
    start: Model | None = None
    word_clusters: WordClusters | None = None
    observer: Observer | None = None
    checkpoint_beside: str | os.PathLike[str] | None = None
    resume: bool = False


def fit_model(fit: Fit, train: Block, dev: Block | None) -> tuple[Model, History]:
    """Learns a model from the sentences of `train`, choosing the best pass on `dev`."""
    if len(train) == 0 or not (np.asarray(train.heads) >= 0).any():
        raise DataError(
            "there is nothing to learn from: no word has a head", "the training data", 1
        )
    if fit.start is not None:
        _check_start(fit.settings.resolved(), fit.start)
        fit = replace(fit, start=fit.start.with_labels(_label_names(train)))
    model = _untrained(fit, train)
    learnt, held_out = _hold_out(train, dev, model.settings.held_out)
    dev_set = _dev_set(model, train if held_out is not None else dev, held_out)
    checkpoint = None
    if fit.checkpoint_beside is not None:
        print_of = fingerprint(model.settings, [train, dev], fit.start, fit.word_clusters)
        checkpoint = Checkpoint.beside(fit.checkpoint_beside, print_of)
    model, history = _learn(fit, model, _treebank(model, train, learnt), dev_set, checkpoint)
    model = _finish(fit, model, dev_set, history, train)
    if held_out is not None and model.settings.refit:
        model = _learn_again(fit, model, _treebank(model, train, None), history.chosen)
    return model, history


def _treebank(model: Model, block: Block, sentences: NDArray[np.int64] | None) -> Treebank:
    labels = list(model.labels)
    return Treebank.from_block(block, model.features, labels, model.word_clusters, sentences)


def _learn(
    fit: Fit,
    model: Model,
    treebank: Treebank,
    dev_set: DevSet | None,
    checkpoint: Checkpoint | None,
    passes: list[int] | None = None,
) -> tuple[Model, History]:
    """Passes over the treebank until dev no longer gains; the model of the best one.

    With `passes`, so many of each phase.
    """
    model, treebank = _fit_to_class(fit, model, treebank)
    problem: ArcProblem | PartProblem
    if model.settings.order == "first":
        problem = _arc_problem(fit, model, treebank)
    else:
        model, treebank = with_pruner(model, treebank, fit.start, fit.threads, fit.observer)
        kept = kept_arcs(model, treebank, fit.threads)
        problem = PartProblem(model.part_scorer(fit.threads), treebank, kept)
    saved = checkpoint.read() if fit.resume and checkpoint is not None else None
    history = History() if saved is None else saved.history
    best: Parameters = {} if saved is None else saved.best
    trainers: dict[str, Trainer] = {}
    phases = model.settings.phases()
    passes = [settings.passes or 1 for settings in phases] if passes is None else passes
    if fit.observer is not None:
        fit.observer.begin(len(treebank), sum(passes))
    for number, (settings, planned) in enumerate(zip(phases, passes, strict=True)):
        if number < len(history.phases) - 1 or planned == 0:
            continue  # done before an interruption, or of no use
        if number == len(history.phases):
            history.phases.append(Phase(len(history.passes), history.best))
            saved = None
        model = _with_weights(model, best)
        earlier = trainers.get("arcs")
        trainers = {"arcs": _tree_trainer(fit, model, settings, problem, earlier, saved)}
        if number == 0:
            trainers |= _label_trainers(fit, model, treebank)
        if saved is not None:
            saved.restore(trainers)
        limits = LoopSettings(planned, _patience(settings), settings.seed)
        best, history = run_loop(
            trainers, len(treebank), _evaluation(fit, model, dev_set), limits, history=history,
            best=best, observer=fit.observer, after_pass=_saving(checkpoint, trainers),
        )  # fmt: skip
    return _with_weights(model, best), history


def _evaluation(fit: Fit, model: Model, dev_set: DevSet | None) -> Evaluate:
    def evaluate(parameters: Parameters) -> DevScores | None:
        if dev_set is None:
            return None
        return dev_set.score(BlockDecoder(_with_weights(model, parameters), fit.threads))

    return evaluate


def _saving(checkpoint: Checkpoint | None, trainers: dict[str, Trainer]) -> AfterPass:
    def after_pass(done: History, best: Parameters) -> None:
        if checkpoint is not None:
            checkpoint.write(trainers, done, best)

    return after_pass


def _patience(settings: ParserSettings) -> int:
    """Exponentiated gradient begins slowly, and the dev scores of its first passes say little."""
    slow = settings.learner == "maxmargin" or settings.optimizer == "eg"
    return max(settings.patience, _SLOW_PATIENCE) if slow else settings.patience


def _learn_again(fit: Fit, model: Model, treebank: Treebank, passes: list[int]) -> Model:
    """The same for as many passes as were best, now with the sentences that were held out."""
    fit = replace(fit, resume=False)
    # What was chosen on the other nine tenths stays, the root class among it.
    settings = replace(model.settings, root=model.root)
    again, _ = _learn(fit, replace(model, settings=settings), treebank, None, None, passes)
    return replace(again, settings=model.settings, card=model.card | {"refitted": True})


def _arc_problem(fit: Fit, model: Model, treebank: Treebank) -> ArcProblem:
    scorer = make_arc_scorer(
        model.settings, model.features, len(model.labels), model.arc_filter, fit.threads
    )
    problem = ArcProblem(scorer, treebank, model.settings.trees, model.root, model.hidden)
    return _without_gaps(model.settings, problem)


def _tree_trainer(
    fit: Fit,
    model: Model,
    settings: ParserSettings,
    problem: ArcProblem | PartProblem,
    earlier: Trainer | None,
    saved: Saved | None,
) -> Trainer:
    """The trainer of a phase; after an earlier one it begins with the model's weights."""

    def trainer_at(rate: float | Literal["auto"] | None) -> Trainer:
        own = replace(settings, rate=rate)
        if isinstance(problem, PartProblem):
            trainer: Trainer = make_part_trainer(model, own, problem, fit.start)
        else:
            trainer = make_trainer(own, problem, fit.start)
        if isinstance(trainer, SteppingTrainer) and isinstance(earlier, SteppingTrainer):
            trainer.rule.go_on(earlier.rule, model.weights)
        return trainer

    if settings.rate != "auto":
        return trainer_at(settings.rate)
    first = 0.05 if settings.optimizer == "adagrad" else 0.02
    if saved is not None:  # which has the rate that was found
        return trainer_at(first)
    return trainer_at(best_rate(trainer_at, len(problem.treebank), first, settings.seed))


def _label_trainers(fit: Fit, model: Model, treebank: Treebank) -> dict[str, Trainer]:
    if not model.staged:
        return {}
    scorer = model.label_scorer(fit.threads)
    return {"labels": make_label_trainer(model.settings, scorer, treebank, fit.start)}


def _untrained(fit: Fit, train: Block) -> Model:
    """The model before it has learnt: its columns and labels."""
    settings = fit.settings.resolved()
    trees = settings.trees if settings.decode_trees == "auto" else settings.decode_trees
    if fit.start is not None:
        return replace(
            fit.start,
            settings=settings,
            decode_trees=trees or settings.trees,
            temperature=1.0,
            card={},
        )
    nothing = np.zeros(0, dtype=np.float32)
    return Model(
        settings=settings,
        features=FeatureSettings.for_training(settings.features, train),
        labels=tuple(_label_names(train)),
        root="single" if settings.root == "auto" else settings.root,
        decode_trees=trees or settings.trees,
        weights=nothing,
        label_weights=nothing,
        arc_filter=no_arc_filter(),
        word_clusters=fit.word_clusters,
    )


def _check_start(settings: ParserSettings, start: Model) -> None:
    """What fixes the meaning of the weights has to stay."""
    for name in ("features", "labels", "clusters", "cluster_of", "bits", "label_bits", "order"):
        old, new = getattr(start.settings, name), getattr(settings, name)
        if old != new:
            raise ArgumentError(
                f"the model that training starts from has {name}={old!r}, which cannot become "
                f"{new!r}: leave it as it is."
            )
    if parts_of(start.settings) != parts_of(settings):
        raise ArgumentError(
            "the model that training starts from has other factors: leave them as they are."
        )
    if settings.learner == "maxmargin" or settings.optimizer == "eg":
        raise ArgumentError(
            "exponentiated gradient begins with its duals: it cannot start from a model's weights."
        )


def _label_names(block: Block) -> list[str]:
    """The labels of words that have a head.

    In CoNLL-U `_` is a missing label, unless there is no other; in CoNLL-X it is one like others.
    """
    names = [name for name, _ in block.column_names(7)]
    ids = np.asarray(block.label_ids(names))
    used = np.unique(ids[np.asarray(block.heads) >= 0])
    found = [names[i] for i in used.tolist()]
    if block.format == 1:
        return found
    return [name for name in found if name != "_"] or found


def _hold_out(
    train: Block, dev: Block | None, share: float
) -> tuple[NDArray[np.int64] | None, ...]:
    """The sentences to learn from (None: all), and those that are held out to stop on, if any.

    Without dev the last sentences are held out, by default a tenth.
    """
    kept = len(train) - int(share * len(train))
    if dev is not None or len(train) < _TOO_FEW or kept == len(train):
        return None, None
    return np.arange(kept), np.arange(kept, len(train))


def _dev_set(
    model: Model, block: Block | None, sentences: NDArray[np.int64] | None
) -> DevSet | None:
    if block is None or len(block) == 0:
        return None
    dev_set = DevSet(block, model, sentences)
    if dev_set.counted.any():
        return dev_set
    if sentences is None:
        raise DataError("there is nothing to compare with: no word has a head", "the dev data", 1)
    return None


def _fit_to_class(fit: Fit, model: Model, treebank: Treebank) -> tuple[Model, Treebank]:
    """Chooses the root class and makes the gold trees belong to the class that is learnt."""
    settings = model.settings
    root: Root
    if settings.root != "auto":
        root = settings.root
    else:
        root = choose_root(treebank) if fit.start is None else fit.start.root
    card = {"root": root, "multi_root_sentences": multi_root_share(treebank)}
    if root == "single":
        treebank = single_rooted(treebank)
    if settings.trees == "projective":
        projective, card["projective_oracle_uas"] = projectivise(treebank, root)
        treebank = treebank if settings.projectivise is False else projective
    model = replace(model, root=root, arc_filter=_arc_filter(fit, settings, treebank), card=card)
    return model, treebank


def _arc_filter(fit: Fit, settings: ParserSettings, treebank: Treebank) -> NDArray[np.uint16]:
    """Learnt from the trees that are learnt; a model that goes on without one stays without."""
    start = None if fit.start is None else fit.start.arc_filter
    if not settings.arc_filter or (start is not None and not len(start)):
        return no_arc_filter()
    return learn_arc_filter(treebank.encoded, treebank.heads, start)


def _without_gaps(settings: ParserSettings, problem: ArcProblem) -> ArcProblem:
    """Whole trees, if the learner cannot sum over gaps nor fill them as it goes."""
    exponentiated = settings.learner == "maxmargin" or settings.optimizer == "eg"
    if not exponentiated or not has_gaps(problem):
        return problem
    guide = make_trainer(ParserSettings(seed=settings.seed).resolved(), problem, None)
    return replace(problem, treebank=completed(problem, guide, settings.seed))


def _with_weights(model: Model, parameters: Parameters) -> Model:
    """The model with the parameters that there are."""
    return replace(
        model, weights=parameters.get("arcs", model.weights),
        label_weights=parameters.get("labels", model.label_weights),
    )  # fmt: skip


def _finish(
    fit: Fit, model: Model, dev_set: DevSet | None, history: History, train: Block
) -> Model:
    """What is decided when the weights stand: decoding class, temperature, card."""
    if dev_set is not None:
        if model.settings.decode_trees == "auto" and model.settings.trees == "nonprojective":
            classes: tuple[TreeClass, ...] = ("nonprojective", "projective")
            scores = {
                trees: dev_set.score(BlockDecoder(model, fit.threads, trees=trees)).deciding
                for trees in classes
            }
            model = replace(model, decode_trees=max(classes, key=lambda trees: scores[trees]))
        model = replace(model, temperature=fit_temperature(model, dev_set, fit.threads))
        if model.pruner is not None:
            model = model.with_card(pruning=pruning_figures(model, dev_set, fit.threads))
    best = history.passes[history.best - 1]
    dev = None if dev_set is None else {"uas": best.uas, "las": best.las, "rule": dev_set.rule}
    return model.with_card(
        trained_on={"sentences": len(train), "words": train.total_words},
        passes=len(history.passes),
        best_pass=history.best,
        dev=dev,
        date=date.today().isoformat(),
    )
