#include "arbora/inference/loopy_run.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"

namespace arbora::inference {
namespace {

// Mixes a share of the old messages into fresh ones; returns the largest change.
double mix(Index count, const double* old, double share, double* fresh) {
  double largest = 0.0;
  for (Index i = 0; i < count; ++i) {
    const double change = old[i] - fresh[i];
    largest = std::max(largest, std::abs(change));
    fresh[i] += share * change;
  }
  return largest;
}

ARBORA_MULTIVERSION
void sigmoids(const double* log_odds, Index count, double* answer) {
  for (Index i = 0; i + kPackWidth <= count; i += kPackWidth) {
    store_pack(answer + i, sigmoid(load_pack(log_odds + i)));
  }
  for (Index i = count / kPackWidth * kPackWidth; i < count; ++i) {
    answer[i] = sigmoid(log_odds[i]);
  }
}

}  // namespace

bool LoopyRun::set(const PartIndex& parts, const PartScores& scores,
                   const LoopySettings& settings) {
  settings_ = settings;
  arcs_.set(parts, scores.arcs);
  if (all_groups_.empty()) all_groups_ = make_factor_groups();
  groups_.clear();
  first_.clear();
  n_messages_ = 0;
  for (const auto& group : all_groups_) {
    if (!group->set(arcs_, scores, settings)) continue;
    group->add_to_arcs(scores, arcs_.scores.data());
    groups_.push_back(group.get());
    first_.push_back(n_messages_);
    n_messages_ += group->n_messages();
  }
  of_arcs_.assign(at(arcs_.size()), 0.0);
  for (const FactorGroup* group : groups_) group->add_bounds(of_arcs_.data());
  arcs_.bound(of_arcs_);
  tree_.set(parts.n_words(), arcs_.order().head, arcs_.order().modifier, settings.trees,
            settings.root);
  return tree_.possible(arcs_.scores.data());
}

LoopyRun::Row LoopyRun::row_at(double* begin) const {
  Row r{};
  r.messages = begin;
  r.from_tree = begin + n_messages_;
  r.to_tree = r.from_tree + arcs_.size();
  r.marginals = r.to_tree + arcs_.size();
  r.totals = r.marginals + arcs_.size();
  return r;
}

LoopyRun::Row LoopyRun::row(Index iteration) {
  return row_at(rows_.data() + (tape_ ? iteration : iteration % 2) * row_size());
}

void LoopyRun::forward(bool tape, double* residuals, Interruption& interruption) {
  tape_ = tape;
  const Index n_rows = tape ? settings_.iterations + 1 : 2;
  rows_.resize(at(n_rows * row_size()));
  const Row start = row(0);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (Index i = 0; i < n_rows; ++i) groups_[g]->prepare(slice(row(i), g));
    groups_[g]->silence(slice(start, g));
  }
  std::fill(start.from_tree, start.from_tree + arcs_.size(), 0.0);
  std::copy(arcs_.scores.begin(), arcs_.scores.end(), start.to_tree);
  std::copy(arcs_.scores.begin(), arcs_.scores.end(), start.totals);
  for (Index i = 1; i <= settings_.iterations; ++i) {
    iterate(i, residuals == nullptr ? nullptr : residuals + i - 1);
    interruption.poll();
  }
}

void LoopyRun::iterate(Index iteration, double* residual) {
  const Row old = row(iteration - 1), fresh = row(iteration);
  const Mixing mixing{share_of_old(iteration), residual != nullptr};
  std::copy(arcs_.scores.begin(), arcs_.scores.end(), fresh.to_tree);
  double change = kForbidden;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    change = std::max(change, groups_[g]->send(incoming(old, iteration == 1), slice(old, g), mixing,
                                               slice(fresh, g), fresh.to_tree));
  }
  const Row& source = settings_.parallel ? old : fresh;
  tree_log_partition_ =
      tree_.messages(source.to_tree, arcs_.certain(), fresh.marginals, fresh.from_tree);
  if (mixing.share_of_old > 0.0 || mixing.measured) {
    const double of_tree = mix(arcs_.size(), old.from_tree, mixing.share_of_old, fresh.from_tree);
    // Without other factors nothing receives the tree's messages, and their change does not count.
    if (change >= 0.0) change = std::max(change, of_tree);
  }
  if (residual != nullptr) *residual = std::max(change, 0.0);
  for (Index a = 0; a < arcs_.size(); ++a) fresh.totals[a] = fresh.to_tree[a] + fresh.from_tree[a];
}

// log Z = sum over factors of log Z_factor, minus for every variable and each of its factors except
// one the log of the variable's own sum. A variable's score is part of its messages, not a factor.
double LoopyRun::beliefs(const PartValues<double>& answer) {
  const Row last = row(settings_.iterations);
  double log_partition = 0.0;
  for (std::size_t g = groups_.size(); g-- > 0;) {
    log_partition += groups_[g]->beliefs(incoming(last, false), slice(last, g), answer);
  }
  arc_beliefs(answer.arcs);
  for (const FactorGroup* group : groups_) group->copy_from_arcs(of_arcs_.data(), answer);
  if (settings_.parallel) {  // the tree has not received the last messages
    tree_log_partition_ =
        tree_.messages(last.to_tree, arcs_.certain(), last.marginals, last.from_tree);
  }
  return log_partition + tree_log_partition_;
}

void LoopyRun::arc_beliefs(double* answer) {
  of_arcs_.resize(at(arcs_.size()));
  sigmoids(row(settings_.iterations).totals, arcs_.size(), of_arcs_.data());
  arcs_.write(of_arcs_.data(), answer);
}

}  // namespace arbora::inference
