// Counts for statistics of treebanks.
#pragma once

#include <cstdint>

#include "arbora/layers.hpp"

namespace arbora::data {

struct TreeShape {
  // arcs with a word strictly between their ends that the head does not dominate; arcs from the
  // root are never among them
  std::int64_t nonprojective = 0;
  // arcs that cross another one, with the root at position 0, left of the sentence
  std::int64_t crossing = 0;
  std::int64_t roots = 0;
};

// heads as in Block::heads. A missing head is no arc; a word on a cycle is dominated by nothing.
TreeShape tree_shape(const std::int32_t* heads, std::int64_t n_words);

}  // namespace arbora::data
