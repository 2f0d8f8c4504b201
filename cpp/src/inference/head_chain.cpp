#include "arbora/inference/head_chain.hpp"

#include <algorithm>
#include <cmath>

namespace arbora::inference {
namespace {

// Adds e^x to a sum of exponentials whose largest exponent is known and finite.
double term(double x, double top) { return x == kForbidden ? 0.0 : std::exp(x - top); }

}  // namespace

void HeadChain::set(const PartIndex& parts) {
  first_.assign(1, 0);
  table_.assign(1, 0);
  cycles_.clear();
  Index pairs = 0;
  for (Index m = 1; m <= parts.n_words(); ++m) {
    const auto count = static_cast<Index>(parts.heads(m).size());
    first_.push_back(first_.back() + count);
    if (m == 1) continue;
    table_.push_back(pairs);
    const auto before = parts.heads(m - 1), own = parts.heads(m);
    const auto row = std::lower_bound(before.begin(), before.end(), m);
    const auto column = std::lower_bound(own.begin(), own.end(), m - 1);
    if (row != before.end() && *row == m && column != own.end() && *column == m - 1) {
      cycles_.push_back(pairs + (row - before.begin()) * count + (column - own.begin()));
    }
    pairs += static_cast<Index>(before.size()) * count;
  }
}

template <class Use>
void HeadChain::for_each_pair(Index word, const Use& use) const {
  Index pair = table_[at(word)];
  for (Index left = first_state(word - 1); left < first_state(word); ++left) {
    for (Index right = first_state(word); right < first_state(word + 1); ++right) {
      use(left, right, pair++);
    }
  }
}

double HeadChain::best(const double* states, const double* pairs, Index* chosen) {
  before_.assign(at(n_states()), kForbidden);
  from_.assign(at(n_states()), 0);
  std::fill_n(before_.begin(), first_state(1), 0.0);
  for (Index m = 1; m < n_words(); ++m) {
    for_each_pair(m, [&](Index left, Index right, Index pair) {
      const double value = before_[at(left)] + states[left] + pairs[pair];
      if (value <= before_[at(right)]) return;
      before_[at(right)] = value;
      from_[at(right)] = left;
    });
  }
  Index last = first_state(n_words() - 1);
  for (Index s = last; s < n_states(); ++s) {
    if (before_[at(s)] + states[s] > before_[at(last)] + states[last]) last = s;
  }
  const double value = before_[at(last)] + states[last];
  for (Index m = n_words() - 1; m >= 0; --m) {
    chosen[m] = last;
    last = from_[at(last)];
  }
  return value;
}

double HeadChain::sum(const double* states, const double* pairs) {
  states_ = states;
  pairs_ = pairs;
  for (auto* numbers : {&before_, &after_, &top_}) numbers->assign(at(n_states()), 0.0);
  // The largest term first, then the sum relative to it.
  for (Index m = 1; m < n_words(); ++m) {
    std::fill_n(top_.begin() + first_state(m), first_state(m + 1) - first_state(m), kForbidden);
    for_each_pair(m, [&](Index left, Index right, Index pair) {
      top_[at(right)] = std::max(top_[at(right)], before_[at(left)] + states[left] + pairs[pair]);
    });
    for_each_pair(m, [&](Index left, Index right, Index pair) {
      before_[at(right)] += term(before_[at(left)] + states[left] + pairs[pair], top_[at(right)]);
    });
    for (Index s = first_state(m); s < first_state(m + 1); ++s) {
      before_[at(s)] = top_[at(s)] + std::log(before_[at(s)]);
    }
  }
  for (Index m = n_words() - 1; m >= 1; --m) {
    std::fill_n(top_.begin() + first_state(m - 1), first_state(m) - first_state(m - 1), kForbidden);
    for_each_pair(m, [&](Index left, Index right, Index pair) {
      top_[at(left)] = std::max(top_[at(left)], after_[at(right)] + states[right] + pairs[pair]);
    });
    for_each_pair(m, [&](Index left, Index right, Index pair) {
      after_[at(left)] += term(after_[at(right)] + states[right] + pairs[pair], top_[at(left)]);
    });
    for (Index s = first_state(m - 1); s < first_state(m); ++s) {
      after_[at(s)] = top_[at(s)] + std::log(after_[at(s)]);
    }
  }
  double top = kForbidden, total = 0.0;
  for (Index s = 0; s < first_state(1); ++s) top = std::max(top, states[s] + after_[at(s)]);
  for (Index s = 0; s < first_state(1); ++s) total += term(states[s] + after_[at(s)], top);
  log_partition_ = top + std::log(total);
  return log_partition_;
}

double HeadChain::log_probability(Index left, Index right, Index pair) const {
  return before_[at(left)] + states_[left] + pairs_[pair] + states_[right] + after_[at(right)] -
         log_partition_;
}

void HeadChain::pair_probabilities(double* answer) const {
  for (Index m = 1; m < n_words(); ++m) {
    for_each_pair(m, [&](Index left, Index right, Index pair) {
      answer[pair] = std::exp(log_probability(left, right, pair));
    });
  }
}

void HeadChain::start_from_pairs(const double* d, Gradients& gradients, double* d_states,
                                 double* d_pairs) const {
  for (Index m = 1; m < n_words(); ++m) {
    for_each_pair(m, [&](Index left, Index right, Index pair) {
      const double amount = d[pair] * std::exp(log_probability(left, right, pair));
      if (amount == 0.0) return;
      gradients.before[at(left)] += amount;
      gradients.after[at(right)] += amount;
      gradients.log_partition -= amount;
      d_states[left] += amount;
      d_states[right] += amount;
      d_pairs[pair] += amount;
    });
  }
}

// log Z is the log-sum of the first word's states with what comes after them, so its gradient joins
// theirs; then the recursions in reverse, each term of a log-sum with its share.
void HeadChain::pullback(Gradients& gradients, double* d_states, double* d_pairs) {
  for (Index s = 0; s < first_state(1); ++s) {
    if (states_[s] == kForbidden || after_[at(s)] == kForbidden) continue;
    const double amount =
        gradients.log_partition * std::exp(states_[s] + after_[at(s)] - log_partition_);
    gradients.after[at(s)] += amount;
    d_states[s] += amount;
  }
  const auto spread = [&](Index state, Index pair, double share, double d, double& d_other) {
    const double amount = share * d;
    d_other += amount;
    d_states[state] += amount;
    d_pairs[pair] += amount;
  };
  for (Index m = n_words() - 1; m >= 1; --m) {
    for_each_pair(m, [&](Index left, Index right, Index pair) {
      const double d = gradients.before[at(right)];
      if (d == 0.0 || states_[left] == kForbidden || pairs_[pair] == kForbidden) return;
      const double share =
          std::exp(before_[at(left)] + states_[left] + pairs_[pair] - before_[at(right)]);
      spread(left, pair, share, d, gradients.before[at(left)]);
    });
  }
  for (Index m = 1; m < n_words(); ++m) {
    for_each_pair(m, [&](Index left, Index right, Index pair) {
      const double d = gradients.after[at(left)];
      if (d == 0.0 || states_[right] == kForbidden || pairs_[pair] == kForbidden) return;
      const double share =
          std::exp(after_[at(right)] + states_[right] + pairs_[pair] - after_[at(left)]);
      spread(right, pair, share, d, gradients.after[at(right)]);
    });
  }
}

}  // namespace arbora::inference
