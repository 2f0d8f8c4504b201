// Small things about lines of text that reading is made of.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace arbora::data {

inline bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == line.npos;
}

// A number as one writes it, of digits only and not huge, or -1.
inline std::int64_t number(std::string_view digits) {
  if (digits.empty() || digits.size() > 9 || (digits[0] == '0' && digits.size() > 1)) return -1;
  std::int64_t value = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return -1;
    value = 10 * value + (digit - '0');
  }
  return value;
}

// Calls take(place) for every tab, looking at eight bytes at a time: fields are too short for a
// search of each.
template <class Take>
void for_tabs(std::string_view line, Take take) {
  constexpr std::uint64_t low = 0x7F7F7F7F7F7F7F7Fu, tabs = 0x0909090909090909u;
  std::size_t at = 0;
  if constexpr (std::endian::native == std::endian::little) {
    for (; at + 8 <= line.size(); at += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, line.data() + at, 8);
      eight ^= tabs;
      // the high bit of every byte that is zero now, and of no other
      std::uint64_t found = ~(((eight & low) + low) | eight | low);
      for (; found != 0; found &= found - 1) {
        take(at + static_cast<std::size_t>(std::countr_zero(found)) / 8);
      }
    }
  }
  for (; at < line.size(); ++at) {
    if (line[at] == '\t') take(at);
  }
}

// A field in a message: short, and cut between characters.
std::string quoted(std::string_view field);

// What to do about a line that is not UTF-8.
std::string advice_on_bytes(std::string_view line);

inline constexpr const char* kBinary = "this is not a text file, so give a CoNLL file";

}  // namespace arbora::data
