// Known words: hashes of small-letter forms, with the parts of the training data they occur in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/features/hash.hpp"
#include "arbora/segmentation/characters.hpp"

namespace arbora::segmentation {

// The hash of letters, one letter after the other.
class LetterHash {
 public:
  void add(char32_t letter) { state_ = (state_ ^ letter) * features::kMix; }
  std::uint64_t value() const { return features::mixed(state_); }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1dULL;
};

inline std::uint64_t hash_of_lower(const Characters& text, Index begin, Index end) {
  LetterHash hash;
  for (Index i = begin; i < end; ++i) hash.add(text.lower[at(i)]);
  return hash.value();
}

// While learning, a word of a sentence counts as known only if it also occurs in other parts of
// the training data: else every word would be known, and nothing would be learnt about unknown
// ones. Sentence i belongs to part i % 8, and
// text outside of the training data to part 8.
class Lexicon {
 public:
  enum class Kind { token, word };  // of the text, or of the columns
  static constexpr int kAllParts = -1;

  Lexicon() = default;
  // Keys (30 bits, increasing), and for both kinds the set of parts, one bit each.
  Lexicon(std::span<const std::uint32_t> keys, std::span<const std::uint8_t> tokens,
          std::span<const std::uint8_t> words);

  static std::uint32_t key_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 34); }

  bool knows(std::uint64_t hash, Kind kind, int own_part) const {
    if (table_.empty()) return false;
    const std::uint32_t key = key_of(hash) + 1;
    for (std::size_t place = key & mask_;; place = (place + 1) & mask_) {
      const Entry& entry = table_[place];
      if (entry.key == 0) return false;
      if (entry.key != key) continue;
      const unsigned parts = kind == Kind::token ? entry.tokens : entry.words;
      const unsigned own = own_part < 0 ? 0u : 1u << own_part;
      return (parts & ~own) != 0;
    }
  }

 private:
  struct Entry {
    std::uint32_t key = 0;  // plus 1; 0 is an empty place
    std::uint8_t tokens = 0, words = 0;
  };
  std::vector<Entry> table_;
  std::size_t mask_ = 0;
};

}  // namespace arbora::segmentation
