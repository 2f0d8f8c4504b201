#include "arbora/segmentation/split_rules.hpp"

#include <algorithm>

#include "arbora/features/vowels.hpp"

namespace arbora::segmentation {
namespace {

std::uint64_t hash_of_ends(std::uint64_t left, Index left_size, std::uint64_t right,
                           Index right_size) {
  return features::mixed(left * 3 + right * 5 + static_cast<std::uint64_t>(left_size) * 7 +
                         static_cast<std::uint64_t>(right_size) * 11);
}

std::uint64_t hash_of_letters(const std::u32string& letters) {
  LetterHash hash;
  for (const char32_t letter : letters) hash.add(letter);
  return hash.value();
}

bool matches(const Characters& text, Index begin, const std::u32string& letters) {
  return std::equal(letters.begin(), letters.end(), text.lower.begin() + begin);
}

}  // namespace

SplitRules::SplitRules(std::vector<SplitRule> rules) : rules_(std::move(rules)) {
  for (std::uint32_t r = 0; r < rules_.size(); ++r) {
    const SplitRule& rule = rules_[r];
    LetterHash name, kind;
    const auto add = [&](const std::u32string& letters) {
      for (const char32_t letter : letters) {
        name.add(letter);
        kind.add(skeleton_letter(letter));
      }
      name.add(0);
      kind.add(0);
    };
    add(rule.left);
    add(rule.right);
    for (const std::u32string& word : rule.words) add(word);
    name.add(static_cast<char32_t>(rule.core + 1));
    kind.add(static_cast<char32_t>(rule.core + 1));
    add(rule.before);
    add(rule.after);
    hashes_.push_back(name.value());
    kinds_.push_back(kind.value());
    if (rule.core < 0) {
      by_form_[hash_of_letters(rule.left)].push_back(r);
      continue;
    }
    const auto left = static_cast<Index>(rule.left.size());
    const auto right = static_cast<Index>(rule.right.size());
    const std::pair size(left, right);
    if (std::find(sizes_.begin(), sizes_.end(), size) == sizes_.end()) sizes_.push_back(size);
    by_ends_[hash_of_ends(hash_of_letters(rule.left), left, hash_of_letters(rule.right), right)]
        .push_back(r);
  }
}

void SplitRules::find(const Characters& text, Token token,
                      std::vector<std::uint32_t>& found) const {
  found.clear();
  const Index size = token.end - token.begin;
  if (const auto own = by_form_.find(hash_of_lower(text, token.begin, token.end));
      own != by_form_.end()) {
    for (const std::uint32_t r : own->second) {
      const auto left = static_cast<Index>(rules_[r].left.size());
      if (left == size && matches(text, token.begin, rules_[r].left)) found.push_back(r);
    }
  }
  for (const auto& [left, right] : sizes_) {
    if (left + right >= size) continue;  // something must be left to copy
    const std::uint64_t ends =
        hash_of_ends(hash_of_lower(text, token.begin, token.begin + left), left,
                     hash_of_lower(text, token.end - right, token.end), right);
    const auto some = by_ends_.find(ends);
    if (some == by_ends_.end()) continue;
    for (const std::uint32_t r : some->second) {
      const SplitRule& rule = rules_[r];
      if (static_cast<Index>(rule.left.size()) == left &&
          static_cast<Index>(rule.right.size()) == right && matches(text, token.begin, rule.left) &&
          matches(text, token.end - right, rule.right)) {
        found.push_back(r);
      }
    }
  }
  std::sort(found.begin(), found.end());
}

Token SplitRules::core(std::uint32_t r, Token token) const {
  const SplitRule& rule = rules_[r];
  if (rule.core < 0) return {token.begin, token.begin};
  return {token.begin + static_cast<Index>(rule.left.size()),
          token.end - static_cast<Index>(rule.right.size())};
}

std::uint64_t SplitRules::core_word(std::uint32_t r, const Characters& text, Token token) const {
  const SplitRule& rule = rules_[r];
  const Token core_of = core(r, token);
  LetterHash hash;
  for (const char32_t letter : rule.before) hash.add(letter);
  for (Index i = core_of.begin; i < core_of.end; ++i) hash.add(text.lower[at(i)]);
  for (const char32_t letter : rule.after) hash.add(letter);
  return hash.value();
}

std::vector<std::u32string> SplitRules::apply(std::uint32_t r, const Characters& text,
                                              Token token) const {
  const SplitRule& rule = rules_[r];
  const Token copied = core(r, token);
  Index capitals = 0, small = 0;
  for (Index i = token.begin; i < token.end; ++i) {
    capitals += text.classes[at(i)] == CharacterClass::upper;
    small += text.classes[at(i)] == CharacterClass::lower;
  }
  const bool all_capitals = capitals > 1 && small == 0;
  const auto as_token = [&](std::u32string letters, bool first) {
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (all_capitals || (first && i == 0 && capitals > 0 &&
                           text.classes[at(token.begin)] == CharacterClass::upper)) {
        letters[i] = upper_of(letters[i]);
      }
    }
    return letters;
  };
  std::vector<std::u32string> words;
  for (std::size_t w = 0; w < rule.words.size(); ++w) {
    if (static_cast<int>(w) != rule.core) {
      words.push_back(as_token(rule.words[w], w == 0));
      continue;
    }
    std::u32string word = as_token(rule.before, w == 0);
    word.append(text.points.begin() + copied.begin, text.points.begin() + copied.end);
    words.push_back(word + as_token(rule.after, false));
  }
  return words;
}

}  // namespace arbora::segmentation
