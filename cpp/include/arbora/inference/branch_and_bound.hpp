// The best tree, certified: where dual decomposition leaves a gap, the search branches into the
// trees with an arc and those without it, and bounds either half by dual decomposition again.
#pragma once

#include "arbora/inference/dual_decomposition.hpp"

namespace arbora::inference {

// It branches on the least certain arc: the share of iterations whose tree y had it is nearest to
// one half. A node starts from its parent's multipliers; the node with the highest bound is next.
// Each bound gets few iterations, since branching closes a persistent gap faster. The question's
// limit is on the iterations of all nodes together. When it is reached, dual decomposition of all
// trees runs for as many iterations, and the answer is the better tree and the lower bound of both:
// it may do better on sentences that branching does not solve. If the search is to run to the end,
// it then continues until the best tree is certified. When the question's time ends, the answer is
// the best tree and bound so far. Without any tree, or if automata forbid all of them, the score is
// -inf.
DualAnswer branch_and_bound(const StepTables& steps, const double* arcs,
                            const TreeQuestion& question, bool to_the_end, std::int32_t* heads,
                            Workspace& workspace, Interruption& interruption);

}  // namespace arbora::inference
