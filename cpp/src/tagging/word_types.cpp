#include "arbora/tagging/word_types.hpp"

#include <algorithm>
#include <string>

#include "arbora/base/letters.hpp"
#include "arbora/features/vowels.hpp"

namespace arbora::tagging {
namespace {

constexpr std::uint64_t kStart = 0x51ed270b7f4a7c15ULL;
// A part of speech below this share of a form's occurrences is taken for an error.
constexpr std::uint32_t kSmallestShare = 32;
constexpr unsigned kCapital = 4;  // the flag of words that begin with a capital

std::uint64_t hash_tags(std::span<const LexiconEntry> entries,
                        std::span<const std::int32_t> first) {
  std::vector<std::pair<std::uint32_t, Index>> counts;  // few: one of each part of speech
  std::uint32_t all = 0;
  for (const LexiconEntry& entry : entries) {
    const Index tag = tag_of(first, entry.analysis);
    const auto found =
        std::find_if(counts.begin(), counts.end(), [&](auto& one) { return one.second == tag; });
    if (found == counts.end()) {
      counts.emplace_back(entry.count, tag);
    } else {
      found->first += entry.count;
    }
    all += entry.count;
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::uint64_t hash = entries.empty() ? 0 : kStart;
  for (const auto& [count, tag] : counts) {
    if (count * kSmallestShare < all) break;
    hash = mixed(hash + static_cast<std::uint64_t>(tag) + 1);
  }
  return hash;
}

std::uint64_t hash_analyses(std::span<const LexiconEntry> entries) {
  std::uint64_t hash = entries.empty() ? 0 : kStart;
  std::uint32_t all = 0;
  for (const LexiconEntry& entry : entries) all += entry.count;
  for (const LexiconEntry& entry : entries) {
    if (entry.count * kSmallestShare < all) break;
    hash = mixed(hash + entry.analysis + 1U);
  }
  return hash;
}

std::uint64_t flags_of(std::string_view form, std::string_view lower) {
  bool digit = false;
  for (const char c : form) digit = digit || (c >= '0' && c <= '9');
  std::size_t first = 0, first_lower = 0;
  const bool capital = !form.empty() && next_letter(form, first) != next_letter(lower, first_lower);
  const bool capitals = capital && form == upper_case(form);
  const bool hyphen = form.size() > 1 && form.find('-') != std::string_view::npos;
  return 1U + static_cast<unsigned>(digit) + 2U * static_cast<unsigned>(hyphen) +
         kCapital * static_cast<unsigned>(capital) + 8U * static_cast<unsigned>(capitals);
}

void set_affixes(std::string_view lower, WordType& type) {
  const std::vector<std::uint32_t> starts = letter_starts(lower);
  const std::size_t letters = starts.size() - 1;
  for (std::size_t k = 0; k < kPrefixes; ++k) {
    if (k < letters) type.prefixes[k] = hash_text(lower.substr(0, starts[k + 1]));
  }
  for (std::size_t k = 0; k < kSuffixes; ++k) {
    if (k < letters) type.suffixes[k] = hash_text(lower.substr(starts[letters - k - 1]));
  }
}

void set_inner(std::string_view lower, WordType& type) {
  std::u32string letters, skeleton;
  for (std::size_t place = 0; place < lower.size();) {
    letters.push_back(next_letter(lower, place));
    skeleton.push_back(skeleton_letter(letters.back()));
  }
  const auto hash = [](std::u32string_view text) {
    std::uint64_t state = kStart;
    for (const char32_t letter : text) state = mixed(state + letter);
    return state;
  };
  const std::size_t n = letters.size();
  for (std::size_t k = 0; k < kSkeletons && k + kShortestSkeleton <= n; ++k) {
    const std::size_t size = k + kShortestSkeleton;
    type.skeletons[k] = hash({skeleton.data() + n - size, size});
  }
  for (std::size_t end = n; end >= kShortestGram && n - end < kGramEnds; --end) {
    for (std::size_t size = kShortestGram; size <= std::min(kLongestGram, end); ++size) {
      type.grams[type.n_grams++] = hash({letters.data() + end - size, size});
    }
  }
}

void set_stem(std::string_view lower, const WordKnowledge& knowledge, WordType& type) {
  const std::vector<std::uint32_t> starts = letter_starts(lower);
  for (std::size_t size = starts.size() - 1; size-- > kShortestStem;) {
    const auto entries = knowledge.lexicon->find(hash_text(lower.substr(0, starts[size])));
    if (entries.empty()) continue;
    type.stem_tags = hash_tags(entries, knowledge.first_analysis);
    type.stem_analyses = hash_analyses(entries);
    type.stem_rest = hash_text(lower.substr(starts[size]));
    return;
  }
}

void set_clusters(std::string_view form, const Clusters& clusters, WordType& type) {
  const std::span<const ClusterEntry> found = clusters.find(form);
  if (found.empty()) return;
  const auto best = std::max_element(found.begin(), found.end(),
                                     [](auto& a, auto& b) { return a.share < b.share; });
  const std::string_view cluster = clusters.names[best->cluster];
  type.clusters[0] = hash_text(cluster);
  type.clusters[1] = hash_text(cluster.substr(0, 4));
  type.clusters[2] = hash_text(cluster.substr(0, 8));
}

WordType make_type(std::string_view form, const WordKnowledge& knowledge) {
  const std::string lower = lower_case(form);
  WordType type;
  type.form = hash_text(form);
  type.lower = hash_text(lower);
  type.shape = hash_text(shape_of(form, false));
  type.short_shape = hash_text(shape_of(form, true));
  type.flags = flags_of(form, lower);
  type.has_capital = ((type.flags - 1) & kCapital) != 0;
  type.is_small = !type.has_capital && upper_case(form) != form;
  set_affixes(lower, type);
  set_inner(lower, type);
  set_stem(lower, knowledge, type);
  const std::span<const LexiconEntry> own = knowledge.lexicon->find(type.form);
  const std::span<const LexiconEntry> other = knowledge.lexicon->find(type.lower);
  type.is_known = !own.empty();
  type.entries = type.is_known ? own : other;
  type.tags = hash_tags(type.entries, knowledge.first_analysis);
  type.lower_tags = hash_tags(other, knowledge.first_analysis);
  type.analyses = hash_analyses(type.entries);
  if (knowledge.clusters != nullptr) set_clusters(form, *knowledge.clusters, type);
  return type;
}

}  // namespace

Index tag_of(std::span<const std::int32_t> first_analysis, std::uint16_t analysis) {
  return std::upper_bound(first_analysis.begin(), first_analysis.end(),
                          static_cast<std::int32_t>(analysis)) -
         first_analysis.begin() - 1;
}

void TypedWords::add_padding_types() {
  for (const std::string_view name : {"<start-2>", "<start-1>", "<end+1>", "<end+2>"}) {
    WordType pad;
    const std::uint64_t atom = hash_text(name);
    pad.form = pad.lower = pad.shape = pad.short_shape = pad.flags = atom;
    pad.tags = pad.lower_tags = pad.analyses = atom;
    std::fill(std::begin(pad.prefixes), std::end(pad.prefixes), atom);
    std::fill(std::begin(pad.suffixes), std::end(pad.suffixes), atom);
    std::fill(std::begin(pad.clusters), std::end(pad.clusters), atom);
    types_.push_back(pad);
  }
}

void TypedWords::add(const Block& block, Index first, Index last, const WordKnowledge& knowledge) {
  if (types_.empty()) add_padding_types();
  std::unordered_map<std::string_view, std::int32_t> known;
  for (Index s = first; s < last; ++s) {
    numbers_.insert(numbers_.end(), {0, 1});
    first_.push_back(numbers_.size());
    n_words_.push_back(block.words(s));
    offset_.push_back(total_);
    total_ += block.words(s);
    for (Index w = 1; w <= block.words(s); ++w) {
      const std::string_view form = block.field(s, w, Column::form);
      const auto [place, is_new] = known.emplace(form, static_cast<std::int32_t>(types_.size()));
      if (is_new) types_.push_back(make_type(form, knowledge));
      numbers_.push_back(place->second);
    }
    numbers_.insert(numbers_.end(), {2, 3});
  }
}

}  // namespace arbora::tagging
