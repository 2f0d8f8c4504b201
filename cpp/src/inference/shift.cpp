#include "arbora/inference/shift.hpp"

#include <algorithm>

#include "arbora/tree/feasibility.hpp"

namespace arbora::inference {
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

// weights(h, m) = exp(weights(h, m)); the last step of a row also writes the padding behind it.
ARBORA_MULTIVERSION
void exponentials(Index side, Matrix<double> weights) {
  for (Index h = 0; h < side; ++h) {
    const Row<double> row = weights.row(h);
    for (Index m = 0; m < side; m += kPackWidth) row.store(m, exp_nonpositive(row.load(m)));
  }
}

// The exact error of difference = a - b (Knuth's two-sum): with it, no scale of the scores costs
// precision.
double rounding_error(double a, double b, double difference) {
  const double minus_b = difference - a;
  return (a - (difference - minus_b)) - (b + minus_b);
}

ARBORA_MULTIVERSION
bool all_word_arcs_allowed(ArcScores scores) {
  for (Index h = 1; h <= scores.n_words; ++h) {
    const double* row = scores.row(h);
    Index forbidden = row[h] == kForbidden ? -1 : 0;  // the diagonal is no arc
    for (Index m = 1; m <= scores.n_words; ++m) forbidden += row[m] == kForbidden ? 1 : 0;
    if (forbidden > 0) return false;
  }
  return true;
}

// The score of a word's root arc relative to the word's shift.
double root_gain(ArcScores scores, const double* column, Index word) {
  return scores(0, word) - (column[word] == kForbidden ? 0.0 : column[word]);
}

}  // namespace

Shift make_shift(ArcScores scores, Root root, double extra, double* column) {
  const Index n = scores.n_words;
  Shift shift;
  shift.column = column;
  column_maxima(scores, root == Root::multi ? 0 : 1, column);
  if (root == Root::single) {
    if (!all_word_arcs_allowed(scores)) shift.possible_root = possible_single_roots(scores);
    double most = kForbidden;
    for (Index m = 1; m <= n; ++m) {
      if (!shift.can_be_root(m) || root_gain(scores, column, m) <= most) continue;
      most = root_gain(scores, column, m);
      shift.likeliest_root = m;
    }
    double& likeliest = column[shift.likeliest_root];
    likeliest = std::max(likeliest, scores(0, shift.likeliest_root));
  }
  column[0] = 0.0;
  for (Index m = 1; m <= n; ++m) column[m] = column[m] == kForbidden ? 0.0 : column[m] + extra;
  if (root == Root::single) {
    shift.root = kForbidden;
    for (Index m = 1; m <= n; ++m) {
      if (shift.can_be_root(m)) shift.root = std::max(shift.root, scores(0, m) - column[m]);
    }
  }
  return shift;
}

double absolute_log(ArcScores scores, const Shift& shift, const ExactSum& relative) {
  ExactSum sum = relative;
  for (Index m = 1; m <= scores.n_words; ++m) sum.add(shift.column[m]);
  return sum.value();
}

namespace {

// The root's scores minus both shifts. The first difference may be large, so it is kept exactly,
// with its rounding error, until the second shift is subtracted.
double root_exponent(ArcScores scores, const Shift& shift, Index word) {
  const double score = scores(0, word), c = shift.column[word];
  if (score == kForbidden || !shift.can_be_root(word)) return kForbidden;
  const double x = score - c, y = x - shift.root;
  return y + (rounding_error(score, c, x) + rounding_error(x, shift.root, y));
}

}  // namespace

void plain_weights(ArcScores scores, const Shift& shift, Matrix<double> weights) {
  const Index side = scores.side();
  for (Index h = 0; h < side; ++h) {
    const double* score = scores.row(h);
    double* exponent = weights.row(h).data();
    for (Index m = 0; m < side; ++m) exponent[m] = score[m] - shift.column[m];
    std::fill(exponent + side, exponent + whole_steps<double>(side), kForbidden);
  }
  double* root_row = weights.row(0).data();
  for (Index m = 1; m < side; ++m) root_row[m] = root_exponent(scores, shift, m);
  exponentials(side, weights);
}

Wide wide_weight(ArcScores scores, const Shift& shift, Index head, Index modifier) {
  if (head == 0) return Wide::exp(root_exponent(scores, shift, modifier));
  const double score = scores(head, modifier);
  if (score == kForbidden) return Wide();
  const double c = shift.column[modifier], x = score - c;
  return Wide::exp(x, rounding_error(score, c, x));
}

}  // namespace arbora::inference
