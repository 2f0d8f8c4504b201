// The variables of a sentence's factor graph: one for every kept arc, on or off.
//
// An arc that a score of -inf forbids keeps its number, but is never on, and messages to it do not
// matter.
#pragma once

#include <vector>

#include "arbora/inference/arc_order.hpp"

namespace arbora::inference {

class ArcVariables {
 public:
  // `table` holds the scores of the cells of (n+1) x (n+1).
  void set(const PartIndex& parts, const double* table);

  const PartIndex& parts() const { return *parts_; }
  const ArcOrder& order() const { return order_; }
  Index size() const { return order_.size(); }
  bool possible(Index arc) const { return scores[static_cast<std::size_t>(arc)] != kForbidden; }

  // A message that no other messages to an arc can outweigh: none of them exceeds the scores that
  // it is made of.
  double certain() const { return certain_; }
  // `sizes` bounds the other messages to each arc together.
  void bound(const std::vector<double>& sizes);

  // Values of arcs from a table into the graph's order (forbidden arcs keep what they have), and
  // back (0 for forbidden arcs).
  void read(const double* table, double* of_arcs) const;
  void write(const double* of_arcs, double* table) const;

  std::vector<double> scores;  // by arc

 private:
  const PartIndex* parts_ = nullptr;
  ArcOrder order_;
  double certain_ = 0.0;
};

}  // namespace arbora::inference
