#include "arbora/inference/level_arcs.hpp"

#include <algorithm>

namespace arbora {

LevelArcs::LevelArcs(const PartIndex& parts, const double* arcs) {
  const Index n = parts.n_words(), side = n + 1;
  scores_.assign(static_cast<std::size_t>(side * side), kForbidden);
  for (Index m = 1; m <= n; ++m) {
    double level = kForbidden;
    for (const std::int32_t h : parts.heads(m)) level = std::max(level, arcs[h * side + m]);
    if (level == kForbidden) continue;  // a word without a head, which makes no tree
    for (const std::int32_t h : parts.heads(m)) {
      const Index cell = h * side + m;
      scores_[static_cast<std::size_t>(cell)] = arcs[cell] - level;
    }
    sum_ += level;
  }
}

}  // namespace arbora
