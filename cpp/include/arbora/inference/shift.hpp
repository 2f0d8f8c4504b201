// Column shifts: the distribution does not change when a constant is added to a column of the
// scores, so every sum runs on weights exp(score - shift) that are at most 1.
#pragma once

#include "arbora/base/number.hpp"
#include "arbora/tree/arc_scores.hpp"

namespace arbora {

// Weights are w(h, m) = exp(score(h, m) - column[m]) for word heads and
// w(0, m) = exp(score(0, m) - column[m] - root) for the root symbol.
struct Shift {
  double* column;     // side() numbers; column[0] is 0
  double root = 0.0;  // 0 under Root::multi
  double sum = 0.0;   // of the columns: a correctly rounded sum, high and low part
  double sum_tail = 0.0;
};

// Under Root::multi a column's shift is its largest score. Under Root::single it is the largest
// score of a word head, because exactly one root arc is used, which must not hide the scores of all
// other words; only the likeliest root word counts its root arc too (a word without any head that
// counts gets 0). `root` takes the largest remaining root score.
// `extra` is added to every column's shift.
Shift make_shift(ArcScores scores, Root root, double extra, double* column);

// Fills weights with exp(score - shift), rows h and columns m in place, a multiple of a step wide.
void plain_weights(ArcScores scores, const Shift& shift, Matrix<double> weights);
Wide wide_weight(ArcScores scores, const Shift& shift, Index head, Index modifier);

// log Z from its logarithm relative to the shift, without losing the small part in the large one.
inline double absolute_log(const Shift& shift, double relative) {
  return shift.sum + (shift.sum_tail + relative);
}

}  // namespace arbora
