#include "arbora/inference/pair_group.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"

namespace arbora::inference {
bool PairGroup::set(const ArcVariables& arcs, const PartScores& scores,
                    const LoopySettings& settings) {
  const PartKinds kinds = arcs.parts().kinds();
  arcs_ = &arcs;
  siblings_ = kinds.has(PartKind::siblings);
  grandparents_ = kinds.has(PartKind::grandparents) && !kinds.has(PartKind::grandsiblings) &&
                  !settings.grandparents_in_walks;
  first_.clear();
  second_.clear();
  part_.clear();
  sibling_pairs_ = 0;
  if (!siblings_ && !grandparents_) return false;
  // Damping mixes logarithms.
  if (settings.damping > 0.0 ||
      !rows_.set(arcs.parts(), arcs.order(), scores, siblings_, grandparents_, settings.trees)) {
    rows_.clear();
    list_pairs(settings.trees);
  }
  n_padded_ = whole_packs(n_pairs());
  scores_.assign(at(n_padded_), 0.0);
  in_first_.assign(at(n_padded_), 0.0);
  in_second_.assign(at(n_padded_), 0.0);
  both_.resize(at(n_padded_));
  read(scores, scores_.data());
  return true;
}

void PairGroup::add_bounds(double* sizes) const {
  for (Index a = 0; in_rows() && a < arcs_->size(); ++a) sizes[a] += rows_.most(a);
  for (std::size_t i = 0; i < first_.size(); ++i) {
    sizes[first_[i]] += std::abs(scores_[i]);
    sizes[second_[i]] += std::abs(scores_[i]);
  }
}

void PairGroup::prepare(double* messages) const {
  if (in_rows()) rows_.silence_gaps(rows_at(messages));
}

void PairGroup::silence(double* messages) const {
  if (!in_rows()) FactorGroup::silence(messages);  // rows need none: see rows_before
}

double PairGroup::send(const Incoming& in, const double* old, const Mixing& mixing, double* fresh,
                       double* sums) {
  if (in_rows()) {
    const PairRows::Messages before = rows_before(in, old), after = rows_at(fresh);
    rows_.send(in.totals, before, after, sums);
    return mixing.measured ? rows_.largest_change(before, after) : kForbidden;
  }
  pair_messages(inputs(in, old), fresh, fresh + n_padded_);
  const double change = mix(n_messages(), old, mixing, fresh);
  for (Index i = 0; i < n_pairs(); ++i) {
    sums[first_[at(i)]] += fresh[i];
    sums[second_[at(i)]] += fresh[n_padded_ + i];
  }
  return n_pairs() > 0 ? change : kForbidden;
}

void PairGroup::send_back(const Incoming& in, const double* old, double share_of_old,
                          const double* d_sums, const GroupGradients& gradients) {
  if (in_rows()) {
    rows_.send_back(in.totals, rows_before(in, old), d_sums, row_gradients(gradients));
    return;
  }
  double *d_to_first = gradients.messages, *d_to_second = gradients.messages + n_padded_;
  for (Index i = 0; i < n_pairs(); ++i) {
    const double to_first = d_to_first[i] + d_sums[first_[at(i)]];
    const double to_second = d_to_second[i] + d_sums[second_[at(i)]];
    d_to_first[i] = share_of_old * to_first;
    d_to_second[i] = share_of_old * to_second;
    d_first_[at(i)] = (1.0 - share_of_old) * to_first;
    d_second_[at(i)] = (1.0 - share_of_old) * to_second;
  }
  // The kernel reads a pack of gradients before it overwrites them.
  pair_pullback(inputs(in, old), d_first_.data(), d_second_.data(),
                {d_first_.data(), d_second_.data(), d_scores_.data()});
  add_gradients(gradients);
}

double PairGroup::beliefs(const Incoming& in, const double* last,
                          const PartValues<double>& answer) {
  if (in_rows()) return row_beliefs(in, last, answer);
  double log_partition = pair_beliefs(inputs(in, last), both_.data());
  n_factors_.assign(at(arcs_->size()), 0);
  for (Index i = 0; i < n_pairs(); ++i) {
    ++n_factors_[at(first_[at(i)])];
    ++n_factors_[at(second_[at(i)])];
    const PartKind kind = i < sibling_pairs_ ? PartKind::siblings : PartKind::grandparents;
    answer[kind][part_[at(i)]] = both_[at(i)];
  }
  for (Index a = 0; a < arcs_->size(); ++a) {
    if (const std::int32_t count = n_factors_[at(a)]; count > 0) {
      log_partition -= count * softplus(in.totals[a]);
    }
  }
  return log_partition;
}

void PairGroup::beliefs_back(const Incoming& in, const double* last, const PartScores& d_beliefs,
                             const GroupGradients& gradients) {
  if (in_rows()) {
    if (d_beliefs[PartKind::siblings] == nullptr && d_beliefs[PartKind::grandparents] == nullptr) {
      return;
    }
    both_in_rows_.assign(at(rows_.size() + kPackWidth), 0.0);
    rows_.read(d_beliefs, both_in_rows_.data());
    rows_.beliefs_back(in.totals, rows_at(last), both_in_rows_.data(), row_gradients(gradients));
    return;
  }
  std::fill(both_.begin(), both_.end(), 0.0);
  read(d_beliefs, both_.data());
  pair_belief_pullback(inputs(in, last), both_.data(),
                       {d_first_.data(), d_second_.data(), d_scores_.data()});
  add_gradients(gradients);
}

void PairGroup::start_backward() {
  d_scores_.assign(at(n_padded_), 0.0);
  d_first_.assign(at(n_padded_), 0.0);
  d_second_.assign(at(n_padded_), 0.0);
  d_scores_in_rows_.assign(in_rows() ? at(rows_.size() + kPackWidth) : 0, 0.0);
}

void PairGroup::finish_backward(const PartValues<double>& d_scores) {
  if (in_rows()) rows_.write(d_scores_in_rows_.data(), d_scores);
  for (Index i = 0; i < n_pairs(); ++i) {
    const PartKind kind = i < sibling_pairs_ ? PartKind::siblings : PartKind::grandparents;
    d_scores[kind][part_[at(i)]] = d_scores_[at(i)];
  }
}

void PairGroup::add_to_arcs(const PartScores& tables, double* of_arcs) const {
  if (!grandparents_ || tables[PartKind::grandparents] == nullptr) return;
  const double* of_root = tables[PartKind::grandparents] + arcs_->parts().grandparents_at(0);
  for (Index a = 0; a < arcs_->order().first[1]; ++a) {
    if (arcs_->possible(a)) of_arcs[a] += of_root[a];
  }
}

void PairGroup::copy_from_arcs(const double* of_arcs, const PartValues<double>& tables) const {
  if (!grandparents_) return;
  double* of_root = tables[PartKind::grandparents] + arcs_->parts().grandparents_at(0);
  for (Index a = 0; a < arcs_->order().first[1]; ++a) {
    of_root[a] = arcs_->possible(a) ? of_arcs[a] : 0.0;
  }
}

// Before the first iteration, rows need no messages to read.
PairRows::Messages PairGroup::rows_before(const Incoming& in, const double* old) const {
  return in.first ? PairRows::Messages{} : rows_at(old);
}

PairRows::Gradients PairGroup::row_gradients(const GroupGradients& gradients) {
  return {rows_at(gradients.messages), gradients.totals, d_scores_in_rows_.data()};
}

double PairGroup::row_beliefs(const Incoming& in, const double* last,
                              const PartValues<double>& answer) {
  both_in_rows_.resize(at(rows_.size() + kPackWidth));
  double log_partition = rows_.beliefs(in.totals, rows_at(last), both_in_rows_.data());
  rows_.write(both_in_rows_.data(), answer);
  for (Index a = 0; a < arcs_->size(); ++a) {
    const double log_odds =
        std::clamp(in.totals[a], -PairRows::kLargestLogOdds, PairRows::kLargestLogOdds);
    log_partition -= static_cast<double>(rows_.n_pairs(a)) * softplus(log_odds);
  }
  return log_partition;
}

void PairGroup::list_pairs(Trees trees) {
  if (siblings_) list_siblings();
  sibling_pairs_ = n_pairs();
  if (grandparents_) list_grandparents(trees);
}

void PairGroup::add_pair(Index one, Index two, Index part) {
  if (!arcs_->possible(one) || !arcs_->possible(two)) return;
  first_.push_back(static_cast<std::int32_t>(one));
  second_.push_back(static_cast<std::int32_t>(two));
  part_.push_back(part);
}

void PairGroup::list_siblings() {
  const PartIndex& parts = arcs_->parts();
  for (Index h = 0; h <= parts.n_words(); ++h) {
    const Index begin = arcs_->order().first[at(h)], k = parts.n_modifiers(h);
    const auto left = static_cast<Index>(parts.modifiers(h, 0).size());
    // The arc in place `rank` from left to right.
    const auto arc = [&](Index rank) { return begin + (rank < left ? left - 1 - rank : rank); };
    Index part = parts.siblings_at(h);
    for (Index j = 1; j < k; ++j) {
      for (Index i = 0; i < j; ++i) add_pair(arc(i), arc(j), part++);
    }
  }
}

void PairGroup::list_grandparents(Trees trees) {
  const PartIndex& parts = arcs_->parts();
  const ArcOrder& order = arcs_->order();
  for (Index link = 1; link < parts.n_links(); ++link) {
    const Index above = order.of_link[at(link)];
    const Index g = order.head[at(above)], h = order.modifier[at(above)];
    const Index begin = order.first[at(h)];
    for (Index j = 0; j < parts.n_modifiers(h); ++j) {
      const Index m = order.modifier[at(begin + j)];
      const bool between = (h < g && g < m) || (m < g && g < h);
      if (m == g || (trees == Trees::projective && between)) continue;
      add_pair(above, begin + j, parts.grandparents_at(link) + j);
    }
  }
}

PairInputs PairGroup::inputs(const Incoming& in, const double* old) {
  for (Index i = 0; i < n_pairs(); ++i) {
    in_first_[at(i)] = in.totals[first_[at(i)]] - old[i];
    in_second_[at(i)] = in.totals[second_[at(i)]] - old[n_padded_ + i];
  }
  return {n_pairs(), in_first_.data(), in_second_.data(), scores_.data()};
}

void PairGroup::read(const PartScores& tables, double* of_pairs) const {
  for (Index i = 0; i < n_pairs(); ++i) {
    const double* table = tables[i < sibling_pairs_ ? PartKind::siblings : PartKind::grandparents];
    of_pairs[i] = table == nullptr ? 0.0 : table[part_[at(i)]];
  }
}

// in = totals - message
void PairGroup::add_gradients(const GroupGradients& gradients) {
  for (Index i = 0; i < n_pairs(); ++i) {
    gradients.totals[first_[at(i)]] += d_first_[at(i)];
    gradients.totals[second_[at(i)]] += d_second_[at(i)];
    gradients.messages[i] -= d_first_[at(i)];
    gradients.messages[n_padded_ + i] -= d_second_[at(i)];
  }
}

}  // namespace arbora::inference
