#include "arbora/inference/labels.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "arbora/base/interruption.hpp"

namespace arbora::inference {
namespace {

// P(l | arc) for one arc at a time; all 0 where the arc is forbidden.
class LabelProbabilities {
 public:
  explicit LabelProbabilities(LabelledScores scores)
      : scores_(scores), p_(static_cast<std::size_t>(scores.n_labels)) {}

  const std::vector<double>& of(Index cell) {
    const double* label = scores_.first + cell * scores_.n_labels;
    polling_.after(20 * scores_.n_labels);
    const double best = *std::max_element(label, label + scores_.n_labels);
    double sum = 0.0;
    for (std::size_t l = 0; l < p_.size(); ++l) {
      p_[l] = best == kForbidden ? 0.0 : std::exp(label[l] - best);
      sum += p_[l];
    }
    for (double& p : p_) p = best == kForbidden ? 0.0 : p / sum;
    return p_;
  }

 private:
  LabelledScores scores_;
  std::vector<double> p_;
  Polling polling_;
};

Index cells(LabelledScores scores) { return scores.side() * scores.side(); }

}  // namespace

void best_labels(LabelledScores scores, double* arcs) {
  for (Index i = 0; i < cells(scores); ++i) {
    const double* label = scores.first + i * scores.n_labels;
    arcs[i] = *std::max_element(label, label + scores.n_labels);
  }
}

void sum_labels(LabelledScores scores, double* arcs) {
  best_labels(scores, arcs);
  Polling polling;
  for (Index i = 0; i < cells(scores); ++i) {
    if (arcs[i] == kForbidden || scores.n_labels == 1) continue;
    const double* label = scores.first + i * scores.n_labels;
    double sum = 0.0;
    polling.after(20 * scores.n_labels);
    for (Index l = 0; l < scores.n_labels; ++l) sum += std::exp(label[l] - arcs[i]);
    arcs[i] += std::log(sum);
  }
}

void expand_marginals(LabelledScores scores, const double* marginals, double* answer) {
  LabelProbabilities given_arc(scores);
  for (Index i = 0; i < cells(scores); ++i) {
    for (const double p : given_arc.of(i)) *answer++ = marginals[i] * p;
  }
}

std::int32_t draw_label(LabelledScores scores, Index head, Index modifier, double uniform) {
  LabelProbabilities given_arc(scores);
  const std::vector<double>& p = given_arc.of(head * scores.side() + modifier);
  double sum = 0.0;
  std::size_t chosen = 0;
  for (std::size_t l = 0; l < p.size(); ++l) {
    if (p[l] == 0.0) continue;
    chosen = l;
    sum += p[l];
    if (sum > uniform) break;
  }
  return static_cast<std::int32_t>(chosen);
}

void reduce_gradient(LabelledScores scores, const double* d_marginals, double* expected) {
  LabelProbabilities given_arc(scores);
  for (Index i = 0; i < cells(scores); ++i) {
    expected[i] = 0.0;
    for (const double p : given_arc.of(i)) {
      if (p > 0.0) expected[i] += p * *d_marginals;
      ++d_marginals;
    }
  }
}

void expand_gradient(LabelledScores scores, const double* marginals, const double* d_marginals,
                     const double* expected, const double* d_arcs, double* answer) {
  LabelProbabilities given_arc(scores);
  for (Index i = 0; i < cells(scores); ++i) {
    for (const double p : given_arc.of(i)) {
      *answer++ = p == 0.0 ? 0.0 : p * (d_arcs[i] + marginals[i] * (*d_marginals - expected[i]));
      ++d_marginals;
    }
  }
}

}  // namespace arbora::inference
