// The max-plus algebra as a number type: "sum" is max and "product" is plus, so that a recursion
// written for sums finds the best tree instead.
#pragma once

#include "arbora/base/pack.hpp"

namespace arbora::base {

template <class B>
struct MaxPlusOf {
  B score;
};
using MaxPlus = MaxPlusOf<double>;

ARBORA_INLINE double larger(double a, double b) { return a > b ? a : b; }

template <class B>
ARBORA_INLINE MaxPlusOf<B> operator+(MaxPlusOf<B> a, MaxPlusOf<B> b) {
  return {larger(a.score, b.score)};
}
template <class B>
ARBORA_INLINE MaxPlusOf<B> operator*(MaxPlusOf<B> a, MaxPlusOf<B> b) {
  return {a.score + b.score};
}

}  // namespace arbora::base
