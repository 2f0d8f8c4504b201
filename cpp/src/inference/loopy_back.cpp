// Gradients through belief propagation: every step of loopy_run.cpp in reverse (Gormley et al.
// 2015, 5.2 and 5.3).
#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"
#include "arbora/inference/loopy_run.hpp"

namespace arbora::inference {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

constexpr double kNegligible = 1e-10;

}  // namespace

void LoopyRun::backward(const PartScores& d_beliefs, const PartValues<double>& d_scores,
                        Interruption& interruption) {
  d_row_.assign(at(row_size()), 0.0);
  d_to_tree_.assign(at(n_arcs_), 0.0);
  d_sums_.resize(at(n_arcs_));
  d_arcs_.assign(at(n_arcs_), 0.0);
  d_pairs_.assign(at(n_pairs_), 0.0);
  d_first_.assign(at(n_pairs_), 0.0);
  d_second_.assign(at(n_pairs_), 0.0);
  d_scores_in_rows_.assign(at(n_in_rows_ + kPackWidth), 0.0);
  beliefs_back(d_beliefs, d_scores);
  for (Index i = settings_.iterations; i >= 1; --i) {
    go_back(i, d_scores);
    interruption.poll();
  }
  // Before the first iteration, all that arcs say is their scores.
  const Row d = row_at(d_row_.data());
  for (Index a = 0; a < n_arcs_; ++a) d_arcs_[at(a)] += d.totals[a] + d_to_tree_[at(a)];
  if (n_in_rows_ > 0) graph_.rows.write(d_scores_in_rows_.data(), d_scores);
  graph_.write(d_arcs_.data(), d_pairs_.data(), d_scores);
  graph_.clear_impossible(d_scores);
}

void LoopyRun::beliefs_back(const PartScores& d_beliefs, const PartValues<double>& d_scores) {
  const Row last = row(settings_.iterations), d = row_at(d_row_.data());
  std::fill(both_.begin(), both_.end(), 0.0);
  graph_.read(d_beliefs, d.totals, both_.data());
  negligible_ = 0.0;  // of a gradient, next to those that came in
  for (Index a = 0; a < n_arcs_; ++a) {
    negligible_ = std::max(negligible_, kNegligible * std::abs(d.totals[a]));
  }
  for (Index a = 0; a < n_arcs_; ++a) {
    const double x = last.totals[a];
    d.totals[a] *= sigmoid(x) * sigmoid(-x);
  }
  pair_belief_pullback(pair_inputs(last), both_.data(),
                       {d_first_.data(), d_second_.data(), d_pairs_.data()});
  add_pair_gradients();
  if (n_in_rows_ > 0 &&
      (d_beliefs[PartKind::siblings] != nullptr || d_beliefs[PartKind::grandparents] != nullptr)) {
    both_in_rows_.assign(at(n_in_rows_ + kPackWidth), 0.0);
    graph_.rows.read(d_beliefs, both_in_rows_.data());
    graph_.rows.beliefs_back(last.totals, last.in_rows, both_in_rows_.data(), row_gradients());
  }
  if (graph_.steps() == nullptr) return;
  const bool of_grandparents = graph_.grand() && d_beliefs[PartKind::grandparents] != nullptr;
  if (d_beliefs[PartKind::consecutive] == nullptr &&
      d_beliefs[PartKind::grandsiblings] == nullptr && !of_grandparents) {
    return;
  }
  const StepTables d_steps = graph_.steps_of_tables(d_beliefs);
  for (Index h = 0; h <= graph_.parts().n_words(); ++h) {
    sum_head(h, last, Start::beliefs);
    walks_.differentiate({.steps = d_steps.side(h, 0, 0)});
    walks_.add_part_derivatives(*graph_.steps(), h, graph_.of_walks(d_scores));
    d_in_arcs_.assign(walks_.d_taken(), walks_.d_taken() + in_arcs_.size());
    d_in_links_.assign(walks_.d_chosen(), walks_.d_chosen() + in_links_.size());
    add_head_gradients(h, last, Start::beliefs);
  }
}

// totals = to_tree + from_tree, to_tree = scores + messages of pairs and walks.
void LoopyRun::go_back(Index iteration, const PartValues<double>& d_scores) {
  const Row old = row(iteration - 1), d = row_at(d_row_.data());
  std::copy(d.totals, d.totals + n_arcs_, d_sums_.begin());
  if (settings_.parallel) {
    for (Index a = 0; a < n_arcs_; ++a) d_sums_[at(a)] += d_to_tree_[at(a)];
  }
  tree_back(iteration);
  for (Index a = 0; a < n_arcs_; ++a) {
    if (!settings_.parallel) d_sums_[at(a)] += d_to_tree_[at(a)];
    d_arcs_[at(a)] += d_sums_[at(a)];
  }
  if (!settings_.parallel) std::fill(d_to_tree_.begin(), d_to_tree_.end(), 0.0);
  std::fill(d.totals, d.totals + n_arcs_, 0.0);
  pairs_back(old, share_of_old(iteration));
  if (n_in_rows_ > 0) {
    graph_.rows.send_back(old.totals, in_rows_before(iteration), d_sums_.data(), row_gradients());
  }
  if (graph_.steps() != nullptr) walks_back(old, iteration, d_scores);
}

// A message is (1 - share) fresh + share old: the one part of its gradient goes on to the factor's
// inputs, the other to the message before.
void LoopyRun::tree_back(Index iteration) {
  const Row old = row(iteration - 1), fresh = row(iteration), d = row_at(d_row_.data());
  const double share = share_of_old(iteration);
  d_in_arcs_.resize(at(n_arcs_));
  for (Index a = 0; a < n_arcs_; ++a) {
    const double of_message = d.from_tree[a] + d.totals[a];
    d_in_arcs_[at(a)] = (1.0 - share) * of_message;
    d.from_tree[a] = share * of_message;
  }
  const Row& heard = settings_.parallel ? old : fresh;
  tree_.pullback(heard.to_tree, fresh.marginals, d_in_arcs_.data(), negligible_, d_to_tree_.data());
}

PairRows::Gradients LoopyRun::row_gradients() {
  const Row d = row_at(d_row_.data());
  return {d.in_rows, d.totals, d_scores_in_rows_.data()};
}

void LoopyRun::pairs_back(const Row& old, double share) {
  const Row d = row_at(d_row_.data());
  for (Index i = 0; i < graph_.n_pairs(); ++i) {
    const double to_first = d.to_first[i] + d_sums_[at(graph_.first[at(i)])];
    const double to_second = d.to_second[i] + d_sums_[at(graph_.second[at(i)])];
    d.to_first[i] = share * to_first;
    d.to_second[i] = share * to_second;
    d_first_[at(i)] = (1.0 - share) * to_first;
    d_second_[at(i)] = (1.0 - share) * to_second;
  }
  // The kernel reads a pack of gradients before it writes over them.
  pair_pullback(pair_inputs(old), d_first_.data(), d_second_.data(),
                {d_first_.data(), d_second_.data(), d_pairs_.data()});
  add_pair_gradients();
}

// in = totals - message
void LoopyRun::add_pair_gradients() {
  const Row d = row_at(d_row_.data());
  for (Index i = 0; i < graph_.n_pairs(); ++i) {
    d.totals[graph_.first[at(i)]] += d_first_[at(i)];
    d.totals[graph_.second[at(i)]] += d_second_[at(i)];
    d.to_first[i] -= d_first_[at(i)];
    d.to_second[i] -= d_second_[at(i)];
  }
}

// Like the tree's: a direction in the marginals goes through their Jacobian. The message to a
// choice is log(sum of its walks) - log(sum of all walks) + log(sum of all that came in): its
// gradient is what is expected under the choice, less what is expected in general.
void LoopyRun::walks_back(const Row& old, Index iteration, const PartValues<double>& d_scores) {
  const Start start = iteration == 1 ? Start::scores : Start::beliefs;
  for (Index h = 0; h <= graph_.parts().n_words(); ++h) {
    sum_head(h, old, start);
    take_messages(h, share_of_old(iteration));
    const std::size_t k = in_arcs_.size(), choices = in_links_.size();
    const double total = log_sum(in_links_);
    double d_total = 0.0;
    for (const double d_to_link : d_to_links_) d_total += d_to_link;
    for (std::size_t c = 0; c < choices; ++c) d_to_links_[c] -= d_total * walks_.chosen()[c];
    walks_.differentiate({nullptr, to_on_.data(), to_off_.data(), nullptr,
                          choices == 0 ? nullptr : d_to_links_.data()});
    walks_.add_part_derivatives(*graph_.steps(), h, graph_.of_walks(d_scores));
    d_in_links_.resize(choices);
    for (std::size_t c = 0; c < choices; ++c) {
      d_in_links_[c] =
          walks_.d_chosen()[c] + d_total * (std::exp(in_links_[c] - total) - walks_.chosen()[c]);
    }
    d_in_arcs_.resize(k);
    for (std::size_t j = 0; j < k; ++j) {
      d_in_arcs_[j] = walks_.d_taken()[j] - (alone_[j] ? 0.0 : d_to_arcs_[j]);
    }
    add_head_gradients(h, old, start);
    for (std::size_t j = 0; j < k; ++j) {
      if (!alone_[j] || d_to_arcs_[j] == 0.0 || in_arcs_[j] == kForbidden) continue;
      walks_back_alone(h, j, d_scores);
      add_head_gradients(h, old, start);
    }
  }
}

// The gradients by the fresh messages of a head's walks, and the direction they ask for. Modifiers
// of which one state has next to no chance come later, alone.
void LoopyRun::take_messages(Index head, double share) {
  const ArcOrder& order = graph_.order();
  const Row d = row_at(d_row_.data());
  const auto take = [&](double& d_message, Index arc) {
    const double of_message = d_message + d_sums_[at(arc)];
    d_message = share * of_message;
    return (1.0 - share) * of_message;
  };
  const std::size_t k = in_arcs_.size(), choices = in_links_.size();
  for (auto* numbers : {&d_to_arcs_, &to_on_, &to_off_}) numbers->resize(k);
  alone_.resize(k);
  for (std::size_t j = 0; j < k; ++j) {
    const Index arc = order.first[at(head)] + static_cast<Index>(j);
    d_to_arcs_[j] = take(d.to_modifier[arc], arc);
    const Pull pull = pull_message(d_to_arcs_[j], walks_.taken()[j], walks_.skipped()[j]);
    to_on_[j] = pull.on;
    to_off_[j] = pull.off;
    alone_[j] = pull.constant;
  }
  d_to_links_.resize(choices);
  for (std::size_t c = 0; c < choices; ++c) {
    const Index arc = order.of_link[at(graph_.parts().first_link(head)) + c];
    d_to_links_[c] = graph_.possible(arc) ? take(d.to_link[arc], arc) : 0.0;
  }
}

// The gradient of the message to one modifier: what is expected of the walks that take it, less
// what is expected of those that do not.
void LoopyRun::walks_back_alone(Index head, std::size_t j, const PartValues<double>& d_scores) {
  const HeadSteps steps = steps_of(*graph_.steps(), head);
  const double* links = in_links_.empty() ? nullptr : in_links_.data();
  d_in_arcs_.assign(in_arcs_.size(), 0.0);
  d_in_links_.assign(in_links_.size(), 0.0);
  const double in = in_arcs_[j];
  for (const bool taken : {true, false}) {
    in_arcs_[j] = taken ? 0.0 : kForbidden;
    walks_.sum(taken ? steps_taking(steps, static_cast<Index>(j), room_) : steps, in_arcs_.data(),
               links);
    d_to_links_.assign(walks_.chosen(), walks_.chosen() + steps.choices);
    for (double& mass : d_to_links_) mass *= taken ? d_to_arcs_[j] : -d_to_arcs_[j];
    walks_.differentiate({.masses = d_to_links_.data()});
    walks_.add_part_derivatives(*graph_.steps(), head, graph_.of_walks(d_scores));
    for (std::size_t i = 0; i < in_arcs_.size(); ++i) d_in_arcs_[i] += walks_.d_taken()[i];
    for (std::size_t c = 0; c < in_links_.size(); ++c) d_in_links_[c] += d_to_links_[c];
  }
  in_arcs_[j] = in;
  d_in_arcs_[j] = 0.0;
}

// Gradients by what a head's walks heard: totals, or probabilities, without their own messages.
void LoopyRun::add_head_gradients(Index head, const Row& old, Start start) {
  const ArcOrder& order = graph_.order();
  const Row d = row_at(d_row_.data());
  for (std::size_t j = 0; j < in_arcs_.size(); ++j) {
    const Index arc = order.first[at(head)] + static_cast<Index>(j);
    d.totals[arc] += d_in_arcs_[j];
    d.to_modifier[arc] -= d_in_arcs_[j];
  }
  const Index link = graph_.parts().first_link(head);
  for (std::size_t c = 0; c < in_links_.size(); ++c) {
    const Index arc = order.of_link[at(link) + c];
    const double slope = start == Start::scores ? 1.0 : sigmoid(-old.totals[arc]);
    d.totals[arc] += slope * d_in_links_[c];
    d.to_link[arc] -= d_in_links_[c];
  }
}

}  // namespace arbora::inference
