// Whether there is a tree, decided on the graph of allowed arcs before any sum; never from a zero
// or a tiny pivot.
#pragma once

#include <span>
#include <vector>

#include "arbora/tree/arc_scores.hpp"

namespace arbora::tree {

// Beyond this a score is refused: exponents of sums of n such scores still fit wide numbers.
inline constexpr double kLargestScore = 1e14;

// Why a sentence has no tree, and the word that shows it.
enum class Problem : int {
  none = 0,
  no_head = 1,       // the word has no allowed head
  unreachable = 2,   // no path of allowed arcs leads from the root to the word
  no_root = 3,       // no word may be attached to the root (single-root)
  second_root = 4,   // the word can only be reached through a second root arc (single-root)
  crossing = 5,      // every tree has crossing arcs; freeing the head of this word allows one
  crossing_any = 6,  // the same, but no single word's head is the cause
};

struct Verdict {
  Problem problem = Problem::none;
  Index word = 0;
};

Verdict feasibility(ArcScores scores, Trees trees, Root root);

// The words that a single root arc may go to: allowed, and reaching every word over word arcs.
// Indexed by word; empty of `true` if there is no single-root tree.
std::vector<bool> possible_single_roots(ArcScores scores);

// Whether each arc into one of the given words is in a spanning tree, by cell of the scores. There
// is a tree.
std::vector<bool> possible_spanning_arcs(ArcScores scores, Root root,
                                         std::span<const Index> modifiers);

}  // namespace arbora::tree
