// The best tree for certain: where dual decomposition leaves a gap, the trees are divided into
// those with an arc and those without it, and either half is bounded by dual decomposition again.
#pragma once

#include "arbora/inference/dual_decomposition.hpp"

namespace arbora {

// The arc to divide by is the one on which the trees y were least certain: the share of iterations
// that had it is nearest to one half. Halves start from their whole's multipliers, those with the
// highest bound first. Few iterations are spent on any bound: dividing is the quicker way to close
// a gap that is there to stay. The question's limit is on all iterations together; when it is
// reached, the best tree found and the bound of what is left are the answer. Without any tree, or
// if automata refuse every one, the score is -inf.
DualAnswer branch_and_bound(const StepTables& steps, const double* arcs,
                            const TreeQuestion& question, std::int32_t* heads, Workspace& workspace,
                            Interruption& interruption);

}  // namespace arbora
