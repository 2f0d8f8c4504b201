#include "arbora/tagging/lemma_rules.hpp"

#include <algorithm>
#include <vector>

#include "arbora/base/letters.hpp"
#include "arbora/features/hash.hpp"

namespace arbora::tagging {
namespace {

struct Common {
  std::size_t in_form = 0, in_lemma = 0, size = 0;  // in letters
};

// The longest common substring, of equal ones the first in the form, then in the lemma.
Common longest_common(std::string_view form, const std::vector<std::uint32_t>& form_starts,
                      std::string_view lemma, const std::vector<std::uint32_t>& lemma_starts) {
  const std::size_t n = form_starts.size() - 1, m = lemma_starts.size() - 1;
  const auto letter = [](std::string_view text, const std::vector<std::uint32_t>& starts,
                         std::size_t i) {
    return text.substr(starts[i], starts[i + 1] - starts[i]);
  };
  std::vector<std::size_t> before(m + 1, 0), here(m + 1, 0);
  Common best;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= m; ++j) {
      const bool same = letter(form, form_starts, i - 1) == letter(lemma, lemma_starts, j - 1);
      here[j] = same ? before[j - 1] + 1 : 0;
      if (here[j] > best.size) best = {i - here[j], j - here[j], here[j]};
    }
    std::swap(before, here);
  }
  return best;
}

constexpr std::size_t kLongest = 64;  // letters; the search is quadratic

}  // namespace

std::string in_case(std::string_view form, LetterCase letter_case) {
  switch (letter_case) {
    case LetterCase::lower:
      return lower_case(form);
    case LetterCase::title:
      return title_case(form);
    case LetterCase::upper:
      return upper_case(form);
    case LetterCase::keep:
      break;
  }
  return std::string(form);
}

LemmaRule find_rule(std::string_view form, std::string_view lemma) {
  LemmaRule best;
  best.is_whole = true;
  best.add_prefix = lemma;
  const std::vector<std::uint32_t> lemma_starts = letter_starts(lemma);
  std::size_t longest = 0;
  for (int k = 0; k < kLetterCases; ++k) {
    const auto letter_case = static_cast<LetterCase>(k);
    const std::string changed = in_case(form, letter_case);
    const std::vector<std::uint32_t> starts = letter_starts(changed);
    if (starts.size() > kLongest || lemma_starts.size() > kLongest) {
      if (changed == lemma) return {letter_case, false, {}, {}, {}, {}};
      continue;
    }
    const Common common = longest_common(changed, starts, lemma, lemma_starts);
    if (common.size <= longest) continue;
    longest = common.size;
    best.letter_case = letter_case;
    best.is_whole = false;
    best.cut_prefix = changed.substr(0, starts[common.in_form]);
    best.cut_suffix = changed.substr(starts[common.in_form + common.size]);
    best.add_prefix = std::string(lemma.substr(0, lemma_starts[common.in_lemma]));
    best.add_suffix = std::string(lemma.substr(lemma_starts[common.in_lemma + common.size]));
  }
  return best;
}

bool apply_rule(const LemmaRule& rule, std::string_view form, std::string& lemma) {
  if (rule.is_whole) {
    lemma = rule.add_prefix;
    return !lemma.empty();
  }
  const std::size_t cut = rule.cut_prefix.size() + rule.cut_suffix.size();
  if (form.size() <= cut || !form.starts_with(rule.cut_prefix) ||
      !form.ends_with(rule.cut_suffix)) {
    return false;
  }
  lemma = rule.add_prefix;
  lemma.append(form.substr(rule.cut_prefix.size(), form.size() - cut));
  lemma.append(rule.add_suffix);
  return lemma.front() != ' ' && lemma.back() != ' ';
}

std::uint64_t hash_rule(const LemmaRule& rule) {
  std::string text = rule.cut_prefix;
  for (const std::string* part : {&rule.cut_suffix, &rule.add_prefix, &rule.add_suffix}) {
    text.push_back('\n');
    text.append(*part);
  }
  text.push_back(static_cast<char>('0' + static_cast<int>(rule.letter_case)));
  text.push_back(rule.is_whole ? 'w' : 'p');
  return hash_text(text);
}

}  // namespace arbora::tagging
