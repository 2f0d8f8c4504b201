// Factors of belief propagation one by one, behind one small interface: for graphs that people put
// together themselves. (Whole sentences go through loopy.hpp, which uses the same sums.)
//
// A factor gives every configuration y of its on/off variables a weight
//
//     exp(score of y + sum of the incoming log-odds of the variables that are on),
//
// and sends variable i the log of the ratio of the weights with i on and with i off, its own
// log-odds left out. Going back needs no more than the same sums:
//
//     d message_i / d incoming_j = P(j on | i on) - P(j on | i off)         (j != i)
//     d message_i / d score_c    = P(c | i on) - P(c | i off)
//
// Incoming log-odds may be infinite: -inf says that a variable is off, +inf that it is on and
// weighs nothing. Messages are infinite where one of the two has no weight at all; they have no
// gradient.
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
  // log of the sum of all weights, -inf if there are none; the factor's part in the Bethe
  // approximation.
  virtual double log_partition(const double* scores, const double* incoming) = 0;
  void messages(const double* scores, const double* incoming, double* outgoing);
  // Overwrites both answers.
  void pullback(const double* scores, const double* incoming, const double* d_outgoing,
                double* d_incoming, double* d_scores);

 private:
  // The same for variables whose own log-odds are finite; what is said of others is not read.
  virtual void send(const double* scores, const double* incoming, double* outgoing) = 0;
  virtual void go_back(const double* scores, const double* incoming, const double* d_outgoing,
                       double* d_incoming, double* d_scores) = 0;

  std::vector<double> given_, said_, d_said_, d_heard_, d_own_;
};

// Any table of scores, one for each configuration; bit i of its number says that i is on. -inf
// forbids. Everything is enumerated: this is also what other factors are compared with.
class TableFactor final : public Factor {
 public:
  explicit TableFactor(Index n_variables) : n_(n_variables) {}
  Index n_variables() const override { return n_; }
  Index n_scores() const override { return Index{1} << n_; }
  double log_partition(const double* scores, const double* incoming) override;

 private:
  void send(const double* scores, const double* incoming, double* outgoing) override;
  void go_back(const double* scores, const double* incoming, const double* d_outgoing,
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
  void go_back(const double* scores, const double* incoming, const double* d_outgoing,
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
  void go_back(const double* scores, const double* incoming, const double* d_outgoing,
               double* d_incoming, double* d_scores) override;
  // Whether all may be off.
  double none() const { return at_most_ ? 0.0 : kForbidden; }
  // log of the sum of all weights of the variables but one, which is off (-1 for none).
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
  void go_back(const double* scores, const double* incoming, const double* d_outgoing,
               double* d_incoming, double* d_scores) override;
  HeadSteps steps(const double* scores) const {
    return {scores, left_, right_, links_ > 0 ? links_ : 1};
  }
  // The walks under what came in; log of their sum.
  double hear(const double* scores, const double* incoming);
  const double* links() const { return links_ > 0 ? heard_.data() + left_ + right_ : nullptr; }
  // P(on) and P(off) of every variable.
  void list_marginals();
  void go_back_together(const double* d_outgoing, double* d_incoming, double* d_scores);
  void go_back_alone(const double* scores, const double* incoming, Index i, double d_message,
                     double* d_incoming, double* d_scores);

  Index left_, right_, links_;
  HeadWalks walks_;
  LogWalks logs_;
  HeadSteps steps_;
  std::vector<double> heard_, room_, on_, off_, to_on_, to_off_, with_one_;
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
  void go_back(const double* scores, const double* incoming, const double* d_outgoing,
               double* d_incoming, double* d_scores) override;
  // The tree under what came in; false if there is none.
  bool hear(const double* incoming);

  TreeFactor tree_;
  std::vector<std::int32_t> modifiers_;
  std::vector<double> heard_, marginals_, outgoing_;
};

}  // namespace arbora::inference
