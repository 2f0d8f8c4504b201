// Four doubles at a time: the vector that the plain-number kernels work in. Compilers without
// vector types, or ARBORA_PORTABLE_PACK, get a plain struct.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "arbora/base/multiversion.hpp"
#include "arbora/base/types.hpp"

namespace arbora::base {

inline constexpr Index kPackWidth = 4;

#if (defined(__GNUC__) || defined(__clang__)) && !defined(ARBORA_PORTABLE_PACK)

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define ARBORA_SHUFFLES
#endif
#endif

using Pack = double __attribute__((vector_size(32)));
using PackBits = std::uint64_t __attribute__((vector_size(32)));

ARBORA_INLINE Pack splat(double x) { return Pack{x, x, x, x}; }
ARBORA_INLINE Pack larger(Pack a, Pack b) { return a > b ? a : b; }
ARBORA_INLINE Pack where_below(Pack x, Pack bound, Pack then, Pack otherwise) {
  return x < bound ? then : otherwise;
}
ARBORA_INLINE Pack lane_numbers() { return Pack{0.0, 1.0, 2.0, 3.0}; }
// then where a beats b, or equals it with c < d; otherwise elsewhere.
ARBORA_INLINE Pack where_better(Pack a, Pack b, Pack c, Pack d, Pack then, Pack otherwise) {
  return ((a > b) | ((a == b) & (c < d))) ? then : otherwise;
}
// Applies `change` to the bit patterns of four doubles.
template <class Change>
ARBORA_INLINE Pack with_bits(Pack x, Change change) {
  PackBits bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = change(bits);
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

#else

struct Pack {
  double x[kPackWidth];
  double operator[](Index i) const { return x[i]; }
};

template <class F>
ARBORA_INLINE Pack lanewise(F f) {
  return Pack{{f(0), f(1), f(2), f(3)}};
}
ARBORA_INLINE Pack splat(double x) { return Pack{{x, x, x, x}}; }
ARBORA_INLINE Pack lane_numbers() { return Pack{{0.0, 1.0, 2.0, 3.0}}; }
ARBORA_INLINE Pack operator+(Pack a, Pack b) {
  return lanewise([&](int i) { return a.x[i] + b.x[i]; });
}
ARBORA_INLINE Pack operator-(Pack a, Pack b) {
  return lanewise([&](int i) { return a.x[i] - b.x[i]; });
}
ARBORA_INLINE Pack operator*(Pack a, Pack b) {
  return lanewise([&](int i) { return a.x[i] * b.x[i]; });
}
ARBORA_INLINE Pack operator/(Pack a, Pack b) {
  return lanewise([&](int i) { return a.x[i] / b.x[i]; });
}
ARBORA_INLINE Pack larger(Pack a, Pack b) {
  return lanewise([&](int i) { return a.x[i] > b.x[i] ? a.x[i] : b.x[i]; });
}
ARBORA_INLINE Pack where_below(Pack x, Pack bound, Pack then, Pack otherwise) {
  return lanewise([&](int i) { return x.x[i] < bound.x[i] ? then.x[i] : otherwise.x[i]; });
}
ARBORA_INLINE Pack where_better(Pack a, Pack b, Pack c, Pack d, Pack then, Pack otherwise) {
  return lanewise([&](int i) {
    const bool better = a.x[i] > b.x[i] || (a.x[i] == b.x[i] && c.x[i] < d.x[i]);
    return better ? then.x[i] : otherwise.x[i];
  });
}
template <class Change>
ARBORA_INLINE Pack with_bits(Pack x, Change change) {
  return lanewise([&](int i) {
    return std::bit_cast<double>(std::uint64_t{change(std::bit_cast<std::uint64_t>(x.x[i]))});
  });
}

#endif

ARBORA_INLINE Pack load_pack(const double* p) {
  Pack v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
ARBORA_INLINE void store_pack(double* p, Pack v) { std::memcpy(p, &v, sizeof v); }
ARBORA_INLINE Pack magnitude(Pack v) { return larger(v, splat(0.0) - v); }
ARBORA_INLINE double sum_of(Pack v) { return (v[0] + v[2]) + (v[1] + v[3]); }
// The sums of four packs, each added up as `sum_of` does.
ARBORA_INLINE Pack sums_of(Pack a, Pack b, Pack c, Pack d) {
#if defined(ARBORA_SHUFFLES)
  const Pack ab =
      __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
  const Pack cd =
      __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
  return __builtin_shufflevector(ab, cd, 0, 2, 4, 6) + __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
#else
  const double sums[kPackWidth] = {sum_of(a), sum_of(b), sum_of(c), sum_of(d)};
  return load_pack(sums);
#endif
}
ARBORA_INLINE double product_of(Pack v) { return (v[0] * v[2]) * (v[1] * v[3]); }

// Counts that are rounded up to whole packs.
constexpr Index whole_packs(Index count) {
  return (count + kPackWidth - 1) / kPackWidth * kPackWidth;
}

// 2^k, where the exponent k was shifted to the end of the bits by adding 1.5 * 2^52.
ARBORA_INLINE Pack power_of_two(Pack shifted_exponent) {
  return with_bits(shifted_exponent, [](auto bits) { return (bits + 1023) << 52; });
}

// Coefficients, each four times over, so that an instruction can take them from memory.
template <std::size_t N>
struct PackTable {
  alignas(32) double values[N][kPackWidth];

  constexpr explicit PackTable(const double (&numbers)[N]) : values{} {
    for (std::size_t i = 0; i < N; ++i) {
      for (double& lane : values[i]) lane = numbers[i];
    }
  }
  ARBORA_INLINE Pack operator[](std::size_t i) const { return load_pack(values[i]); }
};

// sum of table[i] x^i by Estrin's scheme, whose terms are independent; Horner's scheme would be one
// chain of dependent operations.
template <std::size_t N>
ARBORA_INLINE Pack polynomial(const PackTable<N>& table, Pack x) {
  Pack terms[(N + 1) / 2];
  for (std::size_t i = 0; i + 1 < N; i += 2) terms[i / 2] = table[i + 1] * x + table[i];
  if (N % 2 == 1) terms[N / 2] = table[N - 1];
  for (std::size_t left = (N + 1) / 2; left > 1; left = (left + 1) / 2) {
    x = x * x;
    for (std::size_t i = 0; i + 1 < left; i += 2) terms[i / 2] = terms[i + 1] * x + terms[i];
    if (left % 2 == 1) terms[left / 2] = terms[left - 1];
  }
  return terms[0];
}

// exp(x) for |x| <= 708, within 2 ulp.
// x = k ln 2 + r with |r| <= ln 2 / 2; the Taylor series of exp(r) to r^13 is off by 4e-18.
ARBORA_INLINE Pack exp_bounded(Pack x) {
  constexpr double kRoundToInteger = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds
  static constexpr PackTable<14> kInverseFactorials(
      {1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0,
       1.0 / 362880.0, 1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0});
  const Pack shifted = x * splat(1.4426950408889634) + splat(kRoundToInteger);
  const Pack k = shifted - splat(kRoundToInteger);
  const Pack r = (x - k * splat(6.93147180369123816490e-01)) -  // high bits of ln 2: exact
                 k * splat(1.90821492927058770002e-10);
  return polynomial(kInverseFactorials, r) * power_of_two(shifted);
}

// exp(x) for x <= 0, within 2 ulp; exactly 0 below -708, where doubles lose their precision.
ARBORA_INLINE Pack exp_nonpositive(Pack x) {
  const Pack underflow = splat(-708.0);
  const Pack inside = larger(x, underflow);  // also turns -inf into a number
  return where_below(x, underflow, splat(0.0), exp_bounded(inside));
}

// The bits of sqrt(1/2), of 1 and of 2^52, and those of a fraction.
inline constexpr std::uint64_t kRootOfHalf = 0x3fe6a09e667f3bcdU, kOne = 0x3ff0000000000000U,
                               kTwoTo52 = 0x4330000000000000U, kFraction = 0x000fffffffffffffU;

// log(x) for positive x, neither subnormal nor infinite, within 4 ulp.
// x = 2^k f with f between sqrt(1/2) and sqrt(2), log f = 2 artanh z with z = (f - 1) / (f + 1), at
// most 0.172: the eleven terms of its series that are taken are off by 1e-18.
ARBORA_INLINE Pack log_positive(Pack x) {
  const Pack k =
      with_bits(x, [](auto bits) { return ((bits + (kOne - kRootOfHalf)) >> 52) | kTwoTo52; }) -
      splat(4503599627370496.0 + 1023.0);
  const Pack f = with_bits(
      x, [](auto bits) { return ((bits + (kOne - kRootOfHalf)) & kFraction) + kRootOfHalf; });
  const Pack z = (f - splat(1.0)) / (f + splat(1.0)), square = z * z;
  static constexpr PackTable<11> kTerms({1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0,
                                         1.0 / 11.0, 1.0 / 13.0, 1.0 / 15.0, 1.0 / 17.0, 1.0 / 19.0,
                                         1.0 / 21.0});
  return k * splat(6.93147180369123816490e-01) +
         (k * splat(1.90821492927058770002e-10) + (z + z) * polynomial(kTerms, square));
}

// 1 / (1 + e^-x)
ARBORA_INLINE Pack sigmoid(Pack x) {
  const Pack y = exp_nonpositive(splat(0.0) - magnitude(x));
  return where_below(x, splat(0.0), y, splat(1.0)) / (splat(1.0) + y);
}

}  // namespace arbora::base
