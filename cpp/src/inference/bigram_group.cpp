#include "arbora/inference/bigram_group.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"

namespace arbora::inference {
bool BigramGroup::set(const ArcVariables& arcs, const PartScores& scores, const LoopySettings&) {
  arcs_ = &arcs;
  const double* table = scores[PartKind::head_bigrams];
  if (table == nullptr || arcs.parts().n_words() < 2) return false;
  chain_.set(arcs.parts());
  scores_.assign(table, table + arcs.parts().count(PartKind::head_bigrams));
  chain_.forbid_cycles(scores_.data());
  in_.resize(at(chain_.n_states()));
  return true;
}

// Another head of a word changes two scores at most.
void BigramGroup::add_bounds(double* sizes) const {
  double largest = 0.0;
  for (const double score : scores_) {
    if (score != kForbidden) largest = std::max(largest, std::abs(score));
  }
  for (Index a = 0; a < arcs_->size(); ++a) sizes[a] += 4.0 * largest;
}

double BigramGroup::sum(const Incoming& in, const double* old) {
  for (Index s = 0; s < chain_.n_states(); ++s) {
    const double total = in.totals[arc(s)];
    in_[at(s)] = total - (in.first ? 0.0 : softplus(total)) - old[arc(s)];
  }
  return chain_.sum(in_.data(), scores_.data());
}

double BigramGroup::sum_of_word(Index word, const double* more) const {
  double top = kForbidden, total = 0.0;
  const auto value = [&](Index s) { return in_[at(s)] + (more == nullptr ? 0.0 : more[arc(s)]); };
  const Index end = chain_.first_state(word + 1);
  for (Index s = chain_.first_state(word); s < end; ++s) top = std::max(top, value(s));
  for (Index s = chain_.first_state(word); s < end; ++s) total += std::exp(value(s) - top);
  return top + std::log(total);
}

// The message to a head is log P(head) minus the arc's incoming message, relative to the log-sum of
// the word's incoming messages.
double BigramGroup::send(const Incoming& in, const double* old, const Mixing& mixing, double* fresh,
                         double* sums) {
  const double log_partition = sum(in, old);
  for (Index m = 0; m < chain_.n_words(); ++m) {
    const double offset = sum_of_word(m, nullptr) - log_partition;
    for (Index s = chain_.first_state(m); s < chain_.first_state(m + 1); ++s) {
      const double message = chain_.before()[s] + chain_.after()[s] + offset;
      fresh[arc(s)] = in_[at(s)] == kForbidden ? 0.0
                      : message == kForbidden  ? -arcs_->certain()
                                               : message;
    }
  }
  const double change = mix(n_messages(), old, mixing, fresh);
  for (Index a = 0; a < arcs_->size(); ++a) sums[a] += fresh[a];
  return change;
}

double BigramGroup::beliefs(const Incoming& in, const double* last,
                            const PartValues<double>& answer) {
  double log_partition = sum(in, last);
  for (Index m = 0; m < chain_.n_words(); ++m) log_partition -= sum_of_word(m, last);
  chain_.pair_probabilities(answer[PartKind::head_bigrams]);
  return log_partition;
}

void BigramGroup::start_gradients() {
  const std::size_t states = at(chain_.n_states());
  d_logs_.before.assign(states, 0.0);
  d_logs_.after.assign(states, 0.0);
  d_logs_.log_partition = 0.0;
  d_in_.assign(states, 0.0);
}

void BigramGroup::beliefs_back(const Incoming& in, const double* last, const PartScores& d_beliefs,
                               const GroupGradients& gradients) {
  const double* given = d_beliefs[PartKind::head_bigrams];
  if (given == nullptr) return;
  sum(in, last);
  start_gradients();
  double* d_scores = gradients.scores[PartKind::head_bigrams];
  chain_.start_from_pairs(given, d_logs_, d_in_.data(), d_scores);
  chain_.pullback(d_logs_, d_in_.data(), d_scores);
  add_gradients(in, gradients);
}

void BigramGroup::send_back(const Incoming& in, const double* old, double share_of_old,
                            const double* d_sums, const GroupGradients& gradients) {
  sum(in, old);
  start_gradients();
  for (Index m = 0; m < chain_.n_words(); ++m) {
    double d_word_sum = 0.0;
    for (Index s = chain_.first_state(m); s < chain_.first_state(m + 1); ++s) {
      double& d_message = gradients.messages[arc(s)];
      const double of_message = d_message + d_sums[arc(s)];
      d_message = share_of_old * of_message;
      if (in_[at(s)] == kForbidden || !chain_.is_possible(s)) continue;
      const double d = (1.0 - share_of_old) * of_message;
      d_logs_.before[at(s)] = d_logs_.after[at(s)] = d;
      d_word_sum += d;
    }
    d_logs_.log_partition -= d_word_sum;
    const double word_sum = sum_of_word(m, nullptr);
    for (Index s = chain_.first_state(m); s < chain_.first_state(m + 1); ++s) {
      d_in_[at(s)] += d_word_sum * std::exp(in_[at(s)] - word_sum);
    }
  }
  chain_.pullback(d_logs_, d_in_.data(), gradients.scores[PartKind::head_bigrams]);
  add_gradients(in, gradients);
}

// in = log P(arc on) - message, or the score before the first iteration.
void BigramGroup::add_gradients(const Incoming& in, const GroupGradients& gradients) {
  for (Index s = 0; s < chain_.n_states(); ++s) {
    const double slope = in.first ? 1.0 : sigmoid(-in.totals[arc(s)]);
    gradients.totals[arc(s)] += slope * d_in_[at(s)];
    gradients.messages[arc(s)] -= d_in_[at(s)];
  }
}

}  // namespace arbora::inference
