#include "arbora/data/line.hpp"

#include <algorithm>

namespace arbora::data {

std::string quoted(std::string_view field) {
  constexpr std::size_t most = 40;
  std::size_t end = std::min(field.size(), most);
  const bool is_cut = end < field.size();
  while (is_cut && (static_cast<unsigned char>(field[end]) & 0xC0) == 0x80) --end;
  std::string text(1, '\'');
  return text.append(field.substr(0, end)).append(is_cut ? "...'" : "'");
}

// The advice for a file whose first bytes are those of a compressed file, or of UTF-16.
std::string advice_on_bytes(std::string_view line) {
  if (line.starts_with("\x1f\x8b")) {
    return "this is a gzip file, so give it a name that ends in .gz";
  }
  const bool wide = line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff");
  if (!wide && line.find('\0') != line.npos) return kBinary;
  return std::string("convert the file to UTF-8, for instance with iconv -f ") +
         (wide ? "utf-16" : "latin1") + " -t utf-8";
}

}  // namespace arbora::data
