#include "arbora/scoring/gradient.hpp"

#include <algorithm>

namespace arbora::scoring {

void Gradient::begin(Index sentences) {
  used_ = static_cast<std::size_t>(sentences);
  while (entries_.size() < used_) entries_.emplace_back(weights());
  for (std::size_t i = 0; i < used_; ++i) entries_[i].clear();
}

std::vector<Entry> merged_entries(const SlicedEntries& entries) {
  std::vector<Entry> all;
  for (int i = 0; i < kSlices; ++i) {
    all.insert(all.end(), entries.slice(i).begin(), entries.slice(i).end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Entry& a, const Entry& b) { return a.slot < b.slot; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kept > 0 && all[kept - 1].slot == all[i].slot) {
      all[kept - 1].value += all[i].value;
    } else {
      all[kept++] = all[i];
    }
  }
  all.resize(kept);
  return all;
}

double inner_product(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  double sum = 0.0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].slot < b[j].slot) {
      ++i;
    } else if (b[j].slot < a[i].slot) {
      ++j;
    } else {
      sum += a[i++].value * b[j++].value;
    }
  }
  return sum;
}

}  // namespace arbora::scoring
