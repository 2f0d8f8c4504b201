#include "arbora/inference/head_walks.hpp"

#include <algorithm>
#include <cmath>

namespace arbora::inference {
namespace {

double value_or_zero(const double* values, Index i) { return values == nullptr ? 0.0 : values[i]; }

// For each number the sum of all others, without subtraction.
void sums_of_others(const double* values, Index count, double* others) {
  double before = 0.0, after = 0.0;
  for (Index i = 0; i < count; ++i) {
    others[i] = before;
    before += values[i];
  }
  for (Index i = count - 1; i >= 0; --i) {
    others[i] += after;
    after += values[i];
  }
}

}  // namespace

HeadSteps steps_of(const StepTables& steps, Index head) {
  return {steps.side(head, 0, 0), static_cast<Index>(steps.parts().modifiers(head, 0).size()),
          static_cast<Index>(steps.parts().modifiers(head, 1).size()), steps.choices(head)};
}

HeadSteps steps_taking(const HeadSteps& steps, Index modifier, std::vector<double>& room) {
  if (steps.first != room.data()) {
    room.assign(steps.first, steps.first + steps.choices * steps.pairs());
  }
  const bool on_left = modifier < steps.left;
  const Index place = on_left ? modifier : modifier - steps.left;
  const Index k = on_left ? steps.left : steps.right;
  for (Index c = 0; c < steps.choices; ++c) {
    const Index side = c * steps.pairs() + (on_left ? 0 : sibling_pairs(steps.left));
    for (Index next = place + 1; next <= k; ++next) {
      double* row = room.data() + side + sibling_pair(0, next);
      std::fill(row, row + place + 1, kForbidden);
    }
  }
  return {room.data(), steps.left, steps.right, steps.choices};
}

// Where the numbers of one choice and side are.
struct HeadWalks::Side {
  Index k;         // modifiers
  Index pair;      // of the first pair, in the tables of steps
  Index reached;   // of the first modifier, in reached_
  Index modifier;  // of the first modifier, in taken_
};

HeadWalks::Side HeadWalks::side_of(Index choice, int side) const {
  const Index pair = choice * steps_.pairs(), reached = choice * (steps_.modifiers() + 2);
  if (side == 0) return {steps_.left, pair, reached, 0};
  return {steps_.right, pair + sibling_pairs(steps_.left), reached + steps_.left + 1, steps_.left};
}

double HeadWalks::sum(const HeadSteps& steps, const double* arcs, const double* links) {
  steps_ = steps;
  const Index k = steps.modifiers(), choices = steps.choices;
  shares_.resize(at(choices * steps.pairs()));
  reached_.resize(at(choices * (k + 2)));
  log_sums_.resize(at(k + 1));
  chosen_.resize(at(choices));
  unchosen_.resize(at(choices));
  log_walks_.resize(at(choices));
  double top = kForbidden;
  for (Index c = 0; c < choices; ++c) {
    const double link = value_or_zero(links, c);
    double& walks = log_walks_[at(c)];
    walks = link;
    if (link > kForbidden) {
      walks = sum_side(side_of(c, 0), arcs) + sum_side(side_of(c, 1), arcs);
    }
    chosen_[at(c)] = link + walks;
    top = std::max(top, chosen_[at(c)]);
  }
  taken_.assign(at(k), 0.0);
  skipped_.assign(at(k), 0.0);
  if (top == kForbidden) {
    std::fill(reached_.begin(), reached_.end(), 0.0);
    for (auto* choice : {&chosen_, &unchosen_}) std::fill(choice->begin(), choice->end(), 0.0);
    return top;
  }
  double total = 0.0;
  for (double& value : chosen_) total += (value = std::exp(value - top));
  for (double& value : chosen_) value /= total;
  sums_of_others(chosen_.data(), choices, unchosen_.data());
  for (Index c = 0; c < choices; ++c) {
    for (const int side : {0, 1}) spread_side(side_of(c, side), chosen_[at(c)]);
  }
  return top + std::log(total);
}

double HeadWalks::sum_side(const Side& side, const double* arcs) {
  const double* steps = steps_.first + side.pair;
  double* shares = shares_.data() + side.pair;
  log_sums_[0] = 0.0;
  for (Index next = 0;; ++next) {
    const double* row = steps + sibling_pair(0, next);
    double* of_row = shares + sibling_pair(0, next);
    double top = kForbidden, total = 0.0;
    for (Index previous = 0; previous <= next; ++previous) {
      of_row[previous] = log_sums_[at(previous)] + row[previous];
      top = std::max(top, of_row[previous]);
    }
    if (top == kForbidden) {
      std::fill(of_row, of_row + next + 1, 0.0);
    } else {
      for (Index previous = 0; previous <= next; ++previous) {
        total += (of_row[previous] = std::exp(of_row[previous] - top));
      }
      for (Index previous = 0; previous <= next; ++previous) of_row[previous] /= total;
      top += std::log(total);
    }
    if (next == side.k) return top;
    log_sums_[at(next + 1)] = top + arcs[side.modifier + next];
  }
}

// Spreads the probability of a side's walks from END back to START. A step past a modifier skips
// it; running sums over `previous` count each step once for all that it skips.
void HeadWalks::spread_side(const Side& side, double mass) {
  double* reached = reached_.data() + side.reached;
  std::fill(reached, reached + side.k, 0.0);
  reached[side.k] = mass;
  if (mass == 0.0) return;
  for (Index next = side.k; next >= 0; --next) {
    const double* shares = shares_.data() + side.pair + sibling_pair(0, next);
    double past = 0.0;
    for (Index previous = 0; previous <= next; ++previous) {
      const double step = reached[next] * shares[previous];
      past += step;
      if (previous > 0) reached[previous - 1] += step;
      if (previous < next) skipped_[at(side.modifier + previous)] += past;
    }
  }
  for (Index j = 0; j < side.k; ++j) taken_[at(side.modifier + j)] += reached[j];
}

void HeadWalks::differentiate(const Direction& direction) {
  const Index k = steps_.modifiers(), choices = steps_.choices;
  d_shares_.resize(shares_.size());
  d_reached_.resize(reached_.size());
  d_logs_.resize(at(k + 1));
  d_chosen_.resize(at(choices));
  d_taken_.assign(at(k), 0.0);
  double mean = 0.0;
  for (Index c = 0; c < choices; ++c) {
    d_chosen_[at(c)] = 0.0;
    if (chosen_[at(c)] == 0.0) {
      std::fill_n(d_shares_.begin() + c * steps_.pairs(), steps_.pairs(), 0.0);
      continue;
    }
    double d_value = value_or_zero(direction.chosen, c);
    for (const int side : {0, 1}) d_value += differentiate_side(side_of(c, side), direction);
    d_chosen_[at(c)] = d_value;
    mean += chosen_[at(c)] * d_value;
  }
  for (Index c = 0; c < choices; ++c) {
    double& d_mass = d_chosen_[at(c)];
    d_mass = chosen_[at(c)] == 0.0 ? 0.0 : chosen_[at(c)] * (d_mass - mean);
    if (log_walks_[at(c)] == kForbidden) continue;
    const double all = d_mass + value_or_zero(direction.masses, c);
    for (const int side : {0, 1}) spread_derivatives(side_of(c, side), all);
  }
}

// F'(next) = a'(next) + sum p (F'(previous) + step'), p' = p (F'(previous) + step' - their mean);
// step' counts all modifiers that the step skips.
double HeadWalks::differentiate_side(const Side& side, const Direction& direction) {
  d_logs_[0] = 0.0;
  for (Index next = 0;; ++next) {
    const Index row = side.pair + sibling_pair(0, next);
    const double* shares = shares_.data() + row;
    double* d_shares = d_shares_.data() + row;
    double mean = 0.0, skipped = 0.0;
    for (Index previous = next; previous >= 0; --previous) {
      const double p = shares[previous];
      if (previous < next) skipped += value_or_zero(direction.skipped, side.modifier + previous);
      d_shares[previous] = p == 0.0 ? 0.0
                                    : d_logs_[at(previous)] + skipped +
                                          value_or_zero(direction.steps, row + previous);
      mean += p * d_shares[previous];
    }
    for (Index previous = 0; previous <= next; ++previous) {
      d_shares[previous] = shares[previous] * (d_shares[previous] - mean);
    }
    if (next == side.k) return mean;
    d_logs_[at(next + 1)] = mean + value_or_zero(direction.taken, side.modifier + next);
  }
}

void HeadWalks::spread_derivatives(const Side& side, double d_mass) {
  const double* reached = reached_.data() + side.reached;
  double* d_reached = d_reached_.data() + side.reached;
  std::fill(d_reached, d_reached + side.k, 0.0);
  d_reached[side.k] = d_mass;
  for (Index next = side.k; next >= 0; --next) {
    const Index row = side.pair + sibling_pair(0, next);
    for (Index previous = 1; previous <= next; ++previous) {
      d_reached[previous - 1] += d_reached[next] * shares_[at(row + previous)] +
                                 reached[next] * d_shares_[at(row + previous)];
    }
  }
  for (Index j = 0; j < side.k; ++j) d_taken_[at(side.modifier + j)] += d_reached[j];
}

// Calls step(pair, next's place in reached_) for every step of one choice.
template <class Step>
void HeadWalks::visit(Index choice, const Step& step) const {
  if (log_walks_[at(choice)] == kForbidden) return;
  for (const int which : {0, 1}) {
    const Side side = side_of(choice, which);
    for (Index next = 0; next <= side.k; ++next) {
      for (Index previous = 0; previous <= next; ++previous) {
        step(side.pair + sibling_pair(previous, next), side.reached + next);
      }
    }
  }
}

void HeadWalks::add_steps(double* to) const {
  for (Index c = 0; c < steps_.choices; ++c) {
    visit(c, [&](Index pair, Index next) { to[pair] += reached_[at(next)] * shares_[at(pair)]; });
  }
}

void HeadWalks::add_step_derivatives(double* to) const {
  for (Index c = 0; c < steps_.choices; ++c) {
    visit(c, [&](Index pair, Index next) {
      to[pair] +=
          d_reached_[at(next)] * shares_[at(pair)] + reached_[at(next)] * d_shares_[at(pair)];
    });
  }
}

// The transpose of how StepTables adds up a head's steps.
template <class Value>
void HeadWalks::add_to(const StepTables& tables, Index head, const PartValues<double>& to,
                       const Value& value) const {
  const PartIndex& parts = tables.parts();
  const Index pairs = steps_.pairs();
  for (Index c = 0; c < steps_.choices; ++c) {
    const Index link = parts.first_link(head) + c;
    double* consecutive = to[PartKind::consecutive] == nullptr
                              ? nullptr
                              : to[PartKind::consecutive] + parts.consecutive_at(head, 0);
    double* grand = to[PartKind::grandsiblings] == nullptr || !tables.grand()
                        ? nullptr
                        : to[PartKind::grandsiblings] + parts.grandsiblings_at(link, 0, head);
    visit(c, [&](Index pair, Index next) {
      const double amount = value(pair, next);
      if (consecutive != nullptr) consecutive[pair - c * pairs] += amount;
      if (grand != nullptr) grand[pair - c * pairs] += amount;
    });
  }
}

void HeadWalks::add_parts(const StepTables& tables, Index head,
                          const PartValues<double>& to) const {
  add_to(tables, head, to,
         [&](Index pair, Index next) { return reached_[at(next)] * shares_[at(pair)]; });
  add_grandparents(tables, head, reached_, to[PartKind::grandparents]);
}

void HeadWalks::add_part_derivatives(const StepTables& tables, Index head,
                                     const PartValues<double>& to) const {
  add_to(tables, head, to, [&](Index pair, Index next) {
    return d_reached_[at(next)] * shares_[at(pair)] + reached_[at(next)] * d_shares_[at(pair)];
  });
  add_grandparents(tables, head, d_reached_, to[PartKind::grandparents]);
}

// A grandparent part is there when its modifier is reached under its link.
void HeadWalks::add_grandparents(const StepTables& tables, Index head,
                                 const std::vector<double>& reached, double* to) const {
  if (to == nullptr || !tables.grand()) return;
  for (Index c = 0; c < steps_.choices; ++c) {
    if (log_walks_[at(c)] == kForbidden) continue;
    double* of_link = to + tables.parts().grandparents_at(tables.parts().first_link(head) + c);
    const double* here = reached.data() + c * (steps_.modifiers() + 2);
    for (Index j = 0; j < steps_.left; ++j) of_link[j] += here[j];
    for (Index j = steps_.left; j < steps_.modifiers(); ++j) of_link[j] += here[j + 1];
  }
}

}  // namespace arbora::inference
