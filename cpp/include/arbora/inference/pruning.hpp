// Pruning of arcs for models of higher order (Gormley et al. 2015, section 7.1).
#pragma once

#include "arbora/inference/batch.hpp"

namespace arbora::inference {

struct PruningRule {
  double threshold;  // of the probability of a word's likeliest head
  Index heads;       // at most this many per word
};

// kept, like the scores: 1 for arcs that are likely enough, for those of `trees` (one tree per
// sentence, heads one sentence after the other) and for the chain 0 -> 1 -> 2 -> ..., which is a
// tree of every class; 0 for all others, forbidden arcs among them. Needs n_labels = 1.
void batch_prune(const Batch& batch, const double* marginals, const std::int32_t* trees,
                 PruningRule rule, std::uint8_t* kept);

}  // namespace arbora::inference
