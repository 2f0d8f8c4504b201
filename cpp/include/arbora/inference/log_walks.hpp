// The messages of one head's automaton in logarithms throughout, where the probabilities of
// head_walks.hpp underflow. For one choice and side, with U(next) for the walks from START up to
// next, its own score left out, F(next) = a(next) + U(next), and B(previous) for those from there
// to END,
//
//     with modifier j:     U(j) + B(j)
//     without modifier j:  log sum_{previous < j < next} exp(F(previous) + step(previous, next)
//                                                            + a(next) + B(next)),
//
// so that neither depends on the score of j itself, and nothing is subtracted.
#pragma once

#include <vector>

#include "arbora/inference/head_walks.hpp"

namespace arbora::inference {

class LogWalks {
 public:
  // Arguments are those of HeadWalks.
  void sum(const HeadSteps& steps, const double* arcs, const double* links);

  // Then: the logarithms of the sums over walks that take a modifier, without its own score, and
  // over those that do not; the same for choices, without their links.
  const double* taken() const { return taken_.data(); }
  const double* skipped() const { return skipped_.data(); }
  const double* chosen() const { return chosen_.data(); }
  const double* unchosen() const { return unchosen_.data(); }

 private:
  double sum_side(const double* steps, Index k, const double* arcs);
  void list_messages(const double* steps, Index k, const double* arcs, double others, double* taken,
                     double* skipped);

  std::vector<double> up_to_, without_own_, from_;  // F and B, START first; U
  std::vector<double> taken_, skipped_, chosen_, unchosen_, links_;
};

}  // namespace arbora::inference
