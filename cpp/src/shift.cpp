#include "arbora/inference/shift.hpp"

#include <algorithm>

namespace arbora {
namespace {

ARBORA_MULTIVERSION
void column_maxima(ArcScores scores, Index first_head, double* maxima) {
  const Index side = scores.side();
  std::fill(maxima, maxima + side, kForbidden);
  for (Index h = first_head; h < side; ++h) {
    const double* row = scores.row(h);
    Index m = 0;
    for (; m + kPackWidth <= side; m += kPackWidth) {
      store_pack(maxima + m, larger(load_pack(row + m), load_pack(maxima + m)));
    }
    for (; m < side; ++m) maxima[m] = std::max(maxima[m], row[m]);
  }
}

ARBORA_MULTIVERSION
void exponentials(const double* scores, const double* column, double root, Index side,
                  double* weights) {
  Index m = 0;
  for (; m + kPackWidth <= side; m += kPackWidth) {
    const Pack x = (load_pack(scores + m) - load_pack(column + m)) - splat(root);
    store_pack(weights + m, exp_nonpositive(x));
  }
  if (m == side) return;
  double rest[kPackWidth] = {kForbidden, kForbidden, kForbidden, kForbidden};
  for (Index i = 0; m + i < side; ++i) rest[i] = (scores[m + i] - column[m + i]) - root;
  store_pack(rest, exp_nonpositive(load_pack(rest)));
  std::copy(rest, rest + (side - m), weights + m);
}

// The exact error of difference = a - b (Knuth's two-sum): kept, no score scale costs precision.
double rounded_away(double a, double b, double difference) {
  const double minus_b = difference - a;
  return (a - (difference - minus_b)) - (b + minus_b);
}

// The word with the most to gain from being the root takes the root's score into account in its
// shift, so that a word that can hardly be anything else does not blow up the root's shift.
void shift_likeliest_root(ArcScores scores, double* column) {
  Index likeliest = 1;
  double most = kForbidden;
  for (Index m = 1; m <= scores.n_words; ++m) {
    const double gain = scores(0, m) - (column[m] == kForbidden ? 0.0 : column[m]);
    if (gain > most) {
      most = gain;
      likeliest = m;
    }
  }
  column[likeliest] = std::max(column[likeliest], scores(0, likeliest));
}

}  // namespace

Shift make_shift(ArcScores scores, Root root, double extra, double* column) {
  const Index n = scores.n_words;
  Shift shift;
  shift.column = column;
  column_maxima(scores, root == Root::multi ? 0 : 1, column);
  if (root == Root::single) shift_likeliest_root(scores, column);
  column[0] = 0.0;
  for (Index m = 1; m <= n; ++m) {
    column[m] = column[m] == kForbidden ? 0.0 : column[m] + extra;
    // Neumaier's summation: the tail keeps what the sum rounds away.
    const double sum = shift.sum + column[m];
    shift.sum_tail += std::abs(shift.sum) >= std::abs(column[m]) ? (shift.sum - sum) + column[m]
                                                                 : (column[m] - sum) + shift.sum;
    shift.sum = sum;
  }
  if (root == Root::single) {
    double best = kForbidden;
    for (Index m = 1; m <= n; ++m) best = std::max(best, scores(0, m) - column[m]);
    shift.root = best;
  }
  return shift;
}

void plain_weights(ArcScores scores, const Shift& shift, Matrix<double> weights) {
  for (Index h = 0; h <= scores.n_words; ++h) {
    exponentials(scores.row(h), shift.column, h == 0 ? shift.root : 0.0, scores.side(),
                 weights.row(h).data());
  }
}

Wide wide_weight(ArcScores scores, const Shift& shift, Index head, Index modifier) {
  const double score = scores(head, modifier);
  if (score == kForbidden) return Wide();
  const double c = shift.column[modifier];
  const double x = score - c;
  const double tail = rounded_away(score, c, x);
  if (head != 0) return Wide::exp(x, tail);
  const double y = x - shift.root;
  return Wide::exp(y, tail + rounded_away(x, shift.root, y));
}

}  // namespace arbora
