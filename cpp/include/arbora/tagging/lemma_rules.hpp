// Rules that turn a form into its lemma: change the case, replace a prefix and a suffix; or, for
// words whose lemma shares no letter with them, the whole lemma.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "arbora/layers.hpp"

namespace arbora::tagging {

enum class LetterCase : std::uint8_t { keep = 0, lower = 1, title = 2, upper = 3 };
inline constexpr int kLetterCases = 4;

struct LemmaRule {
  LetterCase letter_case = LetterCase::keep;
  bool is_whole = false;  // the lemma is add_prefix, whatever the form is
  std::string cut_prefix, cut_suffix, add_prefix, add_suffix;

  bool operator==(const LemmaRule&) const = default;
};

std::string in_case(std::string_view form, LetterCase letter_case);

// The rule that leaves most of the form: the longest common substring of the form, in one of the
// cases, and the lemma stays. Of equal ones the first case, and the first place in the form.
LemmaRule find_rule(std::string_view form, std::string_view lemma);

// Applies a rule to a form that is in the rule's case. False if it does not fit, or would leave no
// letter of the form, or would make something that a column cannot hold.
bool apply_rule(const LemmaRule& rule, std::string_view form, std::string& lemma);

std::uint64_t hash_rule(const LemmaRule& rule);

}  // namespace arbora::tagging
