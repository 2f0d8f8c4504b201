// Dual decomposition by alternating directions (AD3; Martins et al. 2011, 2015): the same two
// kinds of easy searches, which return averages of configurations instead of single ones, and a
// quadratic penalty in addition. Needs fewer iterations than the subgradient method, but each costs
// more.
#pragma once

#include "arbora/inference/dual_decomposition.hpp"
#include "arbora/inference/part_factors.hpp"

namespace arbora::inference {

// The tree is the best one found, by its full score, among those that the tree search proposes and
// the rounding of the averages; it is certified when the dual value meets its score. `others` are
// the factors of parts that no automaton scores, over the arcs in `order`.
DualAnswer solve_ad3(const StepTables& steps, const std::vector<PartFactor>& others,
                     const ArcOrder& order, const double* arcs, const TreeQuestion& question,
                     std::int32_t* heads, Workspace& workspace, Interruption& interruption);

}  // namespace arbora::inference
