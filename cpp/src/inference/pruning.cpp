#include "arbora/inference/pruning.hpp"

#include <algorithm>
#include <vector>

#include "arbora/base/parallel.hpp"

namespace arbora::inference {
namespace {

// A word's heads that are likely enough; of equally likely ones the leftmost.
void prune_word(ArcScores scores, const double* marginals, Index word, PruningRule rule,
                std::vector<std::pair<double, Index>>& likely, std::uint8_t* kept) {
  const Index side = scores.side();
  double top = 0.0;
  for (Index h = 0; h < side; ++h) top = std::max(top, marginals[h * side + word]);
  likely.clear();
  for (Index h = 0; h < side; ++h) {
    const double p = marginals[h * side + word];
    if (p > 0.0 && p >= rule.threshold * top) likely.emplace_back(-p, h);
  }
  if (static_cast<Index>(likely.size()) > rule.heads) {
    std::nth_element(likely.begin(), likely.begin() + rule.heads, likely.end());
    likely.resize(static_cast<std::size_t>(rule.heads));
  }
  for (const auto& [unused, h] : likely) kept[h * side + word] = 1;
}

}  // namespace

void batch_prune(const Batch& batch, const double* marginals, const std::int32_t* trees,
                 PruningRule rule, std::uint8_t* kept) {
  struct Place {
    Index words, cells;
  };
  std::vector<Place> places;
  Place next{0, 0};
  for (const std::int64_t n : batch.n_words) {
    places.push_back(next);
    next.words += n;
    next.cells += (n + 1) * (n + 1);
  }
  for_each_sentence(static_cast<Index>(places.size()), batch.threads,
                    8.0 * static_cast<double>(next.cells), [&](Index i, Workspace&) {
                      const auto at = static_cast<std::size_t>(i);
                      const ArcScores scores{batch.scores + places[at].cells, batch.n_words[at]};
                      const Index side = scores.side();
                      std::uint8_t* mask = kept + places[at].cells;
                      std::fill(mask, mask + side * side, std::uint8_t{0});
                      std::vector<std::pair<double, Index>> likely;
                      for (Index m = 1; m < side; ++m) {
                        prune_word(scores, marginals + places[at].cells, m, rule, likely, mask);
                        mask[trees[places[at].words + m - 1] * side + m] = 1;
                        if (scores.allows(m - 1, m)) mask[(m - 1) * side + m] = 1;
                      }
                    });
}

}  // namespace arbora::inference
