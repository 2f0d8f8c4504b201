// Factors of AD3 besides the tree and the head automata: one for each kind of parts that no walk
// has. To add one, write it in a file of its own and add a line to the table in part_factors.cpp.
#pragma once

#include <functional>
#include <vector>

#include "arbora/inference/active_set.hpp"
#include "arbora/inference/arc_order.hpp"

namespace arbora::inference {

struct PartFactor {
  std::vector<Index> arcs;  // its variables
  BestConfiguration best;
  // What a tree scores by itself, beside its arcs.
  std::function<double(const std::int32_t* heads)> score;
};

// The factors of a sentence. `parts`, `order` and `scores` must outlive them.
std::vector<PartFactor> part_factors(const PartIndex& parts, const ArcOrder& order,
                                     const PartScores& scores);

// What a tree scores in all of them.
double score_of_factors(const std::vector<PartFactor>& factors, const std::int32_t* heads);

}  // namespace arbora::inference
