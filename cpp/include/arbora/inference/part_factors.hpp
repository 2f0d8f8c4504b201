// Factors of AD3 besides the tree and the head automata: one for each kind of parts that head
// automata do not score. To add one, write it in its own file and add a line to the table in
// part_factors.cpp.
#pragma once

#include <functional>
#include <vector>

#include "arbora/inference/active_set.hpp"
#include "arbora/inference/arc_order.hpp"

namespace arbora::inference {

struct PartFactor {
  std::vector<Index> arcs;  // its variables
  BestConfiguration best;
  // The score of a tree in this factor, without its arcs.
  std::function<double(const std::int32_t* heads)> score;
};

// The factors of a sentence. `parts`, `order` and `scores` must outlive them.
std::vector<PartFactor> part_factors(const PartIndex& parts, const ArcOrder& order,
                                     const PartScores& scores);

// The score of a tree in all of them.
double score_of_factors(const std::vector<PartFactor>& factors, const std::int32_t* heads);

}  // namespace arbora::inference
