// The order in which the arcs of a sentence are visited.
#pragma once

#include "arbora/features/arc_templates.hpp"

namespace arbora::scoring {

// Calls visit(head, modifier, between) for every arc that `wanted` accepts, head by head, outwards.
template <class Wanted, class Visit>
void sweep(const features::Sentence<std::uint64_t>& s, const Wanted& wanted, const Visit& visit) {
  features::Between<std::uint64_t> between;
  for (Index h = 0; h <= s.n_words; ++h) {
    between.clear();
    for (Index m = h + 1; m <= s.n_words; ++m) {
      if (m > h + 1) between.add(s[m - 1]);
      if (wanted(h, m)) visit(h, m, between);
    }
    between.clear();
    for (Index m = h - 1; m >= 1; --m) {
      if (m < h - 1) between.add(s[m + 1]);
      if (wanted(h, m)) visit(h, m, between);
    }
  }
}

}  // namespace arbora::scoring
