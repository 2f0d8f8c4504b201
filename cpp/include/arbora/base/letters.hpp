// Letters of UTF-8 text: where they begin, their case, and the shape of a word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arbora/layers.hpp"

namespace arbora::base {

// The letter in the other case; itself if there is none, or if it would be several letters.
char32_t to_lower(char32_t letter);
char32_t to_upper(char32_t letter);

// The letter that begins at `at`, which is moved past it. A byte that is not UTF-8 is a letter.
char32_t next_letter(std::string_view text, std::size_t& at);
void append_letter(std::string& text, char32_t letter);

std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);
// The first letter in upper case, all others in lower case.
std::string title_case(std::string_view text);

// The first bytes of all letters, and the size of the text.
std::vector<std::uint32_t> letter_starts(std::string_view text);

// A letter for every letter: X, x, 9, the letter itself for ASCII punctuation, and o for letters
// without case. In short shapes, runs of the same kind are one.
std::string shape_of(std::string_view text, bool is_short);

}  // namespace arbora::base
