// Scores of parts at the border: a list of flat arrays. Arcs come first, then a table for each kind
// in the order of PartKind, empty where the model lacks the kind.
#pragma once

#include <nanobind/stl/vector.h>

#include <vector>

#include "arbora/tree/part_index.hpp"
#include "arrays.hpp"
#include "flags.hpp"

namespace arbora::bindings {

using PartInput = std::vector<Floats>;
using PartAnswer = std::vector<FloatAnswer>;

template <class Number, class Arrays>
PartValues<Number> checked_values(const PartBatch& parts, const Arrays& arrays) {
  check_count(arrays.size(), 1 + kPartKinds, "the list of tables");
  const PartBatch::Place& all = parts.place(parts.size());
  check_count(arrays[0].size(), all.cells, "arcs");
  PartValues<Number> values{arrays[0].data(), {}};
  for_each_kind([&](PartKind kind) {
    const auto& table = arrays[1 + static_cast<std::size_t>(kind)];
    check_count(table.size(), all[kind], "a table of parts");
    if (parts.kinds().has(kind)) values[kind] = table.data();
  });
  return values;
}

inline PartScores part_scores(const PartBatch& parts, const PartInput& arrays) {
  return checked_values<const double>(parts, arrays);
}
inline PartValues<double> part_values(const PartBatch& parts, const PartAnswer& arrays) {
  return checked_values<double>(parts, arrays);
}

}  // namespace arbora::bindings
