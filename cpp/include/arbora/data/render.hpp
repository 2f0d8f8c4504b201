// Sentences as text again, with new columns. HEAD, DEPREL and whatever else is given are replaced,
// in CoNLL-U items can be added to MISC, and comments can be added, both also left out; every other
// byte stays as it is: all other columns, multiword tokens, empty nodes, comments, line ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "arbora/data/block.hpp"

namespace arbora::data {

// `key=value` of every word, in place of an earlier value of that key: numbers with a fixed number
// of decimals (NaN for none) or texts (empty for none).
struct MiscItems {
  std::string_view key;
  const double* numbers = nullptr;
  int decimals = 4;
  const std::string_view* texts = nullptr;
};

// A whole column; formats that lack it refuse it.
struct NewTexts {
  Column column;
  const std::string_view* texts;
};

// One entry per word (comments: per sentence), in the order of the sentences that are rendered.
struct NewColumns {
  const std::int32_t* heads = nullptr;   // null: as they are; kNoHead: _
  const std::int32_t* labels = nullptr;  // null: as they are; -1: _
  std::span<const std::string_view> label_names;
  std::span<const NewTexts> texts;  // of columns other than ID, HEAD and DEPREL
  std::span<const MiscItems> misc;
  const std::string_view* comments = nullptr;  // lines joined by \n, without a last \n
  // Keys of MISC and of comments that are left out: what they said is no longer true.
  std::span<const std::string_view> forgotten;
};

// A sentence may be named several times (k best trees): what stands before and after it in the file
// is then written once. Throws std::invalid_argument if the answer would not be read back.
std::string render(const Block& block, std::span<const std::int64_t> sentences,
                   const NewColumns& columns);

// The same with nothing changed, for the sentences first, ..., last - 1.
std::string copy(const Block& block, std::int64_t first, std::int64_t last);

// What must follow a text before another sentence can be written.
std::string_view missing_separator(std::string_view text);

}  // namespace arbora::data
