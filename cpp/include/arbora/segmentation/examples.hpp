// Decisions as examples of a log-linear model: candidates with their features, and the right one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/base/types.hpp"

namespace arbora::segmentation {

// Example e has the candidates first_candidate[e] ... first_candidate[e + 1] - 1, candidate c the
// slots first_slot[c] ... first_slot[c + 1] - 1. In front of them is a candidate 0 without
// features, whose score is 0; so a yes-or-no decision has one candidate. `right[e]` is 0 for
// candidate 0.
struct Examples {
  std::vector<std::uint32_t> slots;
  std::vector<std::uint64_t> first_slot{0};
  std::vector<std::uint64_t> first_candidate{0};
  std::vector<std::int32_t> right;

  Index size() const { return static_cast<Index>(right.size()); }
  void end_candidate() { first_slot.push_back(slots.size()); }
  void end_example(std::int32_t answer) {
    first_candidate.push_back(first_slot.size() - 1);
    right.push_back(answer);
  }
};

// The objective: sum of -log P(right) plus regularization / 2 times the squared norm of the
// weights. Writes its gradient. The same for any number of threads.
double objective(const Examples& examples, double regularization, std::span<const double> weights,
                 std::span<double> gradient, int threads);

// Minimises it with L-BFGS, from zero; returns the value reached. At most `passes` evaluations.
double minimise(const Examples& examples, double regularization, int passes,
                std::span<double> weights, int threads);

}  // namespace arbora::segmentation
