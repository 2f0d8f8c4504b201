// Belief propagation on one sentence: messages forwards, gradients backwards. The factor graph has
// a variable for every kept arc, the factor groups of the model's parts (factor_group.hpp), and a
// factor over all arcs that allows trees only. Every iteration writes a row of the tape, and the
// backward pass reads the rows in reverse.
#pragma once

#include <vector>

#include "arbora/base/interruption.hpp"
#include "arbora/inference/factor_group.hpp"
#include "arbora/inference/tree_factor.hpp"

namespace arbora::inference {

class LoopyRun {
 public:
  // False if there is no tree.
  bool set(const PartIndex& parts, const PartScores& scores, const LoopySettings& settings);

  // All iterations. `residuals` (one per iteration) may be null; without `tape` there is no
  // backward pass.
  void forward(bool tape, double* residuals, Interruption& interruption);
  // Then: beliefs of arcs and parts; returns the Bethe approximation of log Z.
  double beliefs(const PartValues<double>& answer);
  // Or those of arcs alone.
  void arc_beliefs(double* answer);
  // Then: the gradient by all scores (G15, 5.2 and 5.3).
  void backward(const PartScores& d_beliefs, const PartValues<double>& d_scores,
                Interruption& interruption);

  // The size of the tape.
  std::size_t bytes() const { return rows_.capacity() * sizeof(double); }

 private:
  // The numbers of one iteration: the groups' messages, one slice after the other, and, by arc, the
  // tree's. `totals` are the log-odds of all messages to an arc, its score included.
  struct Row {
    double *messages, *from_tree, *to_tree, *marginals, *totals;
  };
  Row row(Index iteration);
  Row row_at(double* begin) const;
  Index row_size() const { return n_messages_ + 4 * arcs_.size(); }
  double share_of_old(Index iteration) const { return iteration == 1 ? 0.0 : settings_.damping; }
  static Incoming incoming(const Row& row, bool first) {
    return {row.totals, row.from_tree, first};
  }
  double* slice(const Row& row, std::size_t group) const { return row.messages + first_[group]; }

  void iterate(Index iteration, double* residual);  // which may be null
  void beliefs_back(const PartScores& d_beliefs, const PartValues<double>& d_scores);
  void iteration_back(Index iteration, const PartValues<double>& d_scores);
  void tree_back(Index iteration);

  LoopySettings settings_;
  ArcVariables arcs_;
  std::vector<std::unique_ptr<FactorGroup>> all_groups_;
  std::vector<FactorGroup*> groups_;  // those that the model has
  std::vector<Index> first_;          // where each group's messages begin
  Index n_messages_ = 0;
  TreeFactor tree_;
  double tree_log_partition_ = 0.0, negligible_ = 0.0;
  bool tape_ = false;
  std::vector<double> rows_;
  std::vector<double> of_arcs_;
  // Gradients by the messages and totals of the current iteration of the backward pass.
  std::vector<double> d_row_, d_sums_, d_to_tree_, d_arcs_, d_from_tree_;
};

}  // namespace arbora::inference
