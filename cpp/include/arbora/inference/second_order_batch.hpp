// Projective trees of second order for many sentences: for each, the hypergraph is built, used and
// released. Every call returns the first sentence that has no tree, or -1; the answers of such a
// sentence are undefined.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/inference/kbest.hpp"
#include "arbora/tree/part_kinds.hpp"

namespace arbora::inference {

struct SecondOrderBatch {
  const PartBatch& parts;
  PartScores scores;
  Root root;
  int threads;
};

// The edges of the largest hypergraph, roughly.
double second_order_largest(const PartBatch& parts);

// One number per sentence; marginals have the layout of the scores and are not computed if
// marginals.arcs is null.
Index second_order_sums(const SecondOrderBatch& batch, double* log_partition,
                        const PartValues<double>& marginals);
Index second_order_entropy(const SecondOrderBatch& batch, double* entropy);

// The Jacobian of all marginals times a direction.
Index second_order_vjp(const SecondOrderBatch& batch, const PartScores& d_marginals,
                       const PartValues<double>& d_scores);

Index second_order_argmax(const SecondOrderBatch& batch, std::int32_t* heads, double* score);

// Without labels.
Index second_order_kbest(const SecondOrderBatch& batch, Index k,
                         std::vector<std::vector<RankedTree>>& trees);

// count x n heads per sentence; sentence i is keyed as sentences[i].
Index second_order_sample(const SecondOrderBatch& batch, std::uint64_t seed,
                          std::span<const std::int64_t> sentences, Index count,
                          std::int32_t* heads);

// Like the arcs: the best tree with an arc minus the best without; 0 where there is no such cell.
Index second_order_margins(const SecondOrderBatch& batch, double* margins);

}  // namespace arbora::inference
