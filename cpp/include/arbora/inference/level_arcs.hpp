// Arc scores, normalised by a constant per word.
//
// Every word has exactly one head, so a constant added to all arcs into a word changes no
// comparison of trees. It does change iterative searches that compare scores of single arcs: the
// first solutions of automata, step sizes, tolerances. So these searches run on scores whose
// maximum is the same for every word.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/tree/part_index.hpp"

namespace arbora::inference {

class LevelArcs {
 public:
  // `arcs` are the scores of the cells of (n+1) x (n+1), of which those of kept arcs are read.
  LevelArcs(const PartIndex& parts, const double* arcs);

  // The normalised scores of the same cells.
  const double* scores() const { return scores_.data(); }
  // The constant that was subtracted from the score of every tree.
  double taken() const { return taken_; }

 private:
  std::vector<double> scores_;
  double taken_ = 0.0;
};

}  // namespace arbora::inference
