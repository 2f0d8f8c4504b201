// Rows of weights, found by the keys of features. Rows of parts of speech have one weight for every
// tag; those of analyses have one for every output of the tag they belong to.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arbora/base/multiversion.hpp"
#include "arbora/base/types.hpp"
#include "arbora/tagging/key_table.hpp"

namespace arbora::tagging {

// sums[i] += rows[0][i] + ... for all i below width.
void add_rows(const float* const* rows, std::size_t count, Index width, double* sums);

struct FeatureRows {
  KeyTable table;
  std::vector<std::size_t> first;  // the first weight of each row, and the end
  std::vector<float> weights;

  // The weights of a feature if its row has the wanted width, or null.
  const float* find(std::uint32_t key, Index width) const {
    const std::int32_t row = table.find(key);
    if (row == kNoRow || first[at(row) + 1] - first[at(row)] != at(width)) return nullptr;
    return weights.data() + first[at(row)];
  }

  // Adds the rows of all features that `features` passes to its argument. The tables are larger
  // than the caches, so places and rows are fetched ahead of their use.
  template <class Features>
  void add(Index width, double* sums, const Features& features) const {
    std::array<std::uint32_t, kMost> keys;
    std::array<const float*, kMost> rows;
    std::size_t count = 0;
    features([&](std::uint64_t key) {
      keys[count] = short_key(key);
      table.prefetch(keys[count]);
      if (++count == kMost) {
        flush(keys, rows, count, width, sums);
        count = 0;
      }
    });
    flush(keys, rows, count, width, sums);
  }

 private:
  static constexpr std::size_t kMost = 64;

  void flush(const std::array<std::uint32_t, kMost>& keys, std::array<const float*, kMost>& rows,
             std::size_t count, Index width, double* sums) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const float* row = find(keys[i], width);
      if (row == nullptr) continue;
      ARBORA_PREFETCH(row);
      ARBORA_PREFETCH(row + width - 1);
      rows[found++] = row;
    }
    add_rows(rows.data(), found, width, sums);
  }
};

}  // namespace arbora::tagging
