#include "arbora/features/label_templates.hpp"

namespace arbora::features {

void Children::fill(const std::int32_t* heads, Index n_words) {
  first_.assign(static_cast<std::size_t>(n_words) + 2, 0);
  for (Index m = 0; m < n_words; ++m) {
    if (heads[m] >= 0) ++first_[static_cast<std::size_t>(heads[m]) + 1];
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  list_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (Index m = 0; m < n_words; ++m) {
    if (heads[m] >= 0) {
      list_[next[static_cast<std::size_t>(heads[m])]++] = static_cast<std::int32_t>(m + 1);
    }
  }
}

}  // namespace arbora::features
