// Labels as a reduction before and an expansion after (Koo et al. 2007, section 3.4): the sum over
// labelled trees is a sum over trees whose arcs score log sum_l exp(score), and a label's
// probability given its arc does not depend on the rest of the tree.
#pragma once

#include "arbora/inference/kbest.hpp"

namespace arbora::inference {

// arcs(h, m) = log sum_l exp(score(h, m, l)), forbidden if all labels are.
void sum_labels(LabelledScores scores, double* arcs);
// arcs(h, m) = max_l score(h, m, l).
void best_labels(LabelledScores scores, double* arcs);

// answer(h, m, l) = marginal(h, m) P(l | h, m).
void expand_marginals(LabelledScores scores, const double* marginals, double* answer);

// The label of an arc that a uniform number in [0, 1) picks.
std::int32_t draw_label(LabelledScores scores, Index head, Index modifier, double uniform);

// The two halves of the labelled Jacobian product: the arc's expected d_marginal, and back,
// answer(h, m, l) = P(l | h, m) (d_arc(h, m) + marginal(h, m) (d_marginal(h, m, l) - expected)).
void reduce_gradient(LabelledScores scores, const double* d_marginals, double* expected);
void expand_gradient(LabelledScores scores, const double* marginals, const double* d_marginals,
                     const double* expected, const double* d_arcs, double* answer);

}  // namespace arbora::inference
