#include "arbora/inference/factors.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"

namespace arbora::inference {
namespace {

bool is_on(std::size_t configuration, Index variable) { return configuration >> variable & 1U; }

bool any_infinite(const double* values, Index count) {
  return std::any_of(values, values + count, [](double value) { return std::isinf(value); });
}

}  // namespace

// A message does not depend on the incoming message of its own variable: an infinite one is
// replaced by 0.
void Factor::messages(const double* scores, const double* incoming, double* outgoing) {
  send(scores, incoming, outgoing);
  const Index n = n_variables();
  if (!any_infinite(incoming, n)) return;
  given_.assign(incoming, incoming + n);
  sent_.resize(at(n));
  for (Index i = 0; i < n; ++i) {
    if (!std::isinf(incoming[i])) continue;
    given_[at(i)] = 0.0;
    send(scores, given_.data(), sent_.data());
    outgoing[i] = sent_[at(i)];
    given_[at(i)] = incoming[i];
  }
}

void Factor::pullback(const double* scores, const double* incoming, const double* d_outgoing,
                      double* d_incoming, double* d_scores) {
  const Index n = n_variables();
  if (!any_infinite(incoming, n)) {
    pull_back(scores, incoming, d_outgoing, d_incoming, d_scores);
    return;
  }
  given_.assign(incoming, incoming + n);
  d_sent_.assign(d_outgoing, d_outgoing + n);
  for (Index i = 0; i < n; ++i) {
    if (std::isinf(incoming[i])) d_sent_[at(i)] = 0.0;
  }
  pull_back(scores, incoming, d_sent_.data(), d_incoming, d_scores);
  d_incoming_.resize(at(n));
  d_scores_.resize(at(n_scores()));
  for (Index i = 0; i < n; ++i) {
    if (!std::isinf(incoming[i]) || d_outgoing[i] == 0.0) continue;
    given_[at(i)] = 0.0;
    d_sent_.assign(at(n), 0.0);
    d_sent_[at(i)] = d_outgoing[i];
    pull_back(scores, given_.data(), d_sent_.data(), d_incoming_.data(), d_scores_.data());
    given_[at(i)] = incoming[i];
    for (Index j = 0; j < n; ++j) d_incoming[j] += d_incoming_[at(j)];
    for (Index c = 0; c < n_scores(); ++c) d_scores[c] += d_scores_[at(c)];
  }
  for (Index i = 0; i < n; ++i) {
    if (std::isinf(incoming[i])) d_incoming[i] = 0.0;
  }
}

void TableFactor::weigh(const double* scores, const double* incoming) {
  weights_.assign(scores, scores + n_scores());
  for (std::size_t y = 0; y < weights_.size(); ++y) {
    for (Index i = 0; i < n_; ++i) {
      const double value = incoming[i];
      if (is_on(y, i)) {
        weights_[y] += value == kInfinity ? 0.0 : value;
      } else if (value == kInfinity) {
        weights_[y] = kForbidden;
      }
    }
  }
}

double TableFactor::log_partition(const double* scores, const double* incoming) {
  weigh(scores, incoming);
  return log_sum(weights_);
}

void TableFactor::send(const double* scores, const double* incoming, double* outgoing) {
  weigh(scores, incoming);
  std::vector<double> on, off;
  for (Index i = 0; i < n_; ++i) {
    on.clear();
    off.clear();
    for (std::size_t y = 0; y < weights_.size(); ++y)
      (is_on(y, i) ? on : off).push_back(weights_[y]);
    outgoing[i] = log_message(log_sum(on) - incoming[i], log_sum(off), kInfinity);
  }
}

void TableFactor::pull_back(const double* scores, const double* incoming, const double* d_outgoing,
                            double* d_incoming, double* d_scores) {
  weigh(scores, incoming);
  std::fill(d_incoming, d_incoming + n_, 0.0);
  std::fill(d_scores, d_scores + n_scores(), 0.0);
  std::vector<double> of_state[2];
  for (Index i = 0; i < n_; ++i) {
    for (auto& weights : of_state) weights.clear();
    for (std::size_t y = 0; y < weights_.size(); ++y) of_state[is_on(y, i)].push_back(weights_[y]);
    const double sums[2] = {log_sum(of_state[0]), log_sum(of_state[1])};
    if (sums[0] == kForbidden || sums[1] == kForbidden) continue;  // certain: a constant
    for (std::size_t y = 0; y < weights_.size(); ++y) {
      const double p = std::exp(weights_[y] - sums[is_on(y, i)]);
      const double amount = is_on(y, i) ? d_outgoing[i] * p : -d_outgoing[i] * p;
      d_scores[y] += amount;
      for (Index j = 0; j < n_; ++j) {
        if (j != i && is_on(y, j)) d_incoming[j] += amount;
      }
    }
  }
}

double PairFactor::log_partition(const double* scores, const double* incoming) {
  double on[2], off[2];  // log weights of either variable
  for (const int i : {0, 1}) {
    on[i] = incoming[i] == kInfinity ? 0.0 : incoming[i];
    off[i] = incoming[i] == kInfinity ? kForbidden : 0.0;
  }
  return log_sum(std::vector<double>{off[0] + off[1], on[0] + off[1], off[0] + on[1],
                                     on[0] + on[1] + scores[0]});
}

void PairFactor::send(const double* scores, const double* incoming, double* outgoing) {
  for (const int i : {0, 1}) {
    const double other = incoming[1 - i];
    outgoing[i] = other == kInfinity ? scores[0] : softplus(other + scores[0]) - softplus(other);
  }
}

void PairFactor::pull_back(const double* scores, const double* incoming, const double* d_outgoing,
                           double* d_incoming, double* d_scores) {
  d_scores[0] = 0.0;
  for (const int i : {0, 1}) {
    const double other = incoming[1 - i];
    const double with = other == kInfinity ? 1.0 : sigmoid(other + scores[0]);
    d_incoming[1 - i] = d_outgoing[i] * (with - sigmoid(other));
    d_scores[0] += d_outgoing[i] * with;
  }
}

double OneFactor::sum_without(const double* incoming, Index i) {
  values_.clear();
  Index required = 0;
  for (Index j = 0; j < n_; ++j) {
    if (j == i) continue;
    required += incoming[j] == kInfinity ? 1 : 0;
    values_.push_back(incoming[j]);
  }
  values_.push_back(none());
  if (required > 0) return required == 1 ? 0.0 : kForbidden;
  return log_sum(values_);
}

double OneFactor::log_partition(const double*, const double* incoming) {
  return sum_without(incoming, -1);
}

void OneFactor::send(const double*, const double* incoming, double* outgoing) {
  const Index required = std::count(incoming, incoming + n_, kInfinity);
  for (Index i = 0; i < n_; ++i) {
    const Index others = required - (incoming[i] == kInfinity ? 1 : 0);
    const double log_on = others == 0 ? 0.0 : kForbidden;
    outgoing[i] = log_message(log_on, sum_without(incoming, i), kInfinity);
  }
}

void OneFactor::pull_back(const double*, const double* incoming, const double* d_outgoing,
                          double* d_incoming, double*) {
  std::fill(d_incoming, d_incoming + n_, 0.0);
  if (std::count(incoming, incoming + n_, kInfinity) > 0) return;  // all messages are certain
  for (Index i = 0; i < n_; ++i) {
    const double others = sum_without(incoming, i);
    if (others == kForbidden) continue;  // certain: a constant
    for (Index j = 0; j < n_; ++j) {
      if (j != i) d_incoming[j] -= d_outgoing[i] * std::exp(incoming[j] - others);
    }
  }
}

// A modifier that must be on excludes walks that skip it; a link, all other links.
double WalkFactor::receive(const double* scores, const double* incoming) {
  const Index k = left_ + right_;
  steps_ = steps(scores);
  incoming_.assign(incoming, incoming + n_variables());
  for (Index i = 0; i < n_variables(); ++i) {
    if (incoming[i] != kInfinity) continue;
    if (incoming_[at(i)] == kInfinity) incoming_[at(i)] = 0.0;
    if (i < k) {
      steps_ = steps_taking(steps_, i, room_);
      continue;
    }
    for (Index j = k; j < n_variables(); ++j) {
      if (j != i) incoming_[at(j)] = kForbidden;
    }
  }
  return walks_.sum(steps_, incoming_.data(), links());
}

double WalkFactor::log_partition(const double* scores, const double* incoming) {
  return receive(scores, incoming);
}

void WalkFactor::list_marginals() {
  const Index k = left_ + right_;
  on_.assign(walks_.taken(), walks_.taken() + k);
  off_.assign(walks_.skipped(), walks_.skipped() + k);
  on_.insert(on_.end(), walks_.chosen(), walks_.chosen() + links_);
  off_.insert(off_.end(), walks_.unchosen(), walks_.unchosen() + links_);
}

void WalkFactor::send(const double* scores, const double* incoming, double* outgoing) {
  receive(scores, incoming);
  list_marginals();
  bool sound = true;
  for (Index i = 0; i < n_variables(); ++i) {
    const double ratio = on_[at(i)] / off_[at(i)];
    sound = sound && sound_odds(ratio);
    outgoing[i] = std::log(ratio) - incoming_[at(i)];
  }
  if (sound) return;
  logs_.sum(steps_, incoming_.data(), links());
  const Index k = left_ + right_;
  for (Index i = 0; i < n_variables(); ++i) {
    const double log_on = i < k ? logs_.taken()[i] : logs_.chosen()[i - k];
    const double log_off = i < k ? logs_.skipped()[i] : logs_.unchosen()[i - k];
    outgoing[i] = log_message(log_on, log_off, kInfinity);
    // A link that another one excludes may have had a finite incoming message.
    if (incoming_[at(i)] == kForbidden && incoming[i] != kForbidden) outgoing[i] = kForbidden;
  }
}

void WalkFactor::pull_back(const double* scores, const double* incoming, const double* d_outgoing,
                           double* d_incoming, double* d_scores) {
  receive(scores, incoming);
  list_marginals();
  std::fill(d_incoming, d_incoming + n_variables(), 0.0);
  std::fill(d_scores, d_scores + n_scores(), 0.0);
  std::vector<double> together(d_outgoing, d_outgoing + n_variables());
  std::vector<Index> alone;  // variables with one state of almost no probability
  for (Index i = 0; i < n_variables(); ++i) {
    if (d_outgoing[i] == 0.0 || !pull_message(1.0, on_[at(i)], off_[at(i)]).constant) continue;
    together[at(i)] = 0.0;
    alone.push_back(i);
  }
  pull_back_together(together.data(), d_incoming, d_scores);
  for (const Index i : alone) {
    pull_back_alone(scores, incoming, i, d_outgoing[i], d_incoming, d_scores);
  }
}

// Adds the gradient of one message: expectations with its variable on, minus those with it off.
void WalkFactor::pull_back_alone(const double* scores, const double* incoming, Index i,
                                 double d_message, double* d_incoming, double* d_scores) {
  const Index k = left_ + right_;
  with_one_.assign(incoming, incoming + n_variables());
  for (const double state : {kInfinity, kForbidden}) {
    with_one_[at(i)] = state;
    if (log_partition(scores, with_one_.data()) == kForbidden) return;  // certain: a constant
  }
  for (const double state : {kInfinity, kForbidden}) {
    const double amount = state == kInfinity ? d_message : -d_message;
    with_one_[at(i)] = state;
    receive(scores, with_one_.data());
    to_on_.assign(walks_.chosen(), walks_.chosen() + steps_.choices);
    for (double& mass : to_on_) mass *= amount;
    walks_.differentiate({.masses = to_on_.data()});
    for (Index j = 0; j < n_variables(); ++j) {
      if (j != i) d_incoming[j] += j < k ? walks_.d_taken()[j] : to_on_[at(j - k)];
    }
    walks_.add_step_derivatives(d_scores);
  }
}

// Adds the gradients of messages under the current sums.
void WalkFactor::pull_back_together(const double* d_outgoing, double* d_incoming,
                                    double* d_scores) {
  const Index k = left_ + right_;
  to_on_.resize(at(n_variables()));
  to_off_.resize(at(n_variables()));
  for (Index i = 0; i < n_variables(); ++i) {
    const Pull pull = pull_message(d_outgoing[i], on_[at(i)], off_[at(i)]);
    to_on_[at(i)] = pull.on;
    to_off_[at(i)] = pull.off;
    if (!pull.constant) d_incoming[i] -= d_outgoing[i];
  }
  // P(link not chosen) is the sum of P(chosen) over the other links.
  double all = 0.0;
  for (Index i = k; i < n_variables(); ++i) all += to_off_[at(i)];
  for (Index i = k; i < n_variables(); ++i) to_on_[at(i)] += all - to_off_[at(i)];
  walks_.differentiate(
      {nullptr, to_on_.data(), to_off_.data(), links_ > 0 ? to_on_.data() + k : nullptr});
  for (Index i = 0; i < n_variables(); ++i) {
    d_incoming[i] += i < k ? walks_.d_taken()[i] : walks_.d_chosen()[i - k];
  }
  walks_.add_step_derivatives(d_scores);
}

TreeFactorOfGraph::TreeFactorOfGraph(Index n_words, std::span<const std::int32_t> heads,
                                     std::span<const std::int32_t> modifiers, Trees trees,
                                     Root root) {
  tree_.set(n_words, heads, modifiers, trees, root);
  modifiers_.assign(modifiers.begin(), modifiers.end());
  marginals_.resize(heads.size());
  outgoing_.resize(heads.size());
}

// An arc that must be on excludes all others of its word.
bool TreeFactorOfGraph::receive(const double* incoming) {
  incoming_.assign(incoming, incoming + n_variables());
  tree_.forget();
  if (!any_infinite(incoming, n_variables())) return true;
  for (Index i = 0; i < n_variables(); ++i) {
    if (incoming[i] != kInfinity) continue;
    if (incoming_[at(i)] == kInfinity) incoming_[at(i)] = 0.0;
    for (Index j = 0; j < n_variables(); ++j) {
      if (j != i && modifiers_[at(j)] == modifiers_[at(i)]) incoming_[at(j)] = kForbidden;
    }
  }
  return tree_.possible(incoming_.data());
}

double TreeFactorOfGraph::log_partition(const double*, const double* incoming) {
  if (!receive(incoming)) return kForbidden;
  return tree_.messages(incoming_.data(), kInfinity, marginals_.data(), outgoing_.data());
}

void TreeFactorOfGraph::send(const double*, const double* incoming, double* outgoing) {
  std::fill(outgoing, outgoing + n_variables(), 0.0);
  if (!receive(incoming)) return;
  tree_.messages(incoming_.data(), kInfinity, marginals_.data(), outgoing);
  for (Index i = 0; i < n_variables(); ++i) {
    if (incoming_[at(i)] == kForbidden && incoming[i] != kForbidden) outgoing[i] = kForbidden;
  }
}

void TreeFactorOfGraph::pull_back(const double*, const double* incoming, const double* d_outgoing,
                                  double* d_incoming, double*) {
  std::fill(d_incoming, d_incoming + n_variables(), 0.0);
  if (!receive(incoming)) return;
  tree_.messages(incoming_.data(), kInfinity, marginals_.data(), outgoing_.data());
  tree_.pullback(incoming_.data(), marginals_.data(), d_outgoing, 0.0, d_incoming);
}

}  // namespace arbora::inference
