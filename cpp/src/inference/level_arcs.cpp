#include "arbora/inference/level_arcs.hpp"

#include <algorithm>

namespace arbora::inference {
namespace {

// The level of the best arcs, as a share of the mean distance between a word's two best. Measured
// on parsers of siblings and grandsiblings for three languages: 23 % fewer iterations than with
// scores as they were learnt, fewer with each, and no fewer certificates. With 0 it is 18 %, and
// the siblings of one language take more.
constexpr double kLevel = 0.1;

}  // namespace

LevelArcs::LevelArcs(const PartIndex& parts, const double* arcs) {
  const Index n = parts.n_words(), side = n + 1;
  scores_.assign(static_cast<std::size_t>(side * side), kForbidden);
  std::vector<double> best(static_cast<std::size_t>(side), kForbidden);
  double distances = 0.0, choices = 0.0;  // of words with two heads or more
  for (Index m = 1; m <= n; ++m) {
    double& first = best[static_cast<std::size_t>(m)];
    double second = kForbidden;
    for (const std::int32_t h : parts.heads(m)) {
      const double score = arcs[h * side + m];
      second = std::max(second, std::min(first, score));
      first = std::max(first, score);
    }
    if (second == kForbidden) continue;
    distances += first - second;
    choices += 1.0;
  }
  const double level = kLevel * distances / std::max(choices, 1.0);
  for (Index m = 1; m <= n; ++m) {
    const double first = best[static_cast<std::size_t>(m)];
    if (first == kForbidden) continue;  // a word without a head, which makes no tree
    for (const std::int32_t h : parts.heads(m)) {
      const Index cell = h * side + m;
      scores_[static_cast<std::size_t>(cell)] = (arcs[cell] - first) + level;
    }
    taken_ += first - level;
  }
}

}  // namespace arbora::inference
