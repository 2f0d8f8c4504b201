// Dual numbers: a value and its derivative along one direction. Running a recursion on them gives
// its directional derivative; on the marginals that is a row of the covariance of the arcs.
#pragma once

#include "arbora/base/multiversion.hpp"

namespace arbora::base {

template <class B>
struct Dual {
  B value;
  B tangent;

  friend ARBORA_INLINE Dual operator+(Dual a, Dual b) {
    return {a.value + b.value, a.tangent + b.tangent};
  }
  friend ARBORA_INLINE Dual operator-(Dual a, Dual b) {
    return {a.value - b.value, a.tangent - b.tangent};
  }
  friend ARBORA_INLINE Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.value * b.tangent + a.tangent * b.value};
  }
  friend ARBORA_INLINE Dual operator/(Dual a, Dual b) {
    const B quotient = a.value / b.value;
    return {quotient, (a.tangent - quotient * b.tangent) / b.value};
  }
};

}  // namespace arbora::base
