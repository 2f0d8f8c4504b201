// Many factors of belief propagation over two variables each, which score `s` if both are on:
// grandparents, and any two siblings (Gormley et al. 2015, 2). Four at a time; all arrays have room
// for a whole number of packs (`whole_packs`), and the padding holds valid numbers.
//
//     to first = log (1 + e^(second + s)) / (1 + e^second)
#pragma once

#include "arbora/base/pack.hpp"

namespace arbora::inference {

struct PairInputs {
  Index count;
  const double *first, *second, *scores;  // incoming log-odds of either variable, and s
};

void pair_messages(const PairInputs& in, double* to_first, double* to_second);

// The gradients by the messages' inputs; d_scores is added to.
struct PairGradients {
  double *d_first, *d_second, *d_scores;
};
void pair_pullback(const PairInputs& in, const double* d_to_first, const double* d_to_second,
                   const PairGradients& gradients);

// P(both on) = e^(first + second + s) / (1 + e^first + e^second + e^(first + second + s)); returns
// the sum of the logarithms of the denominators.
double pair_beliefs(const PairInputs& in, double* both);
void pair_belief_pullback(const PairInputs& in, const double* d_both,
                          const PairGradients& gradients);

}  // namespace arbora::inference
