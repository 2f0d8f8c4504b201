// Gradients through belief propagation: every step of loopy_run.cpp in reverse (Gormley et al.
// 2015, 5.2 and 5.3).
#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"
#include "arbora/inference/loopy_run.hpp"

namespace arbora::inference {
namespace {

constexpr double kNegligible = 1e-10;

}  // namespace

void LoopyRun::backward(const PartScores& d_beliefs, const PartValues<double>& d_scores,
                        Interruption& interruption) {
  d_row_.assign(at(row_size()), 0.0);
  d_to_tree_.assign(at(arcs_.size()), 0.0);
  d_sums_.resize(at(arcs_.size()));
  d_arcs_.assign(at(arcs_.size()), 0.0);
  for (FactorGroup* group : groups_) group->start_backward();
  beliefs_back(d_beliefs, d_scores);
  for (Index i = settings_.iterations; i >= 1; --i) {
    iteration_back(i, d_scores);
    interruption.poll();
  }
  // Before the first iteration, the arcs' messages are their scores.
  const Row d = row_at(d_row_.data());
  for (Index a = 0; a < arcs_.size(); ++a) d_arcs_[at(a)] += d.totals[a] + d_to_tree_[at(a)];
  arcs_.write(d_arcs_.data(), d_scores.arcs);
  for (FactorGroup* group : groups_) {
    group->finish_backward(d_scores);
    group->copy_from_arcs(d_arcs_.data(), d_scores);
  }
}

void LoopyRun::beliefs_back(const PartScores& d_beliefs, const PartValues<double>& d_scores) {
  const Row last = row(settings_.iterations), d = row_at(d_row_.data());
  arcs_.read(d_beliefs.arcs, d.totals);
  for (const FactorGroup* group : groups_) group->add_to_arcs(d_beliefs, d.totals);
  negligible_ = 0.0;  // for a gradient, relative to the incoming ones
  for (Index a = 0; a < arcs_.size(); ++a) {
    negligible_ = std::max(negligible_, kNegligible * std::abs(d.totals[a]));
  }
  for (Index a = 0; a < arcs_.size(); ++a) {
    const double x = last.totals[a];
    d.totals[a] *= sigmoid(x) * sigmoid(-x);
  }
  for (std::size_t g = groups_.size(); g-- > 0;) {
    groups_[g]->beliefs_back(incoming(last, false), slice(last, g), d_beliefs,
                             {slice(d, g), d.totals, d_scores});
  }
}

// totals = to_tree + from_tree, to_tree = scores + messages of all groups.
void LoopyRun::iteration_back(Index iteration, const PartValues<double>& d_scores) {
  const Row old = row(iteration - 1), d = row_at(d_row_.data());
  std::copy(d.totals, d.totals + arcs_.size(), d_sums_.begin());
  if (settings_.parallel) {
    for (Index a = 0; a < arcs_.size(); ++a) d_sums_[at(a)] += d_to_tree_[at(a)];
  }
  tree_back(iteration);
  for (Index a = 0; a < arcs_.size(); ++a) {
    if (!settings_.parallel) d_sums_[at(a)] += d_to_tree_[at(a)];
    d_arcs_[at(a)] += d_sums_[at(a)];
  }
  if (!settings_.parallel) std::fill(d_to_tree_.begin(), d_to_tree_.end(), 0.0);
  std::fill(d.totals, d.totals + arcs_.size(), 0.0);
  for (std::size_t g = groups_.size(); g-- > 0;) {
    groups_[g]->send_back(incoming(old, iteration == 1), slice(old, g), share_of_old(iteration),
                          d_sums_.data(), {slice(d, g), d.totals, d_scores});
  }
}

// A message is (1 - share) fresh + share old: one part of its gradient goes to the tree's inputs,
// the other to the message before.
void LoopyRun::tree_back(Index iteration) {
  const Row old = row(iteration - 1), fresh = row(iteration), d = row_at(d_row_.data());
  const double share = share_of_old(iteration);
  d_from_tree_.resize(at(arcs_.size()));
  for (Index a = 0; a < arcs_.size(); ++a) {
    const double of_message = d.from_tree[a] + d.totals[a];
    d_from_tree_[at(a)] = (1.0 - share) * of_message;
    d.from_tree[a] = share * of_message;
  }
  const Row& source = settings_.parallel ? old : fresh;
  tree_.pullback(source.to_tree, fresh.marginals, d_from_tree_.data(), negligible_,
                 d_to_tree_.data());
}

}  // namespace arbora::inference
