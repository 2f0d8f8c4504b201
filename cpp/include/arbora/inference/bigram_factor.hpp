// Head bigrams as a factor of AD3: the best chain of heads by Viterbi's algorithm.
#pragma once

#include "arbora/inference/part_factors.hpp"

namespace arbora::inference {

PartFactor bigram_factor(const PartIndex& parts, const ArcOrder& order, const double* scores);

}  // namespace arbora::inference
