// The k best trees, exact, distinct and in order, for any class of trees with a best-tree search.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/tree/arc_scores.hpp"

namespace arbora::inference {

// Scores with labels: n_labels numbers per arc. Without labels n_labels is 1.
struct LabelledScores {
  const double* first;
  Index n_words;
  Index n_labels;

  Index side() const { return n_words + 1; }
  const double* labels(Index head, Index modifier) const {
    return first + (head * side() + modifier) * n_labels;
  }
};

struct RankedTree {
  std::vector<std::int32_t> heads;   // of words 1..n
  std::vector<std::int32_t> labels;  // of words 1..n
  double score = 0.0;
};

// Fewer than k if there are fewer trees (with labels: pairs of a tree and its labels).
std::vector<RankedTree> kbest_trees(LabelledScores scores, Trees trees, Root root, Index k);

}  // namespace arbora::inference
