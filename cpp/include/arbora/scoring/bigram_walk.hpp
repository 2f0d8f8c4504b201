// The head bigrams of a sentence with their features, in the order of their numbers.
#pragma once

#include "arbora/features/bigram_templates.hpp"
#include "arbora/scoring/slot_sinks.hpp"
#include "arbora/tree/part_index.hpp"

namespace arbora::scoring {

// Calls visit(number, variants, name_features) for every part that is wanted. Heads that form a
// cycle have no features.
template <class Atom, class Wanted, class Visit>
void visit_bigrams(const features::FeatureSet& set, const features::Sentence<Atom>& s,
                   const PartIndex& parts, const Wanted& wanted, const Visit& visit) {
  Index number = 0;
  for (Index m = 2; m <= parts.n_words(); ++m) {
    for (const std::int32_t before : parts.heads(m - 1)) {
      for (const std::int32_t head : parts.heads(m)) {
        const Index own = number++;
        if ((before == m && head == m - 1) || !wanted(own)) continue;
        const features::PartVariants variants = features::bigram_variants(before, m, head);
        visit(own, Variants{variants.first, variants.second},
              [&](auto& sink) { features::bigram_templates(set, s, before, m, head, sink); });
      }
    }
  }
}

}  // namespace arbora::scoring
