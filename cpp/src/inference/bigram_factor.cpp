#include "arbora/inference/bigram_factor.hpp"

#include <algorithm>
#include <memory>

#include "arbora/inference/head_chain.hpp"
#include "arbora/tree/part_kinds.hpp"

namespace arbora::inference {
namespace {

// The factor's variables are the chain's states, in the chain's order.
class BigramSearch {
 public:
  BigramSearch(const PartIndex& parts, const double* scores)
      : parts_(parts),
        scores_(scores),
        pairs_(scores, scores + parts.count(PartKind::head_bigrams)),
        chosen_(static_cast<std::size_t>(parts.n_words())) {
    chain_.set(parts);
    chain_.forbid_cycles(pairs_.data());
  }

  double best(const double* states, std::uint8_t* x) {
    double own = chain_.best(states, pairs_.data(), chosen_.data());
    std::fill(x, x + chain_.n_states(), std::uint8_t{0});
    for (const Index state : chosen_) {
      x[state] = 1;
      own -= states[state];
    }
    return own;
  }

  double score(const std::int32_t* heads) const {
    std::vector<Index> numbers;
    layout_of(PartKind::head_bigrams).of_tree(parts_, heads, numbers);
    double score = 0.0;
    for (const Index number : numbers) score += scores_[number];
    return score;
  }

 private:
  const PartIndex& parts_;
  const double* scores_;
  HeadChain chain_;
  std::vector<double> pairs_;
  std::vector<Index> chosen_;
};

}  // namespace

PartFactor bigram_factor(const PartIndex& parts, const ArcOrder& order, const double* scores) {
  const auto search = std::make_shared<BigramSearch>(parts, scores);
  return {
      {order.of_link.begin() + 1, order.of_link.end()},
      [search](const double* states, std::uint8_t* x) { return search->best(states, x); },
      [search](const std::int32_t* heads) { return search->score(heads); },
  };
}

}  // namespace arbora::inference
