#include "arbora/inference/walk_group.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"

namespace arbora::inference {
namespace {

double largest(const double* values, Index count) {
  double size = 0.0;
  for (Index i = 0; values != nullptr && i < count; ++i) size = std::max(size, std::abs(values[i]));
  return size;
}

}  // namespace

bool WalkGroup::set(const ArcVariables& arcs, const PartScores& scores,
                    const LoopySettings& settings) {
  const PartKinds kinds = arcs.parts().kinds();
  arcs_ = &arcs;
  tables_ = scores;
  grand_ = kinds.has(PartKind::grandsiblings) ||
           (kinds.has(PartKind::grandparents) && settings.grandparents_in_walks);
  steps_.reset();
  if (!kinds.has(PartKind::consecutive) && !grand_) return false;
  list_impossible();
  steps_.emplace(steps_of_tables(scores));
  return true;
}

Index WalkGroup::link_arc(Index head, std::size_t c) const {
  return arcs_->order().of_link[at(arcs_->parts().first_link(head)) + c];
}

void WalkGroup::list_impossible() {
  impossible_grandparents_.clear();
  impossible_grandsiblings_.clear();
  if (!grand_) return;
  const PartIndex& parts = arcs_->parts();
  for (Index link = 1; link < parts.n_links(); ++link) {
    const Index above = arcs_->order().of_link[at(link)];
    const Index g = arcs_->order().head[at(above)], h = arcs_->order().modifier[at(above)];
    const Index place = g == 0 ? -1 : parts.place(h, g);
    if (place < 0) continue;
    const int side = g > h ? 1 : 0;
    const auto k = static_cast<Index>(parts.modifiers(h, side).size());
    const auto left = static_cast<Index>(parts.modifiers(h, 0).size());
    impossible_grandparents_.push_back(parts.grandparents_at(link) + (side == 0 ? 0 : left) +
                                       place);
    const Index table = parts.grandsiblings_at(link, side, h);
    for (Index i = 0; i <= place; ++i) {
      impossible_grandsiblings_.push_back(table + sibling_pair(i, place));
    }
    for (Index next = place + 1; next <= k; ++next) {
      impossible_grandsiblings_.push_back(table + sibling_pair(place + 1, next));
    }
  }
}

// The steps of walks for tables of scores, or of a direction in them.
StepTables WalkGroup::steps_of_tables(const PartScores& tables) {
  PartScores possible = tables;
  const auto leave_out = [&](PartKind kind, const std::vector<Index>& places,
                             std::vector<double>& room) {
    if (tables[kind] == nullptr || places.empty()) return;
    room.assign(tables[kind], tables[kind] + arcs_->parts().count(kind));
    for (const Index place : places) room[at(place)] = 0.0;
    possible[kind] = room.data();
  };
  if (grand_) {
    leave_out(PartKind::grandparents, impossible_grandparents_, grandparents_);
    leave_out(PartKind::grandsiblings, impossible_grandsiblings_, grandsiblings_);
  }
  return StepTables(arcs_->parts(), possible, grand_, StepTables::Cycles::ignored);
}

void WalkGroup::clear_impossible(const PartValues<double>& tables) const {
  const auto clear = [](double* table, const std::vector<Index>& places) {
    if (table == nullptr) return;
    for (const Index place : places) table[place] = 0.0;
  };
  clear(tables[PartKind::grandparents], impossible_grandparents_);
  clear(tables[PartKind::grandsiblings], impossible_grandsiblings_);
}

PartValues<double> WalkGroup::of_walks(PartValues<double> tables) const {
  if (!grand_) tables[PartKind::grandparents] = nullptr;
  return tables;
}

// The message to a modifier is bounded by the effect of changing three steps, that to a link by the
// effect of changing all steps.
void WalkGroup::add_bounds(double* sizes) const {
  const PartIndex& parts = arcs_->parts();
  const auto of_kind = [&](PartKind kind) { return largest(tables_[kind], parts.count(kind)); };
  double of_steps = of_kind(PartKind::consecutive);
  if (grand_) of_steps += of_kind(PartKind::grandparents) + of_kind(PartKind::grandsiblings);
  const double of_links = grand_ ? 2.0 * static_cast<double>(parts.n_words() + 1) : 0.0;
  for (Index a = 0; a < arcs_->size(); ++a) sizes[a] += (6.0 + of_links) * of_steps;
}

double WalkGroup::send(const Incoming& in, const double* old, const Mixing& mixing, double* fresh,
                       double* sums) {
  for (Index h = 0; h <= arcs_->parts().n_words(); ++h) send_from_head(h, in, old, fresh);
  const double change = mix(n_messages(), old, mixing, fresh);
  const Index n = arcs_->size();
  for (Index a = 0; a < n; ++a) sums[a] += fresh[a];
  for (Index a = 0; grand_ && a < n; ++a) sums[a] += fresh[n + a];
  return change;
}

// log Z of a head's walks under the incoming messages.
double WalkGroup::sum_head(Index head, const Incoming& in, const double* old) {
  const ArcOrder& order = arcs_->order();
  const Index begin = order.first[at(head)], k = order.first[at(head + 1)] - begin;
  in_arcs_.resize(at(k));
  for (Index j = 0; j < k; ++j) in_arcs_[at(j)] = in.totals[begin + j] - old[begin + j];
  in_links_.clear();
  if (grand_ && head > 0) {
    const auto links = static_cast<std::size_t>(arcs_->parts().links_of(head));
    for (std::size_t c = 0; c < links; ++c) {
      const Index arc = link_arc(head, c);
      const double total = in.totals[arc];
      in_links_.push_back(total - (in.first ? 0.0 : softplus(total)) - to_links(old)[arc]);
    }
  }
  return walks_.sum(steps_of(*steps_, head), in_arcs_.data(),
                    in_links_.empty() ? nullptr : in_links_.data());
}

// Messages to arcs that are forbidden, or that the tree has made certain, do not matter.
void WalkGroup::send_from_head(Index head, const Incoming& in, const double* old, double* fresh) {
  const double log_partition = sum_head(head, in, old);
  const double total = log_sum(in_links_);
  for (std::size_t c = 0; c < in_links_.size(); ++c) {  // log P(c) minus its share of the total
    to_links(fresh)[link_arc(head, c)] =
        in_links_[c] == kForbidden ? 0.0 : walks_.log_walks()[c] - log_partition + total;
  }
  const Index first = arcs_->order().first[at(head)];
  double* to_modifier = fresh + first;
  const double* from_tree = in.from_tree + first;
  bool sound = true;
  for (std::size_t j = 0; j < in_arcs_.size(); ++j) {
    const double ratio = walks_.taken()[j] / walks_.skipped()[j];
    const bool matters = std::abs(from_tree[j]) != arcs_->certain();
    sound = sound && (sound_odds(ratio) || !matters);
    to_modifier[j] = matters ? std::log(ratio) - in_arcs_[j] : 0.0;
  }
  if (!sound) mend_messages(head, to_modifier);
}

// Recomputes the messages of a head's walks in logarithms, where probabilities underflowed.
void WalkGroup::mend_messages(Index head, double* to_modifier) {
  log_walks_.sum(steps_of(*steps_, head), in_arcs_.data(),
                 in_links_.empty() ? nullptr : in_links_.data());
  for (std::size_t j = 0; j < in_arcs_.size(); ++j) {
    to_modifier[j] =
        in_arcs_[j] == kForbidden
            ? 0.0
            : log_message(log_walks_.taken()[j], log_walks_.skipped()[j], arcs_->certain());
  }
}

// log-sum over a head's own heads of their incoming and outgoing messages.
double WalkGroup::sum_of_links(Index head, const double* last) {
  for (std::size_t c = 0; c < in_links_.size(); ++c) {
    in_links_[c] += to_links(last)[link_arc(head, c)];
  }
  return in_links_.empty() ? 0.0 : log_sum(in_links_);
}

double WalkGroup::beliefs(const Incoming& in, const double* last,
                          const PartValues<double>& answer) {
  double log_partition = 0.0;
  for (Index a = 0; a < arcs_->size(); ++a) log_partition -= softplus(in.totals[a]);
  for (Index h = 0; h <= arcs_->parts().n_words(); ++h) {
    log_partition += sum_head(h, in, last) - sum_of_links(h, last);
    walks_.add_parts(*steps_, h, of_walks(answer));
  }
  clear_impossible(answer);
  return log_partition;
}

void WalkGroup::beliefs_back(const Incoming& in, const double* last, const PartScores& d_beliefs,
                             const GroupGradients& gradients) {
  const bool of_grandparents = grand_ && d_beliefs[PartKind::grandparents] != nullptr;
  if (d_beliefs[PartKind::consecutive] == nullptr &&
      d_beliefs[PartKind::grandsiblings] == nullptr && !of_grandparents) {
    return;
  }
  const StepTables d_steps = steps_of_tables(d_beliefs);
  for (Index h = 0; h <= arcs_->parts().n_words(); ++h) {
    sum_head(h, in, last);
    walks_.differentiate({.steps = d_steps.side(h, 0, 0)});
    walks_.add_part_derivatives(*steps_, h, of_walks(gradients.scores));
    d_in_arcs_.assign(walks_.d_taken(), walks_.d_taken() + in_arcs_.size());
    d_in_links_.assign(walks_.d_chosen(), walks_.d_chosen() + in_links_.size());
    add_head_gradients(h, in, gradients);
  }
}

void WalkGroup::send_back(const Incoming& in, const double* old, double share_of_old,
                          const double* d_sums, const GroupGradients& gradients) {
  for (Index h = 0; h <= arcs_->parts().n_words(); ++h) {
    sum_head(h, in, old);
    take_gradients(h, share_of_old, d_sums, gradients.messages);
    head_back(h, in, gradients);
  }
}

// Like the tree's: the Jacobian of the marginals times a direction. The message to a choice is
// log(sum of its walks) - log(sum of all walks) + log(sum of the incoming messages): its gradient
// is the expectation under the choice minus the expectation over all walks.
void WalkGroup::head_back(Index head, const Incoming& in, const GroupGradients& gradients) {
  const std::size_t k = in_arcs_.size(), choices = in_links_.size();
  const double total = log_sum(in_links_);
  double d_total = 0.0;
  for (const double d_to_link : d_to_links_) d_total += d_to_link;
  for (std::size_t c = 0; c < choices; ++c) d_to_links_[c] -= d_total * walks_.chosen()[c];
  walks_.differentiate({nullptr, to_on_.data(), to_off_.data(), nullptr,
                        choices == 0 ? nullptr : d_to_links_.data()});
  walks_.add_part_derivatives(*steps_, head, of_walks(gradients.scores));
  d_in_links_.resize(choices);
  for (std::size_t c = 0; c < choices; ++c) {
    d_in_links_[c] =
        walks_.d_chosen()[c] + d_total * (std::exp(in_links_[c] - total) - walks_.chosen()[c]);
  }
  d_in_arcs_.resize(k);
  for (std::size_t j = 0; j < k; ++j) {
    d_in_arcs_[j] = walks_.d_taken()[j] - (alone_[j] ? 0.0 : d_to_arcs_[j]);
  }
  add_head_gradients(head, in, gradients);
  for (std::size_t j = 0; j < k; ++j) {
    if (!alone_[j] || d_to_arcs_[j] == 0.0 || in_arcs_[j] == kForbidden) continue;
    message_back_alone(head, j, gradients);
    add_head_gradients(head, in, gradients);
  }
}

// The gradients by the fresh messages of a head's walks, and their direction. Modifiers with one
// state of almost no probability are treated later, one by one. A message is (1 - share) fresh +
// share old: one part of its gradient goes to the factor's inputs, the other to the message before.
void WalkGroup::take_gradients(Index head, double share_of_old, const double* d_sums,
                               double* d_messages) {
  const auto take = [&](double& d_message, Index arc) {
    const double of_message = d_message + d_sums[arc];
    d_message = share_of_old * of_message;
    return (1.0 - share_of_old) * of_message;
  };
  const std::size_t k = in_arcs_.size(), choices = in_links_.size();
  for (auto* numbers : {&d_to_arcs_, &to_on_, &to_off_}) numbers->resize(k);
  alone_.resize(k);
  for (std::size_t j = 0; j < k; ++j) {
    const Index arc = arcs_->order().first[at(head)] + static_cast<Index>(j);
    d_to_arcs_[j] = take(d_messages[arc], arc);
    const Pull pull = pull_message(d_to_arcs_[j], walks_.taken()[j], walks_.skipped()[j]);
    to_on_[j] = pull.on;
    to_off_[j] = pull.off;
    alone_[j] = pull.constant;
  }
  d_to_links_.resize(choices);
  for (std::size_t c = 0; c < choices; ++c) {
    const Index arc = link_arc(head, c);
    d_to_links_[c] = arcs_->possible(arc) ? take(to_links(d_messages)[arc], arc) : 0.0;
  }
}

// The gradient of the message to one modifier: the expectation over walks that take it, minus the
// expectation over walks that do not.
void WalkGroup::message_back_alone(Index head, std::size_t j, const GroupGradients& gradients) {
  const HeadSteps steps = steps_of(*steps_, head);
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
    walks_.add_part_derivatives(*steps_, head, of_walks(gradients.scores));
    for (std::size_t i = 0; i < in_arcs_.size(); ++i) d_in_arcs_[i] += walks_.d_taken()[i];
    for (std::size_t c = 0; c < in_links_.size(); ++c) d_in_links_[c] += d_to_links_[c];
  }
  in_arcs_[j] = in;
  d_in_arcs_[j] = 0.0;
}

// Gradients by the incoming messages of a head's walks: totals, or probabilities, without their own
// messages.
void WalkGroup::add_head_gradients(Index head, const Incoming& in,
                                   const GroupGradients& gradients) {
  for (std::size_t j = 0; j < in_arcs_.size(); ++j) {
    const Index arc = arcs_->order().first[at(head)] + static_cast<Index>(j);
    gradients.totals[arc] += d_in_arcs_[j];
    gradients.messages[arc] -= d_in_arcs_[j];
  }
  for (std::size_t c = 0; c < in_links_.size(); ++c) {
    const Index arc = link_arc(head, c);
    const double slope = in.first ? 1.0 : sigmoid(-in.totals[arc]);
    gradients.totals[arc] += slope * d_in_links_[c];
    to_links(gradients.messages)[arc] -= d_in_links_[c];
  }
}

}  // namespace arbora::inference
