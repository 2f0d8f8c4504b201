// The input of the tagger's feature templates: the different forms of a block as atoms.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "arbora/base/types.hpp"
#include "arbora/data/block.hpp"
#include "arbora/features/words.hpp"
#include "arbora/tagging/lexicon.hpp"

namespace arbora::tagging {

inline constexpr std::size_t kPrefixes = 4, kSuffixes = 6, kSkeletons = 7;
// Sequences of letters inside of a word: those of 2 to 4 letters that end in its last 8 letters.
inline constexpr std::size_t kShortestGram = 2, kLongestGram = 4, kGramEnds = 8;
inline constexpr std::size_t kMostGrams = kGramEnds * (kLongestGram - kShortestGram + 1);
inline constexpr std::size_t kShortestSkeleton = 2, kShortestStem = 3;  // letters
// Room for the words around a sentence, at both ends.
inline constexpr Index kPadding = 2;

struct WordType {
  std::uint64_t form = 0, lower = 0, shape = 0, short_shape = 0;
  std::uint64_t prefixes[kPrefixes] = {}, suffixes[kSuffixes] = {};  // of the lower case
  // Suffixes in which all vowels are the same letter: endings differ in them by vowel harmony.
  std::uint64_t skeletons[kSkeletons] = {};
  std::uint64_t grams[kMostGrams] = {};
  std::size_t n_grams = 0;
  // The longest beginning that is itself a known form: its parts of speech and analyses, and the
  // rest of the word. 0 without one.
  std::uint64_t stem_tags = 0, stem_analyses = 0, stem_rest = 0;
  std::uint64_t flags = 0;  // has a digit, has a hyphen, begins with a capital, is all capitals
  bool has_capital = false,
       is_small = false;  // begins with a capital; has small letters and does not
  // The parts of speech that the form had, most frequent first; the same for its lower case; its
  // analyses. The atom of a form that is unknown in both cases is 0.
  std::uint64_t tags = 0, lower_tags = 0, analyses = 0;
  std::uint64_t clusters[3] = {};         // the word's cluster and two prefixes of it, or 0
  std::span<const LexiconEntry> entries;  // of the form, or else of its lower case
  bool is_known = false;                  // whether they are the form's own
};

// Where the words get their atoms from. `first_analysis[t]` is the first analysis of tag t.
struct WordKnowledge {
  const Lexicon* lexicon;
  std::span<const std::int32_t> first_analysis;
  const Clusters* clusters;
};

// Words as numbers of types. Types 0 to 3 are the padding before and after a sentence.
class TypedWords {
 public:
  // Appends sentences first, ..., last - 1 of a block; knowledge must outlive this object.
  void add(const Block& block, Index first, Index last, const WordKnowledge& knowledge);

  Index sentences() const { return static_cast<Index>(first_.size()); }
  Index words(Index sentence) const { return n_words_[at(sentence)]; }
  // The number of words before a sentence.
  Index offset(Index sentence) const { return offset_[at(sentence)]; }
  Index total_words() const { return total_; }
  // Types of the words of a sentence; kPadding of them on either side may be read.
  const std::int32_t* types_of(Index sentence) const {
    return numbers_.data() + first_[at(sentence)];
  }
  const std::vector<WordType>& types() const { return types_; }

 private:
  void add_padding_types();

  std::vector<WordType> types_;
  std::vector<std::int32_t> numbers_;
  std::vector<std::size_t> first_;
  std::vector<Index> n_words_, offset_;
  Index total_ = 0;
};

// The part of speech of an analysis.
Index tag_of(std::span<const std::int32_t> first_analysis, std::uint16_t analysis);

}  // namespace arbora::tagging
