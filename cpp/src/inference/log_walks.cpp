#include "arbora/inference/log_walks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "arbora/inference/log_odds.hpp"

namespace arbora::inference {
namespace {

double log_add(double a, double b) {
  const double top = std::max(a, b);
  return top == kForbidden ? top : top + std::log1p(std::exp(std::min(a, b) - top));
}

}  // namespace

void LogWalks::sum(const HeadSteps& steps, const double* arcs, const double* links) {
  const Index k = steps.modifiers(), choices = steps.choices;
  taken_.assign(at(k), kForbidden);
  skipped_.assign(at(k), kForbidden);
  chosen_.resize(at(choices));
  unchosen_.resize(at(choices));
  links_.resize(at(choices));
  for (Index c = 0; c < choices; ++c) {
    const double* left = steps.first + c * steps.pairs();
    const double* right = left + sibling_pairs(steps.left);
    const double* right_arcs = arcs + steps.left;
    const double link = links == nullptr ? 0.0 : links[c];
    const double of_right = sum_side(right, steps.right, right_arcs);
    const double of_left = sum_side(left, steps.left, arcs);
    list_messages(left, steps.left, arcs, link + of_right, taken_.data(), skipped_.data());
    sum_side(right, steps.right, right_arcs);
    list_messages(right, steps.right, right_arcs, link + of_left, taken_.data() + steps.left,
                  skipped_.data() + steps.left);
    chosen_[at(c)] = of_left + of_right;
    links_[at(c)] = link + of_left + of_right;
  }
  for (Index c = 0; c < choices; ++c) {
    const double own = std::exchange(links_[at(c)], kForbidden);
    unchosen_[at(c)] = log_sum(links_);
    links_[at(c)] = own;
  }
}

// Fills F and U; returns their end.
double LogWalks::sum_side(const double* steps, Index k, const double* arcs) {
  up_to_.assign(1, 0.0);
  without_own_.clear();
  for (Index next = 0;; ++next) {
    const double* row = steps + sibling_pair(0, next);
    double sum = kForbidden;
    for (Index previous = 0; previous <= next; ++previous) {
      sum = log_add(sum, up_to_[at(previous)] + row[previous]);
    }
    if (next == k) return sum;
    without_own_.push_back(sum);
    up_to_.push_back(sum + arcs[next]);
  }
}

// Adds the walks of one side to those with and without each of its modifiers; `others` is the log
// sum over the rest of the walk. A step passes the modifiers between its ends: running sums over
// `previous` count each once for all that it passes.
void LogWalks::list_messages(const double* steps, Index k, const double* arcs, double others,
                             double* taken, double* skipped) {
  from_.assign(at(k + 1), kForbidden);
  for (Index next = k; next >= 0; --next) {
    const double rest = next == k ? 0.0 : arcs[next] + from_[at(next + 1)];
    const double* row = steps + sibling_pair(0, next);
    double sum = kForbidden;
    for (Index previous = 0; previous <= next; ++previous) {
      from_[at(previous)] = log_add(from_[at(previous)], row[previous] + rest);
      sum = log_add(sum, up_to_[at(previous)] + row[previous]);
      if (previous == next) break;
      skipped[previous] = log_add(skipped[previous], sum + rest + others);
    }
  }
  for (Index j = 0; j < k; ++j) {
    taken[j] = log_add(taken[j], without_own_[at(j)] + from_[at(j + 1)] + others);
  }
}

}  // namespace arbora::inference
