#include "arbora/data/compose.hpp"

#include <stdexcept>
#include <vector>

namespace arbora::data {
namespace {

bool fits(std::string_view text) {
  return !text.empty() && text.front() != ' ' && text.back() != ' ' &&
         text.find_first_of("\t\r\n") == text.npos;
}

// What each column of the line gets, in the order of the line; null is _.
std::vector<const std::string_view*> in_line_order(const Layout& layout,
                                                   std::span<const GivenColumn> given) {
  std::vector<const std::string_view*> texts(layout.columns.size(), nullptr);
  for (const GivenColumn& each : given) {
    if (!layout.has(each.column)) {
      throw std::invalid_argument(layout.title + " has no " +
                                  Layout().columns[static_cast<std::size_t>(each.column)] +
                                  " column");
    }
    texts[static_cast<std::size_t>(layout.place(each.column))] = each.texts;
  }
  return texts;
}

}  // namespace

std::string compose(const Layout& layout, const GivenColumns& columns) {
  const auto texts = in_line_order(layout, columns.texts);
  const auto head_place = static_cast<std::size_t>(layout.place(Column::head));
  std::string out;
  std::size_t at = 0;
  for (std::size_t s = 0; s < columns.n_words.size(); ++s) {
    if (columns.comments != nullptr) out += columns.comments[s];
    for (std::int64_t word = 1; word <= columns.n_words[s]; ++word, ++at) {
      out += std::to_string(word);
      for (std::size_t place = 1; place < texts.size(); ++place) {
        out += '\t';
        if (place == head_place && columns.heads != nullptr && columns.heads[at] >= 0) {
          out += std::to_string(columns.heads[at]);
        } else if (texts[place] == nullptr) {
          out += '_';
        } else {
          if (!fits(texts[place][at])) throw std::invalid_argument("a text fits no column");
          out += texts[place][at];
        }
      }
      out += '\n';
    }
    out += '\n';
  }
  return out;
}

}  // namespace arbora::data
