"""The first-order model inside a model of higher order: how it is learnt, and what it keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arbora.parsers.combinations import BELIEF_LEARNERS
from arbora.parsers.decoding import BlockDecoder
from arbora.parsers.dev import DevSet
from arbora.parsers.higher_order import prune
from arbora.parsers.model import Model
from arbora.parsers.settings import ParserSettings
from arbora.parsers.trainers import make_trainer
from arbora.training.completion import filled, has_gaps
from arbora.training.loop import Observer
from arbora.training.parts import KeptArcs
from arbora.training.preparation import projectivise
from arbora.training.trainer import ArcProblem
from arbora.training.treebank import Treebank

__all__ = ["kept_arcs", "pruning_figures", "with_pruner"]

_PASSES = 4


def with_pruner(
    model: Model,
    treebank: Treebank,
    start: Model | None,
    threads: int,
    observer: Observer | None,
) -> tuple[Model, Treebank]:
    """The model with its pruner, and the treebank with gaps filled as the pruner finds best.

    A model that goes on learning keeps the pruner that it has. Learners of beliefs leave gaps out
    of their loss, and have them still. The pruner learns a likelihood, so its gold trees are of its
    class whatever the others are.
    """
    settings = ParserSettings(
        learner="loglinear", trees=model.settings.trees, root=model.root, labels="none",
        features=model.settings.features, bits=model.settings.bits, passes=_PASSES,
        arc_filter=model.settings.arc_filter, seed=model.settings.seed,
    ).resolved()  # fmt: skip
    pruner = replace(
        model, settings=settings, labels=(), decode_trees=model.settings.trees,
        label_weights=np.zeros(0, dtype=np.float32), temperature=1.0, card={}, pruner=None,
    )  # fmt: skip
    gold = treebank
    if model.settings.projectivise is False:
        gold, _ = projectivise(treebank, model.root)
    problem = ArcProblem(pruner.arc_scorer(threads), gold, settings.trees, model.root)
    if start is not None and start.pruner is not None:
        pruner = start.pruner
    else:
        pruner = replace(pruner, weights=_learnt(settings, problem, observer))
    if model.settings.learner not in BELIEF_LEARNERS and has_gaps(problem):
        treebank = filled(problem, pruner.weights)
    return replace(model, pruner=pruner), treebank


def _learnt(
    settings: ParserSettings, problem: ArcProblem, observer: Observer | None
) -> NDArray[np.float32]:
    trainer = make_trainer(settings, problem, None)
    tick = (lambda _: None) if observer is None else observer.tick
    sentences = len(problem.treebank)
    if observer is not None:
        observer.begin(sentences, _PASSES)
    for number in range(1, _PASSES + 1):
        order = np.random.default_rng([settings.seed, number]).permutation(sentences)
        trainer.run_pass(order, tick)
    return trainer.parameters().astype(np.float32)


def kept_arcs(model: Model, treebank: Treebank, threads: int) -> KeptArcs:
    """What the pruner keeps of the training sentences, and every gold arc.

    The pruner has learnt from these sentences, if only for a few passes, and may prune them more
    than new ones; folds would avoid that, at the price of learning as many pruners.
    """
    decoder = BlockDecoder(model, threads)
    kept = KeptArcs(treebank.encoded.n_words)
    for sentences in decoder.pieces(treebank.encoded):
        likely = prune(model, decoder.distribution(treebank.encoded, sentences))
        kept.put(sentences, likely.with_arcs(treebank.heads[treebank.words(sentences)]).kept)
    return kept


def pruning_figures(model: Model, dev: DevSet, threads: int) -> dict[str, float]:
    """Arcs per word and the share of gold heads that are left, on dev."""
    decoder = BlockDecoder(model, threads)
    arcs = words = left = known = 0.0
    first = 0
    for sentences in decoder.pieces(dev.encoded):
        kept = prune(model, decoder.distribution(dev.encoded, sentences))
        count = int(dev.encoded.n_words[sentences].sum())
        heads = np.where(dev.counted, dev.heads, -1)[first : first + count]
        first += count
        arcs += kept.arcs_per_word * count
        words += count
        left += kept.oracle(heads) * float((heads >= 0).sum())
        known += float((heads >= 0).sum())
    return {"arcs_per_word": arcs / max(words, 1.0), "oracle_uas": 100.0 * left / max(known, 1.0)}
