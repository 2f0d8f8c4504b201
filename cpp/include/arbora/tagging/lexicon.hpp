// The analyses that forms had in a treebank.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "arbora/base/types.hpp"
#include "arbora/data/block.hpp"
#include "arbora/features/hash.hpp"
#include "arbora/tagging/key_table.hpp"

namespace arbora::tagging {

// An analysis is a number of the tag set; analyses of one part of speech are neighbours.
struct LexiconEntry {
  std::uint16_t analysis;
  std::uint16_t count;
};

class Lexicon {
 public:
  Lexicon() = default;
  // `ends[i]` is the end of the entries of form i, which begin where those of i - 1 end.
  Lexicon(std::vector<std::uint32_t> keys, std::vector<std::uint32_t> ends,
          std::vector<LexiconEntry> entries);
  // From the words of a block, without those of some sentences: first, ..., last - 1.
  Lexicon(const Block& block, const std::int32_t* analyses, Index hidden_first, Index hidden_last);

  // The most frequent analysis first; empty if the form is unknown.
  std::span<const LexiconEntry> find(std::uint64_t form) const;

  const std::vector<std::uint32_t>& keys() const { return keys_; }
  const std::vector<std::uint32_t>& ends() const { return ends_; }
  const std::vector<LexiconEntry>& entries() const { return entries_; }

 private:
  std::vector<std::uint32_t> keys_, ends_;
  std::vector<LexiconEntry> entries_;
  KeyTable table_;
};

}  // namespace arbora::tagging
