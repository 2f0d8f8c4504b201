#include <algorithm>
#include <cmath>

#include "arbora/base/parallel.hpp"
#include "arbora/inference/head_automata.hpp"

namespace arbora {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The sum over all walks of one side. Afterwards shares[pair] is the probability of the step
// (previous, next) given that the walk comes to `next`; `log_sums` has room for k + 1 numbers.
double sum_side(const double* pairs, Index k, const double* arcs, double* log_sums,
                double* shares) {
  log_sums[0] = 0.0;
  for (Index next = 0; next <= k; ++next) {
    const double* row = pairs + sibling_pair(0, next);
    double* of_row = shares + sibling_pair(0, next);
    double top = kForbidden;
    for (Index previous = 0; previous <= next; ++previous) {
      of_row[previous] = log_sums[previous] + row[previous];
      top = std::max(top, of_row[previous]);
    }
    double sum = 0.0;
    for (Index previous = 0; previous <= next; ++previous) {
      of_row[previous] = top == kForbidden ? 0.0 : std::exp(of_row[previous] - top);
      sum += of_row[previous];
    }
    for (Index previous = 0; previous <= next; ++previous) {
      if (sum > 0.0) of_row[previous] /= sum;
    }
    const double value = top == kForbidden ? kForbidden : top + std::log(sum);
    if (next == k) return value;
    log_sums[next + 1] = value + arcs[next];
  }
  return kForbidden;  // not reached
}

// Spreads the probability of a side's walks from END back to START. On return shares[pair] is the
// probability of the step, and taken[j] that of taking modifier j.
void spread_side(Index k, double mass, double* shares, double* taken) {
  std::fill(taken, taken + k, 0.0);
  for (Index next = k; next >= 0; --next) {
    const double here = next == k ? mass : taken[next];
    double* of_row = shares + sibling_pair(0, next);
    for (Index previous = 0; previous <= next; ++previous) {
      of_row[previous] *= here;
      if (previous > 0) taken[previous - 1] += of_row[previous];
    }
  }
}

void add(const double* from, Index count, double* to) {
  for (Index i = 0; i < count; ++i) to[i] += from[i];
}

// One sentence; memory is used again from head to head.
class WalkSums {
 public:
  WalkSums(const PartIndex& parts, const PartScores& scores, const PartValues<double>& expected)
      : parts_(parts), scores_(scores), out_(expected), steps_(parts, scores) {}

  double run() {
    double total = 0.0;
    for (Index h = 0; h <= parts_.n_words(); ++h) total += head(h);
    if (!steps_.grand()) {
      for (Index m = 1; m <= parts_.n_words(); ++m) total += own_head(m);
    }
    return total;
  }

 private:
  // log of the sum over a word's heads, where walks do not choose them.
  double own_head(Index m) {
    const Index side = parts_.n_words() + 1;
    const auto heads = parts_.heads(m);
    double top = kForbidden, sum = 0.0;
    for (const std::int32_t h : heads) top = std::max(top, scores_.arcs[h * side + m]);
    for (const std::int32_t h : heads) sum += std::exp(scores_.arcs[h * side + m] - top);
    for (const std::int32_t h : heads) {
      out_.arcs[h * side + m] += std::exp(scores_.arcs[h * side + m] - top) / sum;
    }
    return top + std::log(sum);
  }

  // log of the sum over the head's walks.
  double head(Index h) {
    const Index left = side_length(h, 0), k = left + side_length(h, 1);
    const Index pairs = sibling_pairs(left) + sibling_pairs(k - left);
    arcs_.resize(at(k));
    for (Index j = 0; j < k; ++j) arcs_[at(j)] = scores_.arcs[cell(h, j)];
    const Index choices = steps_.choices(h);
    shares_.resize(at(choices * pairs));
    values_.resize(at(choices));
    log_sums_.resize(at(k + 1));
    for (Index c = 0; c < choices; ++c) {
      double* shares = shares_.data() + c * pairs;
      values_[at(c)] = sum_side(steps_.side(h, c, 0), left, arcs_.data(), log_sums_.data(), shares);
      values_[at(c)] += sum_side(steps_.side(h, c, 1), k - left, arcs_.data() + left,
                                 log_sums_.data(), shares + sibling_pairs(left));
      if (const Index arc = own_arc(h, c); arc >= 0) values_[at(c)] += scores_.arcs[arc];
    }
    const double top = *std::max_element(values_.begin(), values_.end());
    double sum = 0.0;
    for (const double value : values_) sum += std::exp(value - top);
    for (Index c = 0; c < choices; ++c) {
      const double mass = std::exp(values_[at(c)] - top) / sum;
      if (mass > 0.0) spread(h, c, mass, left, k, shares_.data() + c * pairs);
    }
    return top + std::log(sum);
  }

  // Adds what one choice of the grandparent, of probability `mass`, expects.
  void spread(Index h, Index choice, double mass, Index left, Index k, double* shares) {
    if (const Index arc = own_arc(h, choice); arc >= 0) out_.arcs[arc] += mass;
    taken_.resize(at(k));
    spread_side(left, mass, shares, taken_.data());
    spread_side(k - left, mass, shares + sibling_pairs(left), taken_.data() + left);
    const Index pairs = sibling_pairs(left) + sibling_pairs(k - left);
    for (Index j = 0; j < k; ++j) out_.arcs[cell(h, j)] += taken_[at(j)];
    if (out_.consecutive != nullptr) {
      add(shares, pairs, out_.consecutive + parts_.consecutive_at(h, 0));
    }
    if (!steps_.grand()) return;
    const Index link = parts_.first_link(h) + choice;
    if (out_.grandparents != nullptr) {
      add(taken_.data(), k, out_.grandparents + parts_.grandparents_at(link));
    }
    if (out_.grandsiblings != nullptr) {
      add(shares, pairs, out_.grandsiblings + parts_.grandsiblings_at(link, 0, h));
    }
  }

  // The arc to the head from its own head, which a walk with grandparents chooses too; -1 if it
  // does not.
  Index own_arc(Index h, Index choice) const {
    if (!steps_.grand() || h == 0) return -1;
    return parts_.grandparent(parts_.first_link(h) + choice) * (parts_.n_words() + 1) + h;
  }
  Index side_length(Index h, int side) const {
    return static_cast<Index>(parts_.modifiers(h, side).size());
  }
  // The cell of a head's modifier, the left ones outwards, then the right.
  Index cell(Index h, Index j) const {
    const Index left = side_length(h, 0);
    const auto side = parts_.modifiers(h, j < left ? 0 : 1);
    return h * (parts_.n_words() + 1) + side[at(j < left ? j : j - left)];
  }

  const PartIndex& parts_;
  const PartScores& scores_;
  const PartValues<double>& out_;
  StepTables steps_;
  std::vector<double> arcs_, shares_, values_, log_sums_, taken_;
};

}  // namespace

void batch_walk_sums(const PartBatch& parts, const PartScores& scores,
                     const PartValues<double>& expected, double* values, int threads) {
  std::vector<double> costs;
  for (Index i = 0; i < parts.size(); ++i) {
    const PartIndex& own = parts[i];
    const Index pairs = own.kinds().grand() ? own.n_links() * 30 : own.n_arcs() * 8;
    costs.push_back(30.0 * static_cast<double>(pairs));
  }
  for_each_by_cost(costs, threads, [&](Index i, Workspace&) {
    const PartScores own = scores.of(parts.place(i));
    const PartValues<double> out = expected.of(parts.place(i));
    values[i] = WalkSums(parts[i], own, out).run();
  });
}

}  // namespace arbora
