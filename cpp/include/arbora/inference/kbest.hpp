// The k best trees, exact, distinct and in order, for any class of trees with a best-tree search.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "arbora/tree/arc_scores.hpp"

namespace arbora {

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
  std::vector<std::int32_t> labels;  // likewise
  double score = 0.0;
};

// Set by someone who no longer wants the answer: long sentences take minutes.
using StopFlag = std::atomic<bool>;

// Fewer than k if there are fewer trees (with labels: pairs of a tree and its labels), or if `stop`
// (may be null) was set meanwhile.
std::vector<RankedTree> kbest_trees(LabelledScores scores, Trees trees, Root root, Index k,
                                    const StopFlag* stop = nullptr);

}  // namespace arbora
