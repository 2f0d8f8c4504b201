// Column shifts: the distribution does not change when a constant is added to a column of the
// scores, so every sum runs on weights exp(score - shift) that are at most 1.
#pragma once

#include <vector>

#include "arbora/base/exact_sum.hpp"
#include "arbora/base/number.hpp"
#include "arbora/tree/arc_scores.hpp"

namespace arbora::inference {

// Weights are w(h, m) = exp(score(h, m) - column[m]) for word heads and
// w(0, m) = exp(score(0, m) - column[m] - root) for the root symbol.
struct Shift {
  double* column;     // side() numbers; column[0] is 0
  double root = 0.0;  // 0 under Root::multi
  // Root::single: the likeliest of the words that can be the root of all others (words that cannot
  // have no root weight), and which words those are; empty if all.
  Index likeliest_root = 1;
  std::vector<bool> possible_root;

  bool can_be_root(Index word) const {
    return possible_root.empty() || possible_root[static_cast<std::size_t>(word)];
  }
};

// Under Root::multi a column's shift is its largest score. Under Root::single it is the largest
// score of a word head, because exactly one root arc is used, which must not hide the scores of all
// other words; only the likeliest root word counts its root arc too. (A word without any head that
// counts gets 0.) `root` is the remaining score of the likeliest root arc, so that no weight
// exceeds 1. `extra` is added to every column's shift.
Shift make_shift(ArcScores scores, Root root, double extra, double* column);

// Fills weights with exp(score - shift), rows h and columns m in place, a multiple of a step wide.
void plain_weights(ArcScores scores, const Shift& shift, Matrix<double> weights);
Wide wide_weight(ArcScores scores, const Shift& shift, Index head, Index modifier);

// log Z from the terms of its logarithm relative to the shift: none is lost to the large ones.
double absolute_log(ArcScores scores, const Shift& shift, const ExactSum& relative);

}  // namespace arbora::inference
