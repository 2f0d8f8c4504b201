// New sentences as text, from columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "arbora/data/layout.hpp"

namespace arbora::data {

// A column of all words, sentence after sentence.
struct GivenColumn {
  Column column;
  const std::string_view* texts;
};

struct GivenColumns {
  std::span<const std::int64_t> n_words;       // of each sentence
  std::span<const GivenColumn> texts;          // the others are _; ID and HEAD are not among them
  const std::int32_t* heads = nullptr;         // null: all are missing; -1: missing
  const std::string_view* comments = nullptr;  // of each sentence: lines that end in \n; null: none
};

// Throws std::invalid_argument if a text cannot stand in a column, and if the layout has no such
// column.
std::string compose(const Layout& layout, const GivenColumns& columns);

}  // namespace arbora::data
