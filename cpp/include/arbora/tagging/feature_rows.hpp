// Rows of weights, found by the keys of features. Rows of parts of speech have one weight for every
// tag; those of analyses have one for every output of the tag they belong to.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/base/multiversion.hpp"
#include "arbora/base/types.hpp"
#include "arbora/tagging/key_table.hpp"

namespace arbora::tagging {

struct FeatureRows {
  KeyTable table;
  std::vector<std::size_t> first;  // the first weight of each row, and the end
  std::vector<float> weights;

  // The row of a feature if it has the wanted width, or kNoRow.
  std::int32_t find(std::uint64_t key, Index width) const {
    const std::int32_t row = table.find(short_key(key));
    if (row == kNoRow || first[at(row) + 1] - first[at(row)] != at(width)) return kNoRow;
    return row;
  }

  ARBORA_INLINE void add(std::uint64_t key, Index width, double* sums) const {
    const std::int32_t row = find(key, width);
    if (row == kNoRow) return;
    const float* values = weights.data() + first[at(row)];
    for (Index i = 0; i < width; ++i) sums[i] += static_cast<double>(values[i]);
  }
};

}  // namespace arbora::tagging
