// Belief propagation on one sentence: messages forwards, gradients backwards. What an iteration
// leaves behind is a row of the tape; going back takes the rows in reverse.
#pragma once

#include <vector>

#include "arbora/base/interruption.hpp"
#include "arbora/inference/log_walks.hpp"
#include "arbora/inference/loopy_graph.hpp"
#include "arbora/inference/pair_factors.hpp"
#include "arbora/inference/tree_factor.hpp"

namespace arbora::inference {

class LoopyRun {
 public:
  // False if there is no tree.
  bool set(const PartIndex& parts, const PartScores& scores, const LoopySettings& settings);

  // All iterations. `residuals` (one per iteration) may be null; without `tape` there is no way
  // back.
  void forward(bool tape, double* residuals, Interruption& interruption);
  // Then: beliefs of arcs and parts; returns the Bethe approximation of log Z.
  double beliefs(const PartValues<double>& answer);
  // Or those of arcs alone.
  void arc_beliefs(double* answer);
  // Then: the gradient by all scores.
  void backward(const PartScores& d_beliefs, const PartValues<double>& d_scores,
                Interruption& interruption);

  // The size of the tape.
  std::size_t bytes() const { return rows_.capacity() * sizeof(double); }

 private:
  // The numbers of one iteration. Messages to arcs come first, those of the tree last among them.
  struct Row {
    PairRows::Messages in_rows;
    double *to_first, *to_second, *to_modifier, *to_link, *from_tree;
    double *to_tree, *marginals, *totals;  // totals: all messages to an arc, its score included
  };
  Row row(Index iteration);
  Row row_at(double* begin) const;
  PairRows::Messages in_rows_before(Index iteration);
  // Without the tree's and those in rows.
  Index n_messages() const { return 2 * n_pairs_ + n_walks_ + n_links_; }
  Index row_size() const { return 2 * n_in_rows_ + n_messages() + 4 * n_arcs_; }
  double share_of_old(Index iteration) const { return iteration == 1 ? 0.0 : settings_.damping; }

  void iterate(Index iteration, double* residual);  // which may be null
  void add_up(const Row& messages, double* sums) const;
  PairInputs pair_inputs(const Row& old);
  double beliefs_in_rows(const Row& last, const PartValues<double>& answer);
  enum class Start { scores, beliefs };  // what the totals before an iteration are
  double sum_head(Index head, const Row& old, Start start);
  void mend_messages(Index head, double* to_modifier);
  double sum_of_links(Index head, const Row& last);
  void send_from_walks(const Row& old, const Row& fresh, Start start);

  void go_back(Index iteration, const PartValues<double>& d_scores);
  void beliefs_back(const PartScores& d_beliefs, const PartValues<double>& d_scores);
  void tree_back(Index iteration);
  void pairs_back(const Row& old, double share);
  PairRows::Gradients row_gradients();
  void walks_back(const Row& old, Index iteration, const PartValues<double>& d_scores);
  void take_messages(Index head, double share);
  void walks_back_alone(Index head, std::size_t j, const PartValues<double>& d_scores);
  void add_pair_gradients();
  void add_head_gradients(Index head, const Row& old, Start start);

  LoopyGraph graph_;
  LoopySettings settings_;
  TreeFactor tree_;
  HeadWalks walks_;
  LogWalks log_walks_;
  Index n_arcs_ = 0, n_in_rows_ = 0, n_walks_ = 0, n_links_ = 0;
  Index n_pairs_ = 0;  // in whole packs
  bool tape_ = false;
  double tree_log_partition_ = 0.0, negligible_ = 0.0;
  std::vector<double> rows_;
  std::vector<double> in_first_, in_second_, in_arcs_, in_links_, both_;
  // Gradients by the messages and totals of the iteration that is being gone back over.
  std::vector<double> d_row_, d_sums_, d_to_tree_, d_arcs_, d_pairs_;
  std::vector<double> both_in_rows_, d_scores_in_rows_;
  std::vector<double> d_first_, d_second_, d_in_arcs_, d_in_links_, d_to_arcs_, d_to_links_;
  std::vector<double> to_on_, to_off_;  // a direction for a head's modifiers
  std::vector<double> room_;            // for the steps of walks that take a modifier
  std::vector<char> alone_;             // modifiers whose messages are gone back over one by one
};

}  // namespace arbora::inference
