// Repeated searches for the best tree over few arcs while weights change, for dual decomposition.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/inference/arc_order.hpp"
#include "arbora/inference/best_tree.hpp"

namespace arbora::inference {

// Every word's best head comes from its few arcs. The dense search runs only if these make a cycle;
// Eisner's algorithm only if the best spanning tree is not projective.
class TreeSearch {
 public:
  TreeSearch(const ArcOrder& order, Trees trees, Root root);

  // Arcs go by their numbers in the order; all weights are 0 at first.
  double weight(Index arc) const { return by_link_[at(links_[at(arc)])]; }
  void set_weight(Index arc, double weight) {
    by_link_[at(links_[at(arc)])] = weight;
    columns_[at(column_cells_[at(arc)])] = weight;
    if (trees_ == Trees::projective) matrix_[at(cells_[at(arc)])] = weight;
  }

  // False if there is no tree.
  bool best(std::int32_t* heads, Workspace& workspace);

 private:
  bool spanning(std::int32_t* heads, Workspace& workspace);
  bool take_best_heads(Index first_head);
  bool is_tree();

  Trees trees_;
  Root root_;
  Index n_words_, stride_;
  std::vector<std::int32_t> links_, first_link_, heads_of_links_;
  std::vector<Index> cells_, column_cells_;
  std::vector<double> by_link_, columns_, matrix_;
  std::vector<double> best_, head_;  // of every word, independently
  std::vector<std::int32_t> seen_;
};

}  // namespace arbora::inference
