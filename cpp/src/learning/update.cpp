#include "arbora/learning/update.hpp"

#include <cmath>

#include "arbora/base/parallel.hpp"

namespace arbora::learning {
namespace {

constexpr double kMuchWork = 1e9;  // always worth a second thread

template <class Prefetch, class Visit>
void drain_all(Gradient& gradient, int threads, const Prefetch& prefetch, const Visit& visit) {
  for_each_sentence(kSlices, threads, kMuchWork, [&](Index slice, Workspace&) {
    gradient.drain(static_cast<int>(slice), prefetch, visit);
  });
}

auto prefetch(Weights weights) {
  return [weights](std::uint32_t slot) {
    ARBORA_PREFETCH(weights.values + slot);
    ARBORA_PREFETCH(&weights.states[slot].sum);
    ARBORA_PREFETCH(&weights.states[slot].seen);  // which may be in the next cache line
  };
}

template <class Visit>
void for_all(Weights weights, int threads, const Visit& visit) {
  const std::size_t share = (weights.size + kSlices - 1) / kSlices;
  for_each_sentence(kSlices, threads, kMuchWork, [&](Index slice, Workspace&) {
    const std::size_t begin = static_cast<std::size_t>(slice) * share;
    for (std::size_t i = begin; i < std::min(begin + share, weights.size); ++i) {
      visit(weights.values[i], weights.states[i]);
    }
  });
}

void catch_up(double value, WeightState& state, double clock) {
  state.sum += value * (clock - state.seen);
  state.seen = clock;
}

// (h / (h + shrinks))^steps, by squaring where that is quicker than exp and log.
double what_is_left(double h, double shrinks, double steps) {
  constexpr double kMany = 4096.0;
  if (steps >= kMany) return std::exp(-steps * std::log1p(shrinks / h));
  double result = 1.0, square = h / (h + shrinks);
  for (auto left = static_cast<unsigned>(steps);; square *= square) {
    if ((left & 1U) != 0) result *= square;
    left >>= 1U;
    if (left == 0) return result;
  }
}

// The steps that passed without a gradient: each multiplied the weight by H / (H + rate decay).
void catch_up(double& value, WeightState& state, const AdaGradStep& step, double until) {
  if (value == 0.0) return;  // neither decay nor average changes
  const double skipped = until - state.seen;
  state.seen = until;
  if (skipped <= 0.0) return;
  const double h = step.delta + std::sqrt(state.squares);
  const double shrinks = step.rate * step.decay;
  if (shrinks == 0.0) {
    state.sum += value * skipped;
    return;
  }
  // value (r + r^2 + ... + r^skipped), with r / (1 - r) = h / shrinks
  const double left = what_is_left(h, shrinks, skipped);
  state.sum += value * (h / shrinks) * (1.0 - left);
  value *= left;
}

}  // namespace

void additive_update(const AdditiveStep& step, Gradient& gradient, Weights weights, int threads) {
  drain_all(gradient, threads, prefetch(weights), [&](std::uint32_t slot, double g) {
    double& value = weights.values[slot];
    catch_up(value, weights.states[slot], step.clock);
    value -= step.rate * g;
  });
}

void adagrad_update(const AdaGradStep& step, Gradient& gradient, Weights weights, int threads) {
  drain_all(gradient, threads, prefetch(weights), [&](std::uint32_t slot, double g) {
    double& value = weights.values[slot];
    WeightState& state = weights.states[slot];
    catch_up(value, state, step, step.step - 1.0);
    state.squares += g * g;
    const double h = step.delta + std::sqrt(state.squares);
    value = (h * value - step.rate * g) / (h + step.rate * step.decay);
    state.sum += value;
    state.seen = step.step;
  });
}

void additive_flush(double clock, Weights weights, int threads) {
  // Zeros are skipped, so that the state of untouched weights stays zero.
  for_all(weights, threads, [&](double value, WeightState& state) {
    if (value != 0.0) catch_up(value, state, clock);
  });
}

void adagrad_flush(const AdaGradStep& step, Weights weights, int threads) {
  for_all(weights, threads,
          [&](double& value, WeightState& state) { catch_up(value, state, step, step.step); });
}

void add_gradient(Gradient& gradient, double* dense, int threads) {
  drain_all(
      gradient, threads, [&](std::uint32_t slot) { ARBORA_PREFETCH(dense + slot); },
      [&](std::uint32_t slot, double g) { dense[slot] += g; });
}

}  // namespace arbora::learning
