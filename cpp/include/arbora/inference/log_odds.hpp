// Messages of belief propagation over on/off variables are log-odds, log m(on) / m(off): one number
// each, normalised by definition, without underflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "arbora/base/pack.hpp"
#include "arbora/base/types.hpp"

namespace arbora::inference {

// log(1 + e^x)
inline double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

// 1 / (1 + e^-x); base has it for packs.
using base::sigmoid;
inline double sigmoid(double x) {
  const double y = std::exp(-std::abs(x));
  return (x >= 0.0 ? 1.0 : y) / (1.0 + y);
}

// The message of a factor to a variable from the logarithms of the weights with it on and with it
// off, its own log-odds left out of both: the difference. If there is no configuration of the one
// kind, the message is `certain`, larger than all other messages together; if there is none at all,
// it is 0.
inline double log_message(double log_on, double log_off, double certain) {
  if (log_on == kForbidden) return log_off == kForbidden ? 0.0 : -certain;
  return log_off == kForbidden ? certain : log_on - log_off;
}

// Whether the ratio of P(on) and P(off), two separate sums, has full precision in spite of
// underflow.
inline constexpr double kLeastOdds = 1e-290;
inline bool sound_odds(double ratio) { return ratio >= kLeastOdds && ratio <= 1.0 / kLeastOdds; }

// d log(on / off) / d on. Where the product is too small for its inverse to be used, the message
// counts as a constant, and the slope is 0.
inline constexpr double kSmallestVariance = 1e-100;
inline double message_slope(double on, double off) {
  const double variance = on * off;
  return variance < kSmallestVariance ? 0.0 : 1.0 / variance;
}

// The gradient of a message as a direction: numbers for the variable being on and being off, of
// which the one for the likelier state is 0.
struct Pull {
  double on = 0.0, off = 0.0;
  bool constant = true;  // the message has no gradient
};
inline Pull pull_message(double d_message, double on, double off) {
  const double amount = d_message * message_slope(on, off);
  if (amount == 0.0) return {};
  return on < off ? Pull{amount, 0.0, false} : Pull{0.0, -amount, false};
}

// A share of e^-60 does not change a sum.
inline constexpr double kNothing = 60.0;

inline double log_sum(std::span<const double> values) {
  double top = kForbidden, sum = 0.0;
  for (const double value : values) top = std::max(top, value);
  if (top == kForbidden) return top;
  for (const double value : values) sum += std::exp(value - top);
  return top + std::log(sum);
}

}  // namespace arbora::inference
