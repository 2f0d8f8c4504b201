// Wide numbers: a double mantissa with a 64-bit exponent, for sums whose terms span more than the
// range of a double. Same rounding as a double, no underflow and no overflow between 2^-(2^59) and
// 2^(2^59), where exponents saturate.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "arbora/base/exact_sum.hpp"
#include "arbora/base/types.hpp"

namespace arbora::base {

class Wide {
 public:
  Wide() = default;
  explicit Wide(double x) {
    if (x == 0.0) return;
    int exponent = 0;
    mantissa_ = 2.0 * std::frexp(x, &exponent);
    exponent_ = exponent - 1;
  }

  // exp(x + tail), where tail is the rounding error of x.
  static Wide exp(double x, double tail = 0.0) {
    if (x == kForbidden) return Wide();
    x = std::fmax(-kLargestLog, std::fmin(x, kLargestLog));
    constexpr double kLn2High = 6.93147180369123816490e-01;  // 32 bits
    constexpr double kLn2Low = 1.90821492927058770002e-10;
    const double k = std::nearbyint(x * 1.4426950408889634);
    const double r = std::fma(-k, kLn2High, x) - k * kLn2Low;
    return Wide(std::exp(r + tail), static_cast<std::int64_t>(k));
  }

  double log() const {
    if (mantissa_ == 0.0) return kForbidden;
    return std::log(mantissa_) + static_cast<double>(exponent_) * 0.6931471805599453;
  }

  // Adds the logarithm to a sum, in parts, so that the size of the exponent costs no digits.
  void add_log_to(ExactSum& sum) const {
    constexpr double kLn2 = 0.6931471805599453, kLn2Tail = 2.3190468138462996e-17;
    const auto e = static_cast<double>(exponent_);
    const double product = e * kLn2;
    sum.add(product);
    sum.add(std::fma(e, kLn2, -product) + e * kLn2Tail);
    sum.add(std::log(mantissa_));
  }

  // The nearest double; 0 or an infinity beyond its range.
  double to_double() const {
    if (exponent_ > 2000) return mantissa_ * kInfinity;
    if (exponent_ < -2000) return 0.0;
    return std::ldexp(mantissa_, static_cast<int>(exponent_));
  }

  bool is_positive() const { return mantissa_ > 0.0; }

  friend Wide operator*(Wide a, Wide b) {
    return Wide(a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_);
  }
  friend Wide operator/(Wide a, Wide b) {
    return Wide(a.mantissa_ / b.mantissa_, a.exponent_ - b.exponent_);
  }
  friend Wide operator+(Wide a, Wide b) {
    if (a.exponent_ < b.exponent_) return b + a;
    const std::int64_t gap = a.exponent_ - b.exponent_;
    if (gap > 64) return a;  // b is below half an ulp of a
    const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - gap) << 52);
    return Wide(a.mantissa_ + b.mantissa_ * scale, a.exponent_);
  }
  friend Wide operator-(Wide a, Wide b) {
    b.mantissa_ = -b.mantissa_;
    return a + b;
  }

 private:
  // Brings the mantissa (a normal double) to [1, 2) in magnitude; zero gets an exponent below
  // every other's.
  Wide(double mantissa, std::int64_t exponent) {
    if (mantissa == 0.0) return;
    constexpr std::uint64_t kExponentBits = std::uint64_t{0x7ff} << 52;
    const auto bits = std::bit_cast<std::uint64_t>(mantissa);
    const auto shift = static_cast<std::int64_t>((bits & kExponentBits) >> 52) - 1023;
    mantissa_ = std::bit_cast<double>((bits & ~kExponentBits) | (std::uint64_t{1023} << 52));
    exponent_ = exponent + shift;
    // A branch that is never taken is cheaper here than two comparisons in the chain of results.
    if (exponent_ > kLargestExponent || exponent_ < -kLargestExponent) [[unlikely]] {
      exponent_ = exponent_ > 0 ? kLargestExponent : -kLargestExponent;
    }
  }

  // Sums and differences of two exponents, that of zero among them, fit into 64 bits.
  static constexpr std::int64_t kLargestExponent = std::int64_t{1} << 59;
  static constexpr std::int64_t kZeroExponent = -(std::int64_t{1} << 60);
  static constexpr double kLargestLog = 0.69 * static_cast<double>(kLargestExponent);
  double mantissa_ = 0.0;
  std::int64_t exponent_ = kZeroExponent;
};

}  // namespace arbora::base
