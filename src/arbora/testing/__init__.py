"""Slow reference implementations, and laws that every distribution obeys.

They are simple enough to be verified by reading. They ship with the package, so that you can test
your own distributions and gradients with them.
"""

from arbora.testing.check_distribution import LAWS, Law, check_distribution
from arbora.testing.determinants import (
    laplacian,
    lu_log_partition,
    lu_marginals,
    lu_vjp,
    minors_log_partition,
)
from arbora.testing.enumerated_parts import EnumeratedParts
from arbora.testing.enumeration import EnumeratedTrees, count_trees, enumerate_trees
from arbora.testing.finite_difference import finite_difference
from arbora.testing.precise import precise_projective, precise_spanning
from arbora.testing.random_graphs import RandomFactorGraph, RandomSentence, random_factor
from arbora.testing.random_instances import RandomInstances
from arbora.testing.slow_graph import EnumeratedFactor, SlowGraph
from arbora.testing.slow_hypergraph import SlowHypergraph, enumerate_derivations
from arbora.testing.slow_loopy import SlowLoopy
from arbora.testing.slow_parts import (
    all_part_rows,
    best_tree_slowly,
    part_rows_of_tree,
    random_parts,
    score_parts_slowly,
)

__all__ = [
    "LAWS",
    "EnumeratedFactor",
    "EnumeratedParts",
    "EnumeratedTrees",
    "Law",
    "RandomFactorGraph",
    "RandomInstances",
    "RandomSentence",
    "SlowGraph",
    "SlowHypergraph",
    "SlowLoopy",
    "all_part_rows",
    "best_tree_slowly",
    "check_distribution",
    "count_trees",
    "enumerate_derivations",
    "enumerate_trees",
    "finite_difference",
    "laplacian",
    "lu_log_partition",
    "lu_marginals",
    "lu_vjp",
    "minors_log_partition",
    "part_rows_of_tree",
    "precise_projective",
    "precise_spanning",
    "random_factor",
    "random_parts",
    "score_parts_slowly",
]
