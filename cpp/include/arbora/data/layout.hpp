// Which columns the lines of a format have, and which of them hold what Arbora works with.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace arbora::data {

// What a word has, by the names of CoNLL-U.
enum class Column : int { id, form, lemma, upos, xpos, feats, head, deprel, deps, misc };

inline constexpr int kColumns = 10;
using Places = std::array<int, kColumns>;
inline constexpr Places kInOrder = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
inline constexpr Places kNowhere = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

// The default is CoNLL-U. ID is the first column of every format.
struct Layout {
  std::string name = "conllu";
  std::string title = "CoNLL-U";
  // the names of the columns that every line has, for messages
  std::vector<std::string> columns = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                      "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};
  // the name of the columns that may follow, as many on every line of a sentence; empty: none may
  std::string further = {};
  Places places = kInOrder;  // which column of the line it is; -1: the format has none
  // Where else a sentence has it if its whole column is _; -1: nowhere. It is read from there, but
  // what replaces it is written to its place.
  Places substitutes = kNowhere;
  // CoNLL-U: MISC has items, and no column has spaces around it
  bool universal = true;

  int place(Column column) const { return places[static_cast<std::size_t>(column)]; }
  bool has(Column column) const { return place(column) >= 0; }
  // Ten columns in the order of `Column`: CoNLL-U and CoNLL-X. Such lines are indexed without a
  // detour, and may be multiword tokens and empty nodes.
  bool in_order() const {
    return columns.size() == kColumns && further.empty() && places == kInOrder &&
           substitutes == kNowhere;
  }
};

// Throws std::invalid_argument if the columns and the places do not fit each other.
void check_layout(const Layout& layout);

}  // namespace arbora::data
