// The best tree for certain: where dual decomposition leaves a gap, the trees are divided into
// those with an arc and those without it, and either half is bounded by dual decomposition again.
#pragma once

#include "arbora/inference/dual_decomposition.hpp"

namespace arbora::inference {

// The arc to divide by is the one on which the trees y were least certain: the share of iterations
// that had it is nearest to one half. Halves start from their whole's multipliers, those with the
// highest bound first. Few iterations are spent on any bound: dividing is the quicker way to close
// a gap that is there to stay. The question's limit is on the iterations of all nodes together.
// When it is reached, dual decomposition of all trees has as many iterations, and the better tree
// and the lower bound of both are the answer: in the same time, or in as many iterations, it may
// have come further with a sentence that dividing does not settle. To the end, the search then goes
// on until the best tree is certain. At the end of the question's time the best tree and bound so
// far are the answer. Without any tree, or if automata refuse every one, the score is -inf.
DualAnswer branch_and_bound(const StepTables& steps, const double* arcs,
                            const TreeQuestion& question, bool to_the_end, std::int32_t* heads,
                            Workspace& workspace, Interruption& interruption);

}  // namespace arbora::inference
