"""The model before training: its columns, labels and components."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.features import EdgeClusters, Encoder, FeatureSettings, WordClusters
from arbora.features.word_vectors import WordVectors
from arbora.fitting.loop import Observer
from arbora.fitting.treebank import label_names
from arbora.models.components import EveryArc
from arbora.models.model import Model, linear_scorer, make_labeller
from arbora.options import NeuralOptions, ParserOptions
from arbora.scoring import LinearScorer, Scorer
from arbora.types import TreeClass

if TYPE_CHECKING:
    from arbora.neural.pretrained import GivenEncoder

_FREQUENT = 100_000  # words of a file of vectors that a model keeps besides those it has seen

__all__ = ["Fit", "fresh_scorer", "untrained_model"]


@dataclass(frozen=True)
class Fit:
    """The arguments of training, except the data."""

    options: ParserOptions
    threads: int
    scorer: Scorer | None = None  # None: the linear scorer for the options
    start: Model | None = None
    word_clusters: WordClusters | None = None
    observer: Observer | None = None
    checkpoint_beside: str | os.PathLike[str] | None = None
    resume: bool = False
    edge_clusters: EdgeClusters | None = None
    pruned_by: Model | None = None  # a higher-order model whose pruner is used
    vectors: WordVectors | None = None  # of a neural scorer's words
    pretrained: GivenEncoder | None = None  # of a neural scorer's sentences


def untrained_model(fit: Fit, train: Block, learnt: NDArray[np.int64] | None) -> Model:
    """The untrained model; `learnt` are the sentences that it will see, None for all."""
    options = fit.options
    chosen = options.trees if options.decode_trees == "auto" else options.decode_trees
    trees: TreeClass = chosen or options.trees
    if fit.start is not None:
        encoder, labels, root = fit.start.encoder, fit.start.labels, fit.start.root
    else:
        clusters = fit.word_clusters
        settings = FeatureSettings.for_training(
            options.features, train, clusters is not None and clusters.any_case
        )
        encoder = Encoder(settings, clusters, fit.edge_clusters)
        labels = tuple(label_names(train))
        root = "single" if options.root == "auto" else options.root
    scorer = fresh_scorer(fit, options, encoder, len(labels), train, learnt)
    return Model(
        options=options,
        encoder=encoder,
        scorer=scorer,
        pruner=EveryArc(),
        labeller=make_labeller(options, encoder, len(labels), fit.threads, scorer),
        labels=labels,
        root=root,
        decode_trees=trees,
    )


def fresh_scorer(
    fit: Fit,
    options: ParserOptions,
    encoder: Encoder,
    n_labels: int,
    train: Block,
    learnt: NDArray[np.int64] | None,
) -> Scorer:
    """The scorer to train; a given one is copied, since training changes its parameters."""
    given = fit.scorer if fit.start is None else fit.start.scorer
    if isinstance(options.scorer, NeuralOptions):
        return _neural_scorer(fit, options, encoder, n_labels, train, learnt)
    if given is None or isinstance(given, LinearScorer):
        return linear_scorer(options, encoder, n_labels, fit.threads)
    own = given.parameters()
    return given.with_parameters(
        {name: np.array(values, dtype=np.float64) for name, values in own.items()}
    )


def _neural_scorer(
    fit: Fit,
    options: ParserOptions,
    encoder: Encoder,
    n_labels: int,
    train: Block,
    learnt: NDArray[np.int64] | None,
) -> Scorer:
    """A network for the words of the sentences that it will see, or the one to continue from."""
    from arbora.neural import NeuralScorer, NeuralVocabulary, Sizes

    how = options.scorer
    assert isinstance(how, NeuralOptions)
    if fit.start is not None:
        assert isinstance(fit.start.scorer, NeuralScorer)
        return fit.start.scorer.for_training(how.dropout, fit.threads)
    given = fit.vectors
    sizes = Sizes.of(
        how, 0 if options.labels == "none" else n_labels, options.labels == "joint",
        options.order.parts, 0 if given is None else given.vectors.shape[1],
        0 if fit.pretrained is None else fit.pretrained.dimensions,
    )  # fmt: skip
    vocabulary = NeuralVocabulary.of_block(train, encoder.settings, learnt)
    table = None
    if given is not None:
        seen = {form for form, _ in train.column_names(1)}
        words = [
            place
            for place, word in enumerate(given.words)
            if (place < _FREQUENT or word in seen) and "\n" not in word
        ]
        vocabulary = vocabulary.with_given(given.words[place] for place in words)
        table = np.concatenate([np.zeros((1, sizes.given), np.float32), given.vectors[words]])
    return NeuralScorer.untrained(
        sizes, vocabulary, dropout=how.dropout, seed=options.seed, threads=fit.threads,
        vectors=table, encoder=fit.pretrained,
    )  # fmt: skip
