// Single factors of belief propagation, behind one interface: for user-defined factor graphs.
// (loopy.hpp runs whole sentences, with the same sums.)
//
// A factor gives every configuration y of its binary variables a weight
//
//     exp(score of y + sum of the incoming log-odds of the variables that are on),
//
// and sends variable i the log-ratio of the weights with i on and with i off, without its own
// log-odds. The pullback needs the same sums only:
//
//     d message_i / d incoming_j = P(j on | i on) - P(j on | i off)         (j != i)
//     d message_i / d score_c    = P(c | i on) - P(c | i off)
//
// Incoming log-odds may be infinite: -inf means that a variable is off, +inf that it is on with a
// weight of 1. A message is infinite if one of its two weights is 0; it has no gradient then.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "arbora/inference/log_walks.hpp"
#include "arbora/inference/tree_factor.hpp"

namespace arbora::inference {

class Factor {
 public:
  Factor() = default;
  Factor(const Factor&) = delete;
  Factor& operator=(const Factor&) = delete;
  virtual ~Factor() = default;
  virtual Index n_variables() const = 0;
  virtual Index n_scores() const = 0;
  // log of the sum of all weights, -inf if there are none: the factor's term of the Bethe
  // approximation.
  virtual double log_partition(const double* scores, const double* incoming) = 0;
  void messages(const double* scores, const double* incoming, double* outgoing);
  // Overwrites both answers.
  void pullback(const double* scores, const double* incoming, const double* d_outgoing,
                double* d_incoming, double* d_scores);

 private:
  // The same for variables whose own log-odds are finite; messages to others are not read.
  virtual void send(const double* scores, const double* incoming, double* outgoing) = 0;
  virtual void pull_back(const double* scores, const double* incoming, const double* d_outgoing,
                         double* d_incoming, double* d_scores) = 0;

  std::vector<double> given_, sent_, d_sent_, d_incoming_, d_scores_;
};

// Any table of scores, one for each configuration; variable i is on if bit i of its number is set.
// -inf forbids. All configurations are enumerated; tests compare other factors with it.
class TableFactor final : public Factor {
 public:
  explicit TableFactor(Index n_variables) : n_(n_variables) {}
  Index n_variables() const override { return n_; }
  Index n_scores() const override { return Index{1} << n_; }
  double log_partition(const double* scores, const double* incoming) override;

 private:
  void send(const double* scores, const double* incoming, double* outgoing) override;
  void pull_back(const double* scores, const double* incoming, const double* d_outgoing,
                 double* d_incoming, double* d_scores) override;
  void weigh(const double* scores, const double* incoming);

  Index n_;
  std::vector<double> weights_;
};

// One score, for both variables on.
class PairFactor final : public Factor {
 public:
  Index n_variables() const override { return 2; }
  Index n_scores() const override { return 1; }
  double log_partition(const double* scores, const double* incoming) override;

 private:
  void send(const double* scores, const double* incoming, double* outgoing) override;
  void pull_back(const double* scores, const double* incoming, const double* d_outgoing,
                 double* d_incoming, double* d_scores) override;
};

// EXACTLY1 and ATMOST1 (Smith & Eisner 2008): no scores.
class OneFactor final : public Factor {
 public:
  OneFactor(Index n_variables, bool at_most) : n_(n_variables), at_most_(at_most) {}
  Index n_variables() const override { return n_; }
  Index n_scores() const override { return 0; }
  double log_partition(const double* scores, const double* incoming) override;

 private:
  void send(const double* scores, const double* incoming, double* outgoing) override;
  void pull_back(const double* scores, const double* incoming, const double* d_outgoing,
                 double* d_incoming, double* d_scores) override;
  // Whether all may be off.
  double none() const { return at_most_ ? 0.0 : kForbidden; }
  // log of the sum of all weights of the variables except i, which is off (-1 for none).
  double sum_without(const double* incoming, Index i);
  Index n_;
  bool at_most_;
  std::vector<double> values_;
};

// The walks of a head over its modifiers, the left ones outwards, then the right ones, and over
// `links` choices of its own head, of which exactly one is on (none if there are no links). Scores
// are those of all steps, for each choice the left side's and the right side's.
class WalkFactor final : public Factor {
 public:
  WalkFactor(Index left, Index right, Index links) : left_(left), right_(right), links_(links) {}
  Index n_variables() const override { return left_ + right_ + links_; }
  Index n_scores() const override { return steps(nullptr).choices * steps(nullptr).pairs(); }
  double log_partition(const double* scores, const double* incoming) override;

 private:
  void send(const double* scores, const double* incoming, double* outgoing) override;
  void pull_back(const double* scores, const double* incoming, const double* d_outgoing,
                 double* d_incoming, double* d_scores) override;
  HeadSteps steps(const double* scores) const {
    return {scores, left_, right_, links_ > 0 ? links_ : 1};
  }
  // Sums over the walks under the incoming messages; returns log of the sum.
  double receive(const double* scores, const double* incoming);
  const double* links() const { return links_ > 0 ? incoming_.data() + left_ + right_ : nullptr; }
  // P(on) and P(off) of every variable.
  void list_marginals();
  void pull_back_together(const double* d_outgoing, double* d_incoming, double* d_scores);
  void pull_back_alone(const double* scores, const double* incoming, Index i, double d_message,
                       double* d_incoming, double* d_scores);

  Index left_, right_, links_;
  HeadWalks walks_;
  LogWalks logs_;
  HeadSteps steps_;
  std::vector<double> incoming_, room_, on_, off_, to_on_, to_off_, with_one_;
};

// The arcs that are on form a tree: TREE and PTREE. No scores.
class TreeFactorOfGraph final : public Factor {
 public:
  TreeFactorOfGraph(Index n_words, std::span<const std::int32_t> heads,
                    std::span<const std::int32_t> modifiers, Trees trees, Root root);
  Index n_variables() const override { return tree_.size(); }
  Index n_scores() const override { return 0; }
  double log_partition(const double* scores, const double* incoming) override;

 private:
  void send(const double* scores, const double* incoming, double* outgoing) override;
  void pull_back(const double* scores, const double* incoming, const double* d_outgoing,
                 double* d_incoming, double* d_scores) override;
  // Stores the incoming messages; false if they allow no tree.
  bool receive(const double* incoming);

  TreeFactor tree_;
  std::vector<std::int32_t> modifiers_;
  std::vector<double> incoming_, marginals_, outgoing_;
};

}  // namespace arbora::inference
