// Known words: hashes of small-letter forms, with the parts of the training data they occur in.
#pragma once

#include <array>
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
  // Of the text; of the columns; of the text, with a small first letter.
  enum class Kind { token, word, small };
  static constexpr int kAllParts = -1;

  Lexicon() = default;
  // Keys (29 bits, increasing), and for each kind the set of parts, one bit each.
  Lexicon(std::span<const std::uint32_t> keys, std::span<const std::uint8_t> tokens,
          std::span<const std::uint8_t> words, std::span<const std::uint8_t> small);

  static std::uint32_t key_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 35); }

  bool knows(std::uint64_t hash, Kind kind, int own_part) const {
    if (table_.empty()) return false;
    const std::uint32_t key = key_of(hash) + 1;
    for (std::size_t place = key & mask_;; place = (place + 1) & mask_) {
      const Entry& entry = table_[place];
      if (entry.key == 0) return false;
      if (entry.key != key) continue;
      const unsigned parts = entry.parts[static_cast<std::size_t>(kind)];
      const unsigned own = own_part < 0 ? 0u : 1u << own_part;
      return (parts & ~own) != 0;
    }
  }

 private:
  struct Entry {
    std::uint32_t key = 0;  // plus 1; 0 is an empty place
    std::array<std::uint8_t, 3> parts{};
  };
  std::vector<Entry> table_;
  std::size_t mask_ = 0;
};

// The lengths of the known tokens that begin at each character, looked up when needed.
class Matches {
 public:
  static constexpr Index kLongest = 12;  // letters

  // `parts` of the characters, or none.
  Matches(const Characters& text, const Lexicon& lexicon, std::vector<std::uint8_t> parts)
      : text_(text), lexicon_(lexicon), parts_(std::move(parts)), lengths_(text.points.size()) {}

  // Bit n is set if the n letters from there are known.
  unsigned from(Index begin) {
    std::uint16_t& lengths = lengths_[at(begin)];
    if (lengths == 0) lengths = look_up(begin);
    return lengths & ~1u;
  }

 private:
  std::uint16_t look_up(Index begin) const {
    const int part = parts_.empty() ? Lexicon::kAllParts : parts_[at(begin)];
    unsigned found = 1;  // done
    LetterHash hash;
    for (Index n = 1; n <= kLongest && begin + n <= text_.size() && !text_.is_space(begin + n - 1);
         ++n) {
      hash.add(text_.lower[at(begin + n - 1)]);
      if (lexicon_.knows(hash.value(), Lexicon::Kind::token, part)) found |= 1u << n;
    }
    return static_cast<std::uint16_t>(found);
  }

  const Characters& text_;
  const Lexicon& lexicon_;
  std::vector<std::uint8_t> parts_;
  std::vector<std::uint16_t> lengths_;
};

}  // namespace arbora::segmentation
