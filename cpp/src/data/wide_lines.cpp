#include "arbora/data/wide_lines.hpp"

#include <algorithm>

#include "arbora/data/line.hpp"

namespace arbora::data {

std::optional<std::string> WideLines::split(std::string_view line, bool first) {
  line_ = line;
  ends_.clear();
  for_tabs(line, [&](std::size_t tab) { ends_.push_back(static_cast<std::uint32_t>(tab)); });
  ends_.push_back(static_cast<std::uint32_t>(line.size()));
  const std::size_t columns = ends_.size(), fewest = layout_.columns.size();
  if (columns < fewest || (columns > fewest && layout_.further.empty())) {
    if (line.find('\0') != line.npos) return std::string("the line has zero bytes; ") + kBinary;
    return "the line has " + std::to_string(columns) + " column" + (columns == 1 ? "" : "s") +
           " and " + layout_.title + " has " + (layout_.further.empty() ? "" : "at least ") +
           std::to_string(fewest) +
           "; separate columns by single tabs and write _ for what is empty";
  }
  if (first) columns_ = columns;
  if (columns != columns_) {
    return "the line has " + std::to_string(columns) + " columns where the sentence began with " +
           std::to_string(columns_) + "; give all words of a sentence the same number of columns";
  }
  return std::nullopt;
}

std::string_view WideLines::field(int place) const {
  const auto at = static_cast<std::size_t>(place);
  const std::uint32_t begin = at == 0 ? 0 : ends_[at - 1] + 1;
  return line_.substr(begin, ends_[at] - begin);
}

void WideLines::append_row(std::uint32_t start, std::vector<std::uint32_t>& rows) {
  const auto append = [&](std::vector<std::uint32_t>& to, int place) {
    const auto at = static_cast<std::size_t>(place);
    to.push_back(place < 0 ? kAbsent : start + (place == 0 ? 0 : ends_[at - 1] + 1));
    to.push_back(place < 0 ? kAbsent : start + ends_[at] + 1);
  };
  for (const int place : layout_.places) append(rows, place);
  for (const int place : layout_.substitutes) append(substitutes_, place);
}

void WideLines::substitute(std::string_view text, std::span<std::uint32_t> rows) const {
  const auto is_given = [&](const std::uint32_t* at) {
    return at[0] != kAbsent && text.substr(at[0], at[1] - at[0] - 1) != "_";
  };
  for (std::size_t column = 0; column < kColumns; ++column) {
    if (layout_.substitutes[column] < 0) continue;
    bool given = false, other = false;
    for (std::size_t at = 2 * column; at < rows.size(); at += kWideRow) {
      given |= is_given(rows.data() + at);
      other |= is_given(substitutes_.data() + at);
    }
    if (given || !other) continue;
    for (std::size_t at = 2 * column; at < rows.size(); at += kWideRow) {
      rows[at] = substitutes_[at];
      rows[at + 1] = substitutes_[at + 1];
    }
  }
}

}  // namespace arbora::data
