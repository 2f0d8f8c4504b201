// Updates of the weights by the sparse gradient of a mini-batch. Decay and averaging of untouched
// weights are applied lazily, when a weight is next touched or flushed.
#pragma once

#include <cstdint>

#include "arbora/scoring/gradient.hpp"

namespace arbora::learning {

// The state of one weight: the sum of its values over time (for the average), the sum of its
// squared gradients (AdaGrad), and the time up to which both are accounted for.
struct WeightState {
  double sum, squares, seen;
};

struct Weights {
  double* values;
  WeightState* states;
  std::size_t size;
};

// w -= rate * gradient. Perceptron, MIRA, exponentiated gradient and, with values that stand for
// scale * value, stochastic gradient descent with decay. `clock` is the total weight of the average
// before the step (for the plain rule: the number of examples seen).
struct AdditiveStep {
  double rate;
  double clock;
};
void additive_update(const AdditiveStep& step, scoring::Gradient& gradient, Weights weights,
                     int threads);

// AdaGrad with composite mirror descent (Duchi, Hazan & Singer 2011): with H =
// delta + sqrt(sum of squares), w = (H w - rate g) / (H + rate decay), every step. `step` counts
// from 1.
struct AdaGradStep {
  double rate, delta, decay;
  double step;
};
void adagrad_update(const AdaGradStep& step, scoring::Gradient& gradient, Weights weights,
                    int threads);

// Brings all weights up to the given clock (additive) or step (AdaGrad).
void additive_flush(double clock, Weights weights, int threads);
void adagrad_flush(const AdaGradStep& step, Weights weights, int threads);

// Adds the gradient to a dense vector, for batch optimisers.
void add_gradient(scoring::Gradient& gradient, double* dense, int threads);

}  // namespace arbora::learning
