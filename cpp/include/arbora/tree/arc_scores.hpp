// One sentence's arc scores: score(h, m) of the arc from head h to modifier m, h and m in 0..n,
// index 0 the root symbol. The diagonal and column 0 hold kForbidden.
#pragma once

#include "arbora/base/types.hpp"

namespace arbora::tree {

struct ArcScores {
  const double* first;
  Index n_words;

  Index side() const { return n_words + 1; }
  const double* row(Index head) const { return first + head * side(); }
  double operator()(Index head, Index modifier) const { return row(head)[modifier]; }
  bool allows(Index head, Index modifier) const { return (*this)(head, modifier) != kForbidden; }
};

}  // namespace arbora::tree
