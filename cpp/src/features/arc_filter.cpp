#include "arbora/features/arc_filter.hpp"

#include <algorithm>

namespace arbora::features {

void ArcFilter::learn(const Sentence<std::uint64_t>& sentence, const std::int32_t* heads,
                      std::span<std::uint16_t> lengths) {
  for (Index m = 1; m <= sentence.n_words; ++m) {
    const Index h = heads[m - 1];
    if (h < 0) continue;
    const std::uint64_t tag = sentence[m].coarse;
    lengths[place(tag)] = 1;
    std::uint16_t& longest = lengths[place(sentence[h].coarse, tag, m > h)];
    const Index length = h == 0 ? 1 : std::min<Index>(std::abs(h - m), kNoBound);
    longest = std::max(longest, static_cast<std::uint16_t>(length));
  }
}

}  // namespace arbora::features
