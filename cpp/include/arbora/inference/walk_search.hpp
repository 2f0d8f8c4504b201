// Repeated searches for the best walks of heads while a few scores change.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/inference/head_automata.hpp"

namespace arbora::inference {

// Caches the best walk of every side under every possible grandparent. When an arc's score falls,
// the cached score remains an upper bound; when it rises by d, the cached score plus d is one. So
// only the grandparents with the highest bounds are searched again, and of these only the changed
// sides.
class WalkSearch {
 public:
  explicit WalkSearch(const StepTables& steps);

  // The score of a modifier on this side has changed by this much.
  void change(Index head, int side, double by);
  // All scores may have changed.
  void forget();

  // The same as best_walk().
  Walk best(Index head, const double* arcs, const double* links, std::uint8_t* chosen);

 private:
  // Of one link (or head, without grandparents).
  struct Memory {
    double value[2] = {0.0, 0.0};
    double bound = kInfinity;
    bool stale[2] = {true, true};
    Index from = 0;  // where the steps of its walk are
  };

  void look_again(Index head, Index choice, const double* arcs, Memory& memory);

  const StepTables* steps_;
  std::vector<Index> first_;  // of each head's cache entries
  std::vector<Memory> memories_;
  std::vector<std::int32_t> from_;
  std::vector<double> best_;
};

}  // namespace arbora::inference
