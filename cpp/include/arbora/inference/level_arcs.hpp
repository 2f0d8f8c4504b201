// Arc scores on one level.
//
// Every word has exactly one head, so a constant added to all arcs into a word changes no
// comparison of trees. It does change what searches do that look at scores arc by arc: how many
// modifiers an automaton takes at first, what a step counts in, what is small enough to be
// rounding. So all of them see scores whose largest is the same for every word.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/tree/part_index.hpp"

namespace arbora::inference {

class LevelArcs {
 public:
  // `arcs` are the scores of the cells of (n+1) x (n+1), of which those of kept arcs are looked at.
  LevelArcs(const PartIndex& parts, const double* arcs);

  // The scores of the same cells, on one level.
  const double* scores() const { return scores_.data(); }
  // What has been taken from every tree.
  double taken() const { return taken_; }

 private:
  std::vector<double> scores_;
  double taken_ = 0.0;
};

}  // namespace arbora::inference
