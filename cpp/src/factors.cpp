#include "arbora/inference/factors.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"

namespace arbora {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

bool is_on(std::size_t configuration, Index variable) { return configuration >> variable & 1U; }

// A message from the logarithms of the weights with a variable on and off, the incoming log-odds
// still among the former. What is certain outweighs what came in, as in `message`.
double log_message(double log_on, double log_off, double incoming) {
  if (log_on == kForbidden) return -kCertain - std::max(incoming, 0.0);
  return log_off == kForbidden ? kCertain - std::min(incoming, 0.0) : log_on - log_off - incoming;
}

}  // namespace

void TableFactor::weigh(const double* scores, const double* incoming) {
  weights_.assign(scores, scores + n_scores());
  for (std::size_t y = 0; y < weights_.size(); ++y) {
    for (Index i = 0; i < n_; ++i) {
      if (is_on(y, i)) weights_[y] += incoming[i];
    }
  }
}

double TableFactor::log_partition(const double* scores, const double* incoming) {
  weigh(scores, incoming);
  return log_sum(weights_);
}

void TableFactor::messages(const double* scores, const double* incoming, double* outgoing) {
  weigh(scores, incoming);
  std::vector<double> on, off;
  for (Index i = 0; i < n_; ++i) {
    on.clear();
    off.clear();
    for (std::size_t y = 0; y < weights_.size(); ++y)
      (is_on(y, i) ? on : off).push_back(weights_[y]);
    outgoing[i] = log_message(log_sum(on), log_sum(off), incoming[i]);
  }
}

void TableFactor::pullback(const double* scores, const double* incoming, const double* d_outgoing,
                           double* d_incoming, double* d_scores) {
  messages(scores, incoming, d_incoming);  // also weighs; the messages themselves are written over
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
  const double a = incoming[0], b = incoming[1];
  return log_sum(std::vector<double>{0.0, a, b, a + b + scores[0]});
}

void PairFactor::messages(const double* scores, const double* incoming, double* outgoing) {
  for (const int i : {0, 1}) {
    const double other = incoming[1 - i];
    outgoing[i] = softplus(other + scores[0]) - softplus(other);
  }
}

void PairFactor::pullback(const double* scores, const double* incoming, const double* d_outgoing,
                          double* d_incoming, double* d_scores) {
  d_scores[0] = 0.0;
  for (const int i : {0, 1}) {
    const double other = incoming[1 - i], with = sigmoid(other + scores[0]);
    d_incoming[1 - i] = d_outgoing[i] * (with - sigmoid(other));
    d_scores[0] += d_outgoing[i] * with;
  }
}

double OneFactor::log_partition(const double*, const double* incoming) {
  values_.assign(incoming, incoming + n_);
  values_.push_back(none());
  return log_sum(values_);
}

void OneFactor::messages(const double*, const double* incoming, double* outgoing) {
  for (Index i = 0; i < n_; ++i) {
    values_.assign(incoming, incoming + n_);
    values_[at(i)] = none();
    outgoing[i] = log_message(incoming[i], log_sum(values_), incoming[i]);
  }
}

void OneFactor::pullback(const double*, const double* incoming, const double* d_outgoing,
                         double* d_incoming, double*) {
  std::fill(d_incoming, d_incoming + n_, 0.0);
  for (Index i = 0; i < n_; ++i) {
    values_.assign(incoming, incoming + n_);
    values_[at(i)] = none();
    const double others = log_sum(values_);
    if (others == kForbidden) continue;  // certain: a constant
    for (Index j = 0; j < n_; ++j) {
      if (j != i) d_incoming[j] -= d_outgoing[i] * std::exp(incoming[j] - others);
    }
  }
}

double WalkFactor::log_partition(const double* scores, const double* incoming) {
  return walks_.sum(steps(scores), incoming, links_ > 0 ? incoming + left_ + right_ : nullptr);
}

void WalkFactor::list_marginals() {
  const Index k = left_ + right_;
  on_.assign(walks_.taken(), walks_.taken() + k);
  off_.assign(walks_.skipped(), walks_.skipped() + k);
  on_.insert(on_.end(), walks_.chosen(), walks_.chosen() + links_);
  off_.insert(off_.end(), walks_.unchosen(), walks_.unchosen() + links_);
}

void WalkFactor::messages(const double* scores, const double* incoming, double* outgoing) {
  log_partition(scores, incoming);
  list_marginals();
  for (Index i = 0; i < n_variables(); ++i) {
    outgoing[i] = message(on_[at(i)], off_[at(i)], incoming[i], kInfinity);
  }
  for (Index i = 0; i < n_variables(); ++i) {
    if (!std::isinf(outgoing[i])) continue;
    sum_without(scores, incoming, i);
    const double on = on_[at(i)], off = off_[at(i)];
    outgoing[i] = message(on, off, 0.0, kInfinity);
    if (std::isinf(outgoing[i])) outgoing[i] = message(on, off, incoming[i], kCertain);
  }
}

// The same walks without what variable i said. The message to i does not depend on that, but it may
// have been so large that no chance was left for the contrary.
void WalkFactor::sum_without(const double* scores, const double* incoming, Index i) {
  without_.assign(incoming, incoming + n_variables());
  without_[at(i)] = 0.0;
  log_partition(scores, without_.data());
  list_marginals();
}

void WalkFactor::pullback(const double* scores, const double* incoming, const double* d_outgoing,
                          double* d_incoming, double* d_scores) {
  log_partition(scores, incoming);
  list_marginals();
  std::fill(d_incoming, d_incoming + n_variables(), 0.0);
  std::fill(d_scores, d_scores + n_scores(), 0.0);
  std::vector<double> together(d_outgoing, d_outgoing + n_variables());
  std::vector<Index> alone;  // variables that have left no chance for the contrary
  for (Index i = 0; i < n_variables(); ++i) {
    if (d_outgoing[i] == 0.0 || !pull_message(1.0, on_[at(i)], off_[at(i)]).constant) continue;
    together[at(i)] = 0.0;
    alone.push_back(i);
  }
  go_back(together.data(), d_incoming, d_scores);
  for (const Index i : alone) {
    sum_without(scores, incoming, i);
    std::fill(together.begin(), together.end(), 0.0);
    together[at(i)] = d_outgoing[i];
    const double own = d_incoming[i];
    go_back(together.data(), d_incoming, d_scores);
    d_incoming[i] = own;
  }
}

// Adds the gradients of messages under the present sums.
void WalkFactor::go_back(const double* d_outgoing, double* d_incoming, double* d_scores) {
  const Index k = left_ + right_;
  to_on_.resize(at(n_variables()));
  to_off_.resize(at(n_variables()));
  for (Index i = 0; i < n_variables(); ++i) {
    const Pull pull = pull_message(d_outgoing[i], on_[at(i)], off_[at(i)]);
    to_on_[at(i)] = pull.on;
    to_off_[at(i)] = pull.off;
    if (!pull.constant) d_incoming[i] -= d_outgoing[i];
  }
  // Not to choose a link is to choose one of the others.
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
  marginals_.resize(heads.size());
  outgoing_.resize(heads.size());
}

double TreeFactorOfGraph::log_partition(const double*, const double* incoming) {
  return tree_.messages(incoming, kCertain, marginals_.data(), outgoing_.data());
}

void TreeFactorOfGraph::messages(const double*, const double* incoming, double* outgoing) {
  tree_.messages(incoming, kCertain, marginals_.data(), outgoing);
}

void TreeFactorOfGraph::pullback(const double*, const double* incoming, const double* d_outgoing,
                                 double* d_incoming, double*) {
  tree_.messages(incoming, kCertain, marginals_.data(), outgoing_.data());
  tree_.pullback(incoming, marginals_.data(), d_outgoing, 0.0, d_incoming);
}

}  // namespace arbora
