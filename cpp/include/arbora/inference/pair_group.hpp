// Factors over two arcs each, one for every pair of siblings and every grandparent: in rows of
// plain numbers (pair_rows.hpp) if these suffice, otherwise one by one in logarithms
// (pair_factors.hpp).
//
// Pairs that no tree can have are left out: those that close a cycle and, in projective trees,
// those whose grandparent is between head and modifier. A grandparent part of the root's modifiers
// consists of a single arc.
#pragma once

#include "arbora/inference/factor_group.hpp"
#include "arbora/inference/pair_factors.hpp"
#include "arbora/inference/pair_rows.hpp"

namespace arbora::inference {

class PairGroup final : public FactorGroup {
 public:
  bool set(const ArcVariables& arcs, const PartScores& scores,
           const LoopySettings& settings) override;
  void add_bounds(double* sizes) const override;
  Index n_messages() const override { return in_rows() ? 2 * rows_.size() : 2 * n_padded_; }
  void prepare(double* messages) const override;
  void silence(double* messages) const override;
  double send(const Incoming& in, const double* old, const Mixing& mixing, double* fresh,
              double* sums) override;
  void send_back(const Incoming& in, const double* old, double share_of_old, const double* d_sums,
                 const GroupGradients& gradients) override;
  double beliefs(const Incoming& in, const double* last, const PartValues<double>& answer) override;
  void beliefs_back(const Incoming& in, const double* last, const PartScores& d_beliefs,
                    const GroupGradients& gradients) override;
  void start_backward() override;
  void finish_backward(const PartValues<double>& d_scores) override;
  void add_to_arcs(const PartScores& tables, double* of_arcs) const override;
  void copy_from_arcs(const double* of_arcs, const PartValues<double>& tables) const override;

 private:
  bool in_rows() const { return rows_.size() > 0; }
  Index n_pairs() const { return static_cast<Index>(first_.size()); }
  PairRows::Messages rows_at(double* messages) const { return {messages, messages + rows_.size()}; }
  // For messages that the rows only read.
  PairRows::Messages rows_at(const double* messages) const {
    return rows_at(const_cast<double*>(messages));
  }
  PairRows::Messages rows_before(const Incoming& in, const double* old) const;
  PairRows::Gradients row_gradients(const GroupGradients& gradients);
  double row_beliefs(const Incoming& in, const double* last, const PartValues<double>& answer);

  void list_pairs(Trees trees);
  void list_siblings();
  void list_grandparents(Trees trees);
  void add_pair(Index one, Index two, Index part);
  PairInputs inputs(const Incoming& in, const double* old);
  void read(const PartScores& tables, double* of_pairs) const;
  void add_gradients(const GroupGradients& gradients);

  const ArcVariables* arcs_ = nullptr;
  bool siblings_ = false, grandparents_ = false;

  PairRows rows_;  // all pairs, if plain numbers suffice; then none are listed below
  std::vector<double> both_in_rows_, d_scores_in_rows_;

  std::vector<std::int32_t> first_, second_;  // the two arcs of each pair
  std::vector<Index> part_;                   // of each pair, in the table of its kind
  Index sibling_pairs_ = 0;                   // pairs of siblings come first
  Index n_padded_ = 0;                        // pairs in whole packs
  std::vector<double> scores_, in_first_, in_second_, both_, d_first_, d_second_, d_scores_;
  std::vector<std::int32_t> n_factors_;  // by arc
};

}  // namespace arbora::inference
