#include "arbora/inference/bigram_factor.hpp"

#include <algorithm>
#include <memory>

#include "arbora/inference/head_chain.hpp"
#include "arbora/tree/part_kinds.hpp"

namespace arbora::inference {

// The factor's variables are the chain's states, in the chain's order.
PartFactor bigram_factor(const PartIndex& parts, const ArcOrder& order, const double* scores) {
  auto chain = std::make_shared<HeadChain>();
  chain->set(parts);
  PartFactor factor;
  factor.arcs.assign(order.of_link.begin() + 1, order.of_link.end());
  factor.best = [chain, scores,
                 chosen = std::vector<Index>(static_cast<std::size_t>(parts.n_words()))](
                    const double* states, std::uint8_t* x) mutable {
    double own = chain->best(states, scores, chosen.data());
    std::fill(x, x + chain->n_states(), std::uint8_t{0});
    for (const Index state : chosen) {
      x[state] = 1;
      own -= states[state];
    }
    return own;
  };
  factor.score = [&parts, scores](const std::int32_t* heads) {
    std::vector<Index> numbers;
    layout_of(PartKind::head_bigrams).of_tree(parts, heads, numbers);
    double score = 0.0;
    for (const Index number : numbers) score += scores[number];
    return score;
  };
  return factor;
}

}  // namespace arbora::inference
