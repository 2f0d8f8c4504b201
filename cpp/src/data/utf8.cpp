#include <cstring>

#include "arbora/data/block.hpp"

namespace arbora::data {
namespace {

// Bytes of the character at `at` (1 to 4), or 0 if it is not UTF-8: overlong forms, surrogates and
// characters above U+10FFFF are rejected, as in Python.
std::size_t character(const unsigned char* at, std::size_t left) {
  const unsigned char lead = at[0];
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || size > left) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((at[i] & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = at[1];
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return size;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t at = 0;
  while (at < text.size()) {
    if (at + 8 <= text.size()) {  // eight ASCII bytes at a time
      std::uint64_t eight;
      std::memcpy(&eight, bytes + at, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const std::size_t size = character(bytes + at, text.size() - at);
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

}  // namespace arbora::data
