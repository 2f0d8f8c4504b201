// Best walks of heads, asked for again and again while a few scores change.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/inference/head_automata.hpp"

namespace arbora::inference {

// Remembers the best walk of every side under every possible grandparent. When an arc's score
// falls, what is remembered is an upper bound; when it rises, it is one after as much is added. So
// only the grandparents whose bound is the highest are looked at again, and of these the changed
// sides.
class WalkSearch {
 public:
  explicit WalkSearch(const StepTables& steps);

  // A score of taking a modifier on this side has changed by so much.
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
  std::vector<Index> first_;  // of each head's memories
  std::vector<Memory> memories_;
  std::vector<std::int32_t> from_;
  std::vector<double> best_;
};

}  // namespace arbora::inference
