// Messages of belief propagation over on/off variables are log-odds, log m(on) / m(off): one number
// each, normalised by themselves, and out of reach of underflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "arbora/base/types.hpp"

namespace arbora {

// log(1 + e^x)
inline double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

// 1 / (1 + e^-x)
inline double sigmoid(double x) {
  const double y = std::exp(-std::abs(x));
  return (x >= 0.0 ? 1.0 : y) / (1.0 + y);
}

// Beyond this, log-odds say no more than "certain". A certain variable must stay so when any one
// of the messages into it is taken back, hence the second bound, the size of what came in.
inline constexpr double kCertain = 60.0;

// The log-odds of a factor's marginal, from P(on) and P(off), each a sum of its own.
inline double log_odds(double on, double off, double incoming) {
  const double bound = std::max(kCertain, std::abs(incoming));
  if (!(on > 0.0)) return -bound;
  if (!(off > 0.0)) return bound;
  return std::clamp(std::log(on / off), -bound, bound);
}

// d log_odds / d P(on). Where the variance is below this, marginals are little more than rounding
// errors, and what they could tell others is smaller still: such log-odds count as constants.
inline constexpr double kSmallestVariance = 1e-12;
inline double log_odds_slope(double on, double off) {
  const double variance = on * off;
  return variance < kSmallestVariance ? 0.0 : 1.0 / variance;
}

// The same for the logarithm of a probability.
inline double log_probability(double p, double incoming) {
  const double bound = std::max(kCertain, std::abs(incoming));
  return p > 0.0 ? std::max(std::log(p), -bound) : -bound;
}
inline double log_probability_slope(double p) { return p < kSmallestVariance ? 0.0 : 1.0 / p; }

inline double log_sum(std::span<const double> values) {
  double top = kForbidden, sum = 0.0;
  for (const double value : values) top = std::max(top, value);
  if (top == kForbidden) return top;
  for (const double value : values) sum += std::exp(value - top);
  return top + std::log(sum);
}

}  // namespace arbora
