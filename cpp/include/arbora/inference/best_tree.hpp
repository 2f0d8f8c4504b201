// Best spanning trees and best projective trees.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/base/workspace.hpp"
#include "arbora/tree/arc_scores.hpp"

namespace arbora::inference {

// The best spanning tree in O(n^2): Tarjan's (1977) dense version of Chu-Liu/Edmonds, contraction
// in a loop. Of equally good heads for a word it prefers the nearest, then the leftmost. Returns
// false if there is no tree. heads[m - 1] is the head of word m.
bool best_spanning_tree(ArcScores scores, Root root, std::int32_t* heads, Workspace& workspace);

// Arc scores with those into a word together, [modifier, head], each column padded with kForbidden
// to a stride of whole packs.
struct ArcColumns {
  const double* first;
  Index n_words, stride;

  const double* column(Index modifier) const { return first + modifier * stride; }
};

// The same search, or its second half: `best` and `head` are each word's best score and head, among
// words only for Root::single, with room for whole packs.
bool best_spanning_tree_from(ArcColumns columns, Root root, const double* best, const double* head,
                             std::int32_t* heads, Workspace& workspace);

// The best projective tree in O(n^3) (Eisner 1996); of equally good splits, the leftmost.
bool best_projective_tree(ArcScores scores, Root root, std::int32_t* heads, Workspace& workspace);

inline bool best_tree(ArcScores scores, Trees trees, Root root, std::int32_t* heads,
                      Workspace& workspace) {
  return trees == Trees::projective ? best_projective_tree(scores, root, heads, workspace)
                                    : best_spanning_tree(scores, root, heads, workspace);
}

// Sum of the scores of a tree's arcs, in word order.
double score_of(ArcScores scores, const std::int32_t* heads);

// For every allowed arc, the score of the best tree with it minus that of the best tree without it:
// +inf for an arc that every tree has, -inf for an arc that no tree has.
void spanning_margins(ArcScores scores, Root root, double* margins, Workspace& workspace);
void projective_margins(ArcScores scores, Root root, double* margins, Workspace& workspace);

// Turns the scores of the best trees with each arc, (n+1) x (n+1), into such margins: the best tree
// without an arc is the best with another head.
void subtract_best_without(double* best_with, Index n_words);

}  // namespace arbora::inference
