// Arcs that are not scored: longer than any arc between words of the same tags, in the same
// direction, in the training data (Gormley et al. 2015, section 7.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/features/words.hpp"

namespace arbora::features {

// The largest length seen for each pair of coarse tags and direction, in a table addressed by a
// hash: where two pairs collide, the larger length holds, so that a collision can only keep more
// arcs. A tag that was never seen with a head prunes nothing; which tags were is in the second half
// of the table, away from the lengths. The chain 0 -> 1 -> 2 -> ... is always kept: it is a tree of
// every class, so no sentence is left without one.
class ArcFilter {
 public:
  static constexpr std::size_t kSize = 1U << 16U;
  static constexpr std::uint16_t kNoBound = 65535;

  // Views a table of kSize lengths; an empty one keeps every arc.
  explicit ArcFilter(std::span<const std::uint16_t> lengths) : lengths_(lengths) {}

  bool keeps_all() const { return lengths_.empty(); }
  bool keeps(const Sentence<std::uint64_t>& sentence, Index head, Index modifier) const {
    if (head + 1 == modifier) return true;
    const Word<std::uint64_t>&h = sentence[head], &m = sentence[modifier];
    const std::uint16_t longest = lengths_[place(h.coarse, m.coarse, modifier > head)];
    const Index length = head == 0 ? 1 : head < modifier ? modifier - head : head - modifier;
    return length <= longest || !known(m.coarse) || (head != 0 && !known(h.coarse));
  }

  // Widens the bounds of a table so that the sentence's tree passes; heads of -1 are ignored.
  static void learn(const Sentence<std::uint64_t>& sentence, const std::int32_t* heads,
                    std::span<std::uint16_t> lengths);

 private:
  static std::size_t place(std::uint64_t head, std::uint64_t modifier, bool right) {
    return key_of("filter: head modifier direction", head, modifier, std::uint64_t{right}) >> 49U;
  }
  static std::size_t place(std::uint64_t tag) {
    return kSize / 2 + (key_of("filter: tag", tag) >> 49U);
  }
  bool known(std::uint64_t tag) const { return lengths_[place(tag)] != 0; }

  std::span<const std::uint16_t> lengths_;
};

}  // namespace arbora::features
