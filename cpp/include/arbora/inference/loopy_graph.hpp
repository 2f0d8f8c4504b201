// A sentence as a factor graph: a variable for every kept arc, on or off, and
//
//   - its score, a factor of its own;
//   - a factor over two arcs for every pair of siblings and every grandparent;
//   - a factor for the walks of every head (consecutive siblings, grandsiblings, and grandparents
//     where they are asked for), over the arcs of its modifiers and, with grandparents, over those
//     from its possible heads;
//   - a factor over all arcs that allows trees only.
//
// Cycles and other things that no tree has are the tree's to forbid: a factor that says so again
// would be heard twice.
//
// An arc that a score of -inf forbids keeps its number, but is never on, and what it hears is of no
// consequence. Pairs that no tree can have are left out: those that close a cycle and, in
// projective trees, those whose grandparent lies between head and modifier.
#pragma once

#include <optional>
#include <vector>

#include "arbora/inference/arc_order.hpp"
#include "arbora/inference/head_automata.hpp"
#include "arbora/inference/pair_rows.hpp"

namespace arbora::inference {

struct LoopySettings {
  Trees trees = Trees::nonprojective;
  Root root = Root::single;
  Index iterations = 4;
  double damping = 0.0;
  bool parallel = false;               // all factors at once, instead of the tree last
  bool grandparents_in_walks = false;  // instead of one factor for each
};

class LoopyGraph {
 public:
  void set(const PartIndex& parts, const PartScores& scores, const LoopySettings& settings);

  const PartIndex& parts() const { return *parts_; }
  const ArcOrder& order() const { return order_; }
  Index n_arcs() const { return order_.size(); }
  Index n_pairs() const { return static_cast<Index>(first.size()); }
  bool possible(Index arc) const { return arc_scores[static_cast<std::size_t>(arc)] != kForbidden; }

  // A message that no other messages to an arc can make up for: none of them exceeds the scores
  // that it is made of.
  double certain() const { return certain_; }

  // Null if no kind of parts asks for walks.
  const StepTables* steps() const { return steps_ ? &*steps_ : nullptr; }
  bool grand() const { return grand_; }

  // Numbers of arcs and parts from the tables of the model into the graph's order, and back.
  // `of_arcs` gains those of the root's grandparents, which go with their arcs.
  void read(const PartScores& tables, double* of_arcs, double* of_pairs) const;
  void write(const double* of_arcs, const double* of_pairs, const PartValues<double>& tables) const;
  void write_arcs(const double* of_arcs, double* table) const;
  // The steps of walks for tables of scores, or of a direction in them.
  StepTables steps_of_tables(const PartScores& tables);
  // The tables that walks write to, and their end: parts that no tree has are set to 0.
  PartValues<double> of_walks(PartValues<double> tables) const {
    if (!grand()) tables[PartKind::grandparents] = nullptr;
    return tables;
  }
  void clear_impossible(const PartValues<double>& tables) const;

  PairRows rows;  // all pairs, if plain numbers will do; then none are listed below
  std::vector<double> arc_scores;           // by arc
  std::vector<std::int32_t> first, second;  // the two arcs of each pair
  std::vector<double> pair_scores;          // whole packs
  std::vector<std::int32_t> n_factors;      // by arc: listed pairs, and the walks that take it

 private:
  void add_pair(Index one, Index two, Index part);
  void list_pairs(Trees trees);
  void list_siblings();
  void list_grandparents(Trees trees);
  void count_factors();
  void bound_messages(const PartScores& scores);
  void list_impossible();

  const PartIndex* parts_ = nullptr;
  ArcOrder order_;
  std::optional<StepTables> steps_;
  bool pairs_of_grandparents_ = false;
  bool grand_ = false;
  double certain_ = 0.0;
  // Parts with the grandparent as a modifier, in their tables, and room for tables without them.
  std::vector<Index> impossible_grandparents_, impossible_grandsiblings_;
  std::vector<double> grandparents_, grandsiblings_;
  std::vector<double> sizes_;  // by arc, the largest sum of other messages
  std::vector<Index> part_;    // of each pair, in the table of its kind
  Index sibling_pairs_ = 0;    // pairs of siblings come first
};

}  // namespace arbora::inference
