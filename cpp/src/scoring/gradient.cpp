#include "arbora/scoring/gradient.hpp"

#include <algorithm>
#include <bit>

namespace arbora::scoring {

ARBORA_MULTIVERSION void add_vector(const double* vector, Index width, double value, double* sums) {
  for (Index o = 0; o < width; ++o) sums[o] += value * vector[o];
}

void SlicedEntries::unroll() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (const RowEntry& entry : rows_[i]) {
      const double* d = vector(entry);
      for (Index o = 0; o < shape_.width; ++o) {
        if (d[o] == 0.0) continue;
        lists_[i].push_back({slot_at(entry.row, o), static_cast<double>(entry.value) * d[o]});
      }
    }
    rows_[i].clear();
  }
}

void Gradient::begin(Index sentences) {
  used_ = static_cast<std::size_t>(sentences);
  while (entries_.size() < used_) entries_.emplace_back(weights(), shape_);
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

double squared_norm(const SlicedEntries& entries) {
  // Slots in order of first occurrence, each with its sum; the hash table holds their places.
  // Sorting instead takes several times as long.
  thread_local std::vector<std::uint32_t> table;
  thread_local std::vector<Entry> sums;
  sums.clear();
  for (int i = 0; i < kSlices; ++i) {
    const std::vector<Entry>& slice = entries.slice(i);
    const std::size_t size = std::bit_ceil(2 * slice.size() + 2);
    const std::size_t first = sums.size();
    table.assign(size, 0);
    for (const Entry& entry : slice) {
      std::size_t at = (entry.slot * 0x9e3779b1U) & (size - 1);
      while (table[at] != 0 && sums[first + table[at] - 1].slot != entry.slot) {
        at = (at + 1) & (size - 1);
      }
      if (table[at] == 0) {
        sums.push_back({entry.slot, 0.0});
        table[at] = static_cast<std::uint32_t>(sums.size() - first);
      }
      sums[first + table[at] - 1].value += entry.value;
    }
  }
  double norm = 0.0;
  for (const Entry& sum : sums) norm += sum.value * sum.value;
  return norm;
}

}  // namespace arbora::scoring
