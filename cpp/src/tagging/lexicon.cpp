#include "arbora/tagging/lexicon.hpp"

#include <algorithm>
#include <map>

namespace arbora::tagging {

Lexicon::Lexicon(std::vector<std::uint32_t> keys, std::vector<std::uint32_t> ends,
                 std::vector<LexiconEntry> entries)
    : keys_(std::move(keys)), ends_(std::move(ends)), entries_(std::move(entries)), table_(keys_) {}

Lexicon::Lexicon(const Block& block, const std::int32_t* analyses, Index hidden_first,
                 Index hidden_last) {
  constexpr std::uint32_t kMost = 0xFFFF;
  std::map<std::uint32_t, std::map<std::int32_t, std::uint32_t>> counts;
  for (Index s = 0; s < block.sentences(); ++s) {
    if (s >= hidden_first && s < hidden_last) continue;
    for (Index w = 1; w <= block.words(s); ++w) {
      const std::uint64_t form = hash_text(block.field(s, w, Column::form));
      ++counts[short_key(form)][analyses[block.first_word(s) + w - 1]];
    }
  }
  for (const auto& [key, found] : counts) {
    const std::size_t begin = entries_.size();
    for (const auto& [analysis, count] : found) {
      entries_.push_back({static_cast<std::uint16_t>(analysis),
                          static_cast<std::uint16_t>(std::min(count, kMost))});
    }
    std::stable_sort(
        entries_.begin() + static_cast<std::ptrdiff_t>(begin), entries_.end(),
        [](const LexiconEntry& a, const LexiconEntry& b) { return a.count > b.count; });
    keys_.push_back(key);
    ends_.push_back(static_cast<std::uint32_t>(entries_.size()));
  }
  table_ = KeyTable(keys_);
}

std::span<const LexiconEntry> Lexicon::find(std::uint64_t form) const {
  const std::int32_t row = table_.find(short_key(form));
  if (row == kNoRow) return {};
  const std::size_t begin = row == 0 ? 0 : ends_[at(row - 1)];
  return {entries_.data() + begin, ends_[at(row)] - begin};
}

}  // namespace arbora::tagging
