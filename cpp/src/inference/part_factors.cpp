#include "arbora/inference/part_factors.hpp"

#include "arbora/inference/bigram_factor.hpp"

namespace arbora::inference {
namespace {

// A kind of parts and what makes its factor.
struct Maker {
  PartKind kind;
  PartFactor (*make)(const PartIndex& parts, const ArcOrder& order, const double* scores);
};
constexpr std::array kMakers{
    Maker{PartKind::head_bigrams, bigram_factor},
};

}  // namespace

std::vector<PartFactor> part_factors(const PartIndex& parts, const ArcOrder& order,
                                     const PartScores& scores) {
  std::vector<PartFactor> factors;
  for (const Maker& maker : kMakers) {
    if (parts.kinds().has(maker.kind)) {
      factors.push_back(maker.make(parts, order, scores[maker.kind]));
    }
  }
  return factors;
}

double score_of_factors(const std::vector<PartFactor>& factors, const std::int32_t* heads) {
  double score = 0.0;
  for (const PartFactor& factor : factors) score += factor.score(heads);
  return score;
}

}  // namespace arbora::inference
