#include "arbora/inference/pair_factors.hpp"

#include <cmath>

namespace arbora::inference {
namespace {

ARBORA_INLINE Pack zero() { return splat(0.0); }
ARBORA_INLINE Pack one() { return splat(1.0); }
ARBORA_INLINE Pack exp_of_minus_size(Pack x) { return exp_nonpositive(zero() - magnitude(x)); }

// Four terms of the series of artanh, 1 / k + x / (k + 2) + ...
ARBORA_INLINE Pack four_terms(int k, Pack x, Pack square) {
  return (splat(1.0 / k) + splat(1.0 / (k + 2)) * x) +
         (splat(1.0 / (k + 4)) + splat(1.0 / (k + 6)) * x) * square;
}

// log (1 + a) / (1 + b) for a and b in [0, 1], as 2 artanh z with z = (a - b) / (2 + a + b), at
// most 1/3: seventeen terms of the series are within rounding, and nothing cancels. They are added
// up as a tree, since a sequential sum would be one chain of dependent operations.
ARBORA_INLINE Pack log_ratio(Pack a, Pack b) {
  const Pack z = (a - b) / (splat(2.0) + a + b);
  const Pack x = z * z, x2 = x * x, x4 = x2 * x2, x8 = x4 * x4;
  const Pack low = four_terms(1, x, x2) + four_terms(9, x, x2) * x4;
  const Pack high = (four_terms(17, x, x2) + four_terms(25, x, x2) * x4) + splat(1.0 / 33.0) * x8;
  return (z + z) * (low + high * x8);
}

// softplus(x + s) - softplus(x)
ARBORA_INLINE Pack message(Pack x, Pack s) {
  const Pack y = x + s;
  return larger(y, zero()) - larger(x, zero()) +
         log_ratio(exp_of_minus_size(y), exp_of_minus_size(x));
}

// The four states of a pair, each divided by the largest.
struct States {
  Pack none, first, second, both, top, total;
};
ARBORA_INLINE States states(Pack first, Pack second, Pack s) {
  const Pack both = first + second + s;
  const Pack top = larger(larger(first, second), larger(both, zero()));
  States w{exp_nonpositive(zero() - top),
           exp_nonpositive(first - top),
           exp_nonpositive(second - top),
           exp_nonpositive(both - top),
           top,
           zero()};
  w.total = (w.none + w.both) + (w.first + w.second);
  return w;
}

}  // namespace

ARBORA_MULTIVERSION
void pair_messages(const PairInputs& in, double* to_first, double* to_second) {
  for (Index i = 0; i < in.count; i += kPackWidth) {
    const Pack s = load_pack(in.scores + i);
    store_pack(to_first + i, message(load_pack(in.second + i), s));
    store_pack(to_second + i, message(load_pack(in.first + i), s));
  }
}

ARBORA_MULTIVERSION
void pair_pullback(const PairInputs& in, const double* d_to_first, const double* d_to_second,
                   const PairGradients& gradients) {
  for (Index i = 0; i < in.count; i += kPackWidth) {
    const Pack s = load_pack(in.scores + i), x = load_pack(in.first + i);
    const Pack y = load_pack(in.second + i);
    const Pack to_first = load_pack(d_to_first + i), to_second = load_pack(d_to_second + i);
    const Pack by_second = sigmoid(y + s), by_first = sigmoid(x + s);
    store_pack(gradients.d_second + i, to_first * (by_second - sigmoid(y)));
    store_pack(gradients.d_first + i, to_second * (by_first - sigmoid(x)));
    store_pack(gradients.d_scores + i,
               load_pack(gradients.d_scores + i) + to_first * by_second + to_second * by_first);
  }
}

ARBORA_MULTIVERSION
double pair_beliefs(const PairInputs& in, double* both) {
  // Totals are between 1 and 4: this many can be multiplied without overflow between logarithms.
  constexpr Index kBeforeLog = 256 * kPackWidth;
  double sum = 0.0;
  for (Index begin = 0; begin < in.count; begin += kBeforeLog) {
    Pack tops = zero(), product = one();
    for (Index i = begin; i < in.count && i < begin + kBeforeLog; i += kPackWidth) {
      const States w =
          states(load_pack(in.first + i), load_pack(in.second + i), load_pack(in.scores + i));
      store_pack(both + i, w.both / w.total);
      if (i + kPackWidth <= in.count) {
        tops = tops + w.top;
        product = product * w.total;
      } else {
        for (Index j = i; j < in.count; ++j) sum += w.top[j - i] + std::log(w.total[j - i]);
      }
    }
    sum += sum_of(tops);
    for (int lane = 0; lane < kPackWidth; ++lane) sum += std::log(product[lane]);
  }
  return sum;
}

// d both / d first = both P(first off), d both / d s = both (1 - both).
ARBORA_MULTIVERSION
void pair_belief_pullback(const PairInputs& in, const double* d_both,
                          const PairGradients& gradients) {
  for (Index i = 0; i < in.count; i += kPackWidth) {
    const States w =
        states(load_pack(in.first + i), load_pack(in.second + i), load_pack(in.scores + i));
    const Pack scale = load_pack(d_both + i) * (w.both / w.total) / w.total;
    store_pack(gradients.d_first + i, scale * (w.none + w.second));
    store_pack(gradients.d_second + i, scale * (w.none + w.first));
    store_pack(gradients.d_scores + i,
               load_pack(gradients.d_scores + i) + scale * (w.none + (w.first + w.second)));
  }
}

}  // namespace arbora::inference
