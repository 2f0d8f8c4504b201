// One factor for the walks of every head (consecutive siblings, grandsiblings, and grandparents
// if the settings say so), over the arcs of its modifiers and, with grandparents, over those from
// its possible heads.
//
// A head's possible heads exclude each other. The tree factor enforces this already, and counting
// it twice would be wrong: so these arcs send and receive logarithms of probabilities instead of
// odds. Before the first iteration, the scores are such logarithms, up to a constant.
//
// Steps over the grandparent would close a cycle. They score 0 here, and have beliefs and gradients
// of 0.
#pragma once

#include <optional>

#include "arbora/inference/factor_group.hpp"
#include "arbora/inference/log_walks.hpp"

namespace arbora::inference {

class WalkGroup final : public FactorGroup {
 public:
  bool set(const ArcVariables& arcs, const PartScores& scores,
           const LoopySettings& settings) override;
  void add_bounds(double* sizes) const override;
  Index n_messages() const override { return (grand_ ? 2 : 1) * arcs_->size(); }
  double send(const Incoming& in, const double* old, const Mixing& mixing, double* fresh,
              double* sums) override;
  void send_back(const Incoming& in, const double* old, double share_of_old, const double* d_sums,
                 const GroupGradients& gradients) override;
  double beliefs(const Incoming& in, const double* last, const PartValues<double>& answer) override;
  void beliefs_back(const Incoming& in, const double* last, const PartScores& d_beliefs,
                    const GroupGradients& gradients) override;
  void finish_backward(const PartValues<double>& d_scores) override { clear_impossible(d_scores); }

 private:
  // A slice holds the messages to modifiers, by arc, then those to links, by arc.
  double* to_links(double* messages) const { return messages + arcs_->size(); }
  const double* to_links(const double* messages) const { return messages + arcs_->size(); }
  // The arc of a head's link in place c.
  Index link_arc(Index head, std::size_t c) const;

  void list_impossible();
  StepTables steps_of_tables(const PartScores& tables);
  void clear_impossible(const PartValues<double>& tables) const;
  // The tables that walks write to.
  PartValues<double> of_walks(PartValues<double> tables) const;

  double sum_head(Index head, const Incoming& in, const double* old);
  double sum_of_links(Index head, const double* last);
  void send_from_head(Index head, const Incoming& in, const double* old, double* fresh);
  void mend_messages(Index head, double* to_modifier);
  void head_back(Index head, const Incoming& in, const GroupGradients& gradients);
  void take_gradients(Index head, double share_of_old, const double* d_sums, double* d_messages);
  void message_back_alone(Index head, std::size_t j, const GroupGradients& gradients);
  void add_head_gradients(Index head, const Incoming& in, const GroupGradients& gradients);

  const ArcVariables* arcs_ = nullptr;
  PartScores tables_;
  bool grand_ = false;
  std::optional<StepTables> steps_;
  HeadWalks walks_;
  LogWalks log_walks_;
  // Parts with the grandparent as a modifier, in their tables, and room for tables without them.
  std::vector<Index> impossible_grandparents_, impossible_grandsiblings_;
  std::vector<double> grandparents_, grandsiblings_;
  std::vector<double> in_arcs_, in_links_;  // incoming messages of a head's walks
  std::vector<double> d_in_arcs_, d_in_links_, d_to_arcs_, d_to_links_;
  std::vector<double> to_on_, to_off_;  // a direction for a head's modifiers
  std::vector<double> room_;            // for the steps of walks that take a modifier
  std::vector<char> alone_;             // modifiers whose messages are pulled back one by one
};

}  // namespace arbora::inference
