#include <algorithm>
#include <cmath>

#include "arbora/inference/bigram_group.hpp"
#include "arbora/inference/factor_group.hpp"
#include "arbora/inference/pair_group.hpp"
#include "arbora/inference/walk_group.hpp"

namespace arbora::inference {

std::vector<std::unique_ptr<FactorGroup>> make_factor_groups() {
  std::vector<std::unique_ptr<FactorGroup>> groups;
  groups.push_back(std::make_unique<WalkGroup>());
  groups.push_back(std::make_unique<PairGroup>());
  groups.push_back(std::make_unique<BigramGroup>());
  return groups;
}

void FactorGroup::silence(double* messages) const {
  std::fill(messages, messages + n_messages(), 0.0);
}

double FactorGroup::mix(Index count, const double* old, const Mixing& mixing, double* fresh) {
  if (!mixing.measured && mixing.share_of_old == 0.0) return 0.0;
  double largest = 0.0;
  for (Index i = 0; i < count; ++i) {
    const double change = old[i] - fresh[i];
    largest = std::max(largest, std::abs(change));
    fresh[i] += mixing.share_of_old * change;
  }
  return largest;
}

}  // namespace arbora::inference
