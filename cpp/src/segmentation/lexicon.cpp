#include "arbora/segmentation/lexicon.hpp"

#include <bit>

namespace arbora::segmentation {

Lexicon::Lexicon(std::span<const std::uint32_t> keys, std::span<const std::uint8_t> tokens,
                 std::span<const std::uint8_t> words, std::span<const std::uint8_t> small) {
  if (keys.empty()) return;
  table_.resize(std::bit_ceil(2 * keys.size()));
  mask_ = table_.size() - 1;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint32_t key = keys[i] + 1;
    std::size_t place = key & mask_;
    while (table_[place].key != 0) place = (place + 1) & mask_;
    table_[place] = {key, {tokens[i], words[i], small[i]}};
  }
}

}  // namespace arbora::segmentation
