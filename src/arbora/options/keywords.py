"""The options of `Parser` as keywords, for editors and type checkers.

Written by tools/write_keywords.py from the declarations in this folder; do not edit.
"""

# fmt: off
# ruff: noqa: E501

from __future__ import annotations

from typing import Literal, TypedDict

from arbora.options.declare import Component

__all__ = ["ParserKeywords"]


class ParserKeywords(TypedDict, total=False):
    """Every option of a parser; see `arbora train --help-all`."""

    annealing: Literal["linear", "log"]
    arc_filter: bool
    arc_width: int
    average: bool
    batch_size: int
    bits: int
    bp_iterations: int
    clip: float
    cluster_bits: int
    cluster_features: Literal["all", "beside"]
    cluster_of: Literal["edge", "token"]
    clusters: int
    damping: float
    decode: Literal["map", "mbr", "greedy", "greedy-posterior", "max-z"]
    decode_trees: Literal["nonprojective", "projective", "auto"]
    dropout: float
    encoder_layers: int
    encoder_rate: float
    factors: Literal["pairs", "automata"]
    features: Literal["rich", "mcdonald2005", "squeezed2005", "morphological", "carreras2007", "basic2005"]
    fine_tune: bool
    first_temperature: float
    head_bigrams: bool
    held_out: float
    inference: Literal["dual", "exact", "bp", "hill-climbing"] | Component
    k: int
    label_bits: int
    label_width: int
    labels: Literal["staged", "joint", "none"]
    largest_step: float
    last_temperature: float
    layers: int
    learner: Literal["perceptron", "mira", "loglinear", "head-selection", "maxmargin", "l2", "risk", "l2+risk"] | Component
    max_iterations: int
    mira: Literal["1-best", "k-best", "factored", "mbr"]
    optimizer: Literal["adagrad", "sgd", "lbfgs", "cg", "eg", "adam"] | Component
    order: Literal["first", "sibling", "grandparent", "grandsibling"] | Component
    passes: int
    patience: int
    projectivise: bool
    prune_heads: int
    prune_threshold: float
    pruner_features: Literal["rich", "mcdonald2005", "squeezed2005", "morphological", "carreras2007", "basic2005"]
    pruner_passes: int
    rank: int
    rate: float | Literal["auto"]
    refit: bool
    regularization: float
    rerank: int
    rerank_folds: int
    restarts: int
    risk_mix: float
    root: Literal["auto", "single", "multi"]
    schedule: Literal["serial", "parallel"]
    seed: int
    solver: Literal["subgradient", "ad3", "branch"]
    training_inference: Literal["automata", "dual", "exact", "bp"] | Component
    tree_share: float
    trees: Literal["nonprojective", "projective"]
    warm_up: float
    width: int
    word_dropout: float
