// How many different features the arcs of a treebank have, template by template.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arbora/features/arc_templates.hpp"

namespace arbora::features {

// The name of a template, the number of its features, and the number of their twins with direction
// and distance.
struct FeatureCount {
  std::string name;
  std::int64_t plain = 0, twins = 0;
};

// Counts the features of the arcs from the given heads (of all words, one sentence after the other;
// -1 is no arc) or, if `heads` is null, of all possible arcs. With `sample` above 1, about one
// feature in `sample` is counted, chosen by its hash.
std::vector<FeatureCount> count_features(const FeatureSet& set, const Encoded& encoded,
                                         const std::int32_t* heads, std::uint64_t sample);

}  // namespace arbora::features
