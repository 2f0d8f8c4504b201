// Sums over spanning trees and over projective trees, in one interface.
#pragma once

#include <cstdint>
#include <span>

#include "arbora/base/workspace.hpp"
#include "arbora/tree/arc_scores.hpp"

namespace arbora::inference {

struct Sums {
  double log_partition;  // log Z
  double relative;       // log Z minus the sum of the column shifts
  double doubtful;       // marginals, and sums of them, are imprecise below this
};

// Every function expects a feasible sentence. Answers are (n+1) x (n+1) like the scores, and
// exactly 0 where an arc is forbidden. `column_shift` (n+1 numbers) receives the shifts that
// `relative` refers to; `marginals` may be null.
Sums spanning_sums(ArcScores scores, Root root, double* column_shift, double* marginals,
                   Workspace& workspace);
Sums projective_sums(ArcScores scores, Root root, double* column_shift, double* marginals,
                     Workspace& workspace);

// The logarithms of the marginals, to full relative precision however small a marginal is; -inf
// where no tree has the arc. Of spanning trees, for arcs into the given words only.
void spanning_log_marginals(ArcScores scores, Root root, std::span<const Index> modifiers,
                            double* log_marginals, Workspace& workspace);
void projective_log_marginals(ArcScores scores, Root root, double* log_marginals,
                              Workspace& workspace);

// The Jacobian of the marginals, which is symmetric, times d_marginals.
void spanning_vjp(ArcScores scores, Root root, const double* marginals, const double* d_marginals,
                  double* d_scores, Workspace& workspace);
void projective_vjp(ArcScores scores, Root root, const double* marginals, const double* d_marginals,
                    double* d_scores, Workspace& workspace);

// Exact, independent draws number 0, 1, ...; heads is count x n, and draw i
// depends on (seed, sentence, i) only.
struct DrawKey {
  std::uint64_t seed;
  std::uint64_t sentence;
};
void spanning_sample(ArcScores scores, Root root, DrawKey key, Index count, std::int32_t* heads,
                     Workspace& workspace);
void projective_sample(ArcScores scores, Root root, DrawKey key, Index count, std::int32_t* heads,
                       Workspace& workspace);

// d_marginals minus its mean under each word's head distribution, which changes nothing and loses
// less to cancellation, times a power of two that brings it near 1, so that no tangent overflows;
// returns the power of two that the answer is to be multiplied by.
double centre_columns(ArcScores scores, const double* marginals, const double* d_marginals,
                      double* centred);
void scale_answer(ArcScores scores, double factor, double* d_scores);

}  // namespace arbora::inference
