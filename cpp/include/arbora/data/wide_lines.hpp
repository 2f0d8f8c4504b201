// Lines of formats whose columns are not the ten of CoNLL-U in their order: split into fields, and
// rows of the block's index made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arbora/data/layout.hpp"

namespace arbora::data {

inline constexpr std::uint32_t kAbsent = 0xFFFFFFFFU;  // start and end of what a format lacks
inline constexpr std::size_t kWideRow = 2 * kColumns;  // a start and an end of each column

class WideLines {
 public:
  explicit WideLines(const Layout& layout) : layout_(layout) {}

  // Splits a line, the first one of a sentence or not; what is wrong with its number of columns.
  std::optional<std::string> split(std::string_view line, bool first);
  int fields() const { return static_cast<int>(ends_.size()); }
  std::string_view field(int place) const;

  // Appends the line's row, given where the line starts in the text; keeps the substitutes.
  void append_row(std::uint32_t start, std::vector<std::uint32_t>& rows);
  // A column that is _ in the whole sentence is read from its substitute, if that is not.
  void substitute(std::string_view text, std::span<std::uint32_t> rows) const;
  void forget_sentence() { substitutes_.clear(); }

 private:
  const Layout& layout_;
  std::string_view line_;
  std::vector<std::uint32_t> ends_;         // of the line's fields
  std::vector<std::uint32_t> substitutes_;  // a row of each line of the sentence
  std::size_t columns_ = 0;                 // of the sentence's first line
};

}  // namespace arbora::data
