// Writes sentences with new trees. HEAD and DEPREL are replaced; in CoNLL-U, items of MISC and
// comments can be added or removed. Every other byte is unchanged: ID, FORM, LEMMA, UPOS, XPOS,
// FEATS, DEPS (PHEAD), in CoNLL-X PDEPREL, multiword tokens, empty nodes, comments, line ends.
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

// One entry per word (comments: per sentence), in the order of the sentences that are rendered.
struct NewColumns {
  const std::int32_t* heads = nullptr;   // null: as they are; kNoHead: _
  const std::int32_t* labels = nullptr;  // null: as they are; -1: _
  std::span<const std::string_view> label_names;
  std::span<const MiscItems> misc;
  const std::string_view* comments = nullptr;  // lines joined by \n, without a last \n
  // Keys of MISC and of comments to remove, because they are about the old tree.
  std::span<const std::string_view> forgotten;
};

// A sentence may occur several times (k best trees); the lines before and after it in the file are
// then written once. Throws std::invalid_argument if the text could not be read back.
std::string render(const Block& block, std::span<const std::int64_t> sentences,
                   const NewColumns& columns);

// The same without changes, for the sentences first, ..., last - 1.
std::string copy(const Block& block, std::int64_t first, std::int64_t last);

// The separator to append to a text before another sentence.
std::string_view missing_separator(std::string_view text);

}  // namespace arbora::data
