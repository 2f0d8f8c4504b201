// Compensated sums of doubles that may cancel (Neumaier 1974): tail_ accumulates the rounding
// errors.
#pragma once

#include <cmath>

#include "arbora/layers.hpp"

namespace arbora::base {

class ExactSum {
 public:
  void add(double x) {
    const double sum = sum_ + x;
    tail_ += std::abs(sum_) >= std::abs(x) ? (sum_ - sum) + x : (x - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return sum_ + tail_; }

 private:
  double sum_ = 0.0, tail_ = 0.0;
};

}  // namespace arbora::base
