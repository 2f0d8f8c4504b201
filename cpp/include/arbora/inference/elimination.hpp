// The Matrix-Tree Theorem without subtraction (Koo et al. 2007, section 3; Smith & Smith 2007,
// section 3, evaluated by the state elimination of Grassmann, Taksar & Heyman 1985).
//
// Words are eliminated one by one. Removing word k from the graph replaces every path head -> k ->
// modifier by a direct arc, and multiplies the sum over trees by s_k:
//
//     s_k = sum_h w(h, k)          p_h = w(h, k) / s_k          w(h, m) += p_h w(k, m)
//
// with h and m among what is left. All numbers are non-negative and none is subtracted, so every
// weight keeps its relative precision whatever the scale of the scores. Row 0 is the root symbol;
// it counts in s_k under Root::multi only, and is updated in both modes. Words are eliminated from
// n down to 2; what is left is w(0, 1), and Z = s_n ... s_2 w(0, 1).
#pragma once

#include <cmath>

#include "arbora/base/exact_sum.hpp"
#include "arbora/base/interruption.hpp"
#include "arbora/base/number.hpp"

namespace arbora::inference {

// The tape of an elimination, for the reverse sweep and for sampling.
template <class T>
struct Elimination {
  Index n_words = 0;
  Root root = Root::single;
  Matrix<T> w;  // row k, columns m < k: as it was when k was eliminated
  Matrix<T> p;  // row k, columns h < k
  Row<T> s;     // s_k; s_1 = w(0, 1)

  static Elimination carve(Workspace& workspace, Index n_words, Root root) {
    const Index side = n_words + 1;
    return {n_words, root, Matrix<T>::carve(workspace, side, side, Number<T>::zero()),
            Matrix<T>::carve(workspace, side, side),
            Row<T>::carve(workspace, side + Row<T>::width)};
  }
};

// Words per block: the rank-4 update reads and writes the rest of the matrix once per four words.
inline constexpr Index kBlock = 4;

// Brings column k up to date with the words of the block eliminated before it (block_top .. k+1),
// then computes s_k and p.
template <class T>
ARBORA_INLINE void eliminate_column(Elimination<T>& tape, Index k, Index block_top) {
  const Row<T> p = tape.p.row(k);
  for (Index h = 0; h < k; ++h) p.set(h, tape.w.get(h, k));
  for (Index j = block_top; j > k; --j) add_scaled(p, tape.w.get(j, k), tape.p.row(j), k);
  const Index first = tape.root == Root::multi ? 0 : 1;
  const T s = sum_of(p.from(first), k - first);
  const T inverse = Number<T>::one() / s;
  for (Index h = 0; h < k; ++h) p.set(h, p.get(h) * inverse);
  tape.s.set(k, s);
}

// Adds the block's paths to row h: w(h, m) += sum_j p_h^(j) w(j, m) for m < columns.
template <class T>
ARBORA_INLINE void add_paths(const Elimination<T>& tape, Index h, Index top, Index bottom,
                             Index columns) {
  const Row<T> row = tape.w.row(h);
  if (top - bottom + 1 == kBlock) {
    const Row<T> a = tape.w.row(top), b = tape.w.row(top - 1);
    const Row<T> c = tape.w.row(top - 2), d = tape.w.row(top - 3);
    const auto pa = spread(tape.p.get(top, h)), pb = spread(tape.p.get(top - 1, h));
    const auto pc = spread(tape.p.get(top - 2, h)), pd = spread(tape.p.get(top - 3, h));
    for (Index m = 0; m < columns; m += Row<T>::width) {
      row.store(m, row.load(m) + pa * a.load(m) + pb * b.load(m) + pc * c.load(m) + pd * d.load(m));
    }
    return;
  }
  for (Index j = top; j >= bottom; --j) {
    const Row<T> via = tape.w.row(j);
    const auto p = spread(tape.p.get(j, h));
    for (Index m = 0; m < columns; m += Row<T>::width) {
      row.store(m, row.load(m) + p * via.load(m));
    }
  }
}

// Eliminates all words but word 1. On entry tape.w holds the weights; the diagonal is never used.
template <class T, class Poll>
ARBORA_INLINE void eliminate(Elimination<T>& tape, Poll& polling) {
  for (Index top = tape.n_words; top >= 2; top -= kBlock) {
    const Index bottom = top - kBlock + 1 >= 2 ? top - kBlock + 1 : 2;
    for (Index k = top; k >= bottom; --k) {
      if (k < top) add_paths(tape, k, top, k + 1, whole_steps<T>(k));
      // Steps may run past column k - 1; zeros there keep them from counting.
      const Row<T> row = tape.w.row(k);
      for (Index m = k; m < whole_steps<T>(k); ++m) row.set(m, Number<T>::zero());
      eliminate_column(tape, k, top);
    }
    for (Index h = 0; h < bottom; ++h) {
      add_paths(tape, h, top, bottom, whole_steps<T>(bottom));
      polling.after(2 * kBlock * bottom);
    }
  }
  tape.s.set(1, tape.w.get(0, 1));
}

template <class T>
ARBORA_INLINE void eliminate(Elimination<T>& tape) {
  NoPolling none;
  Polling polling;
  tape.n_words <= kLongestUnpolled ? eliminate(tape, none) : eliminate(tape, polling);
}

// One step of the reverse sweep over row h of G: accumulates p_h G(h, .) and returns
// d_h = sum_m G(h, m) w(k, m). Written for one row and for four, which share their loads.
template <class T, Index rows>
ARBORA_INLINE void pull_rows(Matrix<T> g, Row<T> p, Row<T> via, Row<T> into, Row<T> d, Index h,
                             Index columns) {
  using Vec = typename Row<T>::Vec;
  Row<T> row[rows];
  Vec weight[rows], dot[rows];
  for (Index i = 0; i < rows; ++i) {
    row[i] = g.row(h + i);
    weight[i] = spread(p.get(h + i));
    dot[i] = spread(Number<T>::zero());
  }
  for (Index m = 0; m < columns; m += Row<T>::width) {
    const Vec along = via.load(m);
    const Vec first = row[0].load(m);
    Vec sum = weight[0] * first;
    dot[0] = dot[0] + first * along;
    for (Index i = 1; i < rows; ++i) {
      const Vec x = row[i].load(m);
      sum = sum + weight[i] * x;
      dot[i] = dot[i] + x * along;
    }
    // Last: what the rows before have stored here may not have arrived yet.
    into.store(m, into.load(m) + sum);
  }
  if constexpr (rows == 4) {
    set_totals(d, h, dot);
  } else {
    for (Index i = 0; i < rows; ++i) d.set(h + i, Row<T>::total(dot[i]));
  }
}

// G = d log Z / d w for the weights as they were before elimination, by the reverse sweep:
//
//     G(k, m) = sum_h p_h G(h, m)       d_h = sum_m G(h, m) w(k, m)       t = sum_h p_h d_h
//     G(h, k) = (d_h - t + 1) / s_k     G(0, k) = d_0 / s_k under Root::single
//
// g is all zeros on entry; d is scratch of the same width.
template <class T, class Poll>
ARBORA_INLINE void reverse_sweep(const Elimination<T>& tape, Matrix<T> g, Row<T> d, Poll& polling) {
  g.set(0, 1, Number<T>::one() / tape.s.get(1));
  for (Index k = 2; k <= tape.n_words; ++k) {
    const Row<T> p = tape.p.row(k), via = tape.w.row(k), into = g.row(k);
    const Index columns = whole_steps<T>(k);
    Index h = 0;
    for (; h + 4 <= k; h += 4) {
      pull_rows<T, 4>(g, p, via, into, d, h, columns);
      polling.after(16 * columns);
    }
    for (; h < k; ++h) pull_rows<T, 1>(g, p, via, into, d, h, columns);

    const T one_less = Number<T>::one() - dot_of(p, d, k);
    const T inverse = Number<T>::one() / tape.s.get(k);
    for (h = 0; h < k; ++h) {
      const bool absolute = h == 0 && tape.root == Root::single;
      const T difference = absolute ? d.get(h) : Number<T>::not_negative(d.get(h) + one_less);
      g.set(h, k, difference * inverse);
    }
  }
}

template <class T>
ARBORA_INLINE void reverse_sweep(const Elimination<T>& tape, Matrix<T> g, Row<T> d) {
  NoPolling none;
  Polling polling;
  tape.n_words <= kLongestUnpolled ? reverse_sweep(tape, g, d, none)
                                   : reverse_sweep(tape, g, d, polling);
}

// The logarithm of a product of positive numbers, with few calls of log: factors are multiplied
// up while the product stays well within the range of a double.
class LogProduct {
 public:
  void times(double x) {
    if (x < 1e-100 || x > 1e100) {
      sum_ += std::log(x);
      return;
    }
    product_ *= x;
    if (product_ > 1e-150 && product_ < 1e150) return;
    sum_ += std::log(product_);
    product_ = 1.0;
  }
  double log() const { return sum_ + std::log(product_); }

 private:
  double sum_ = 0.0, product_ = 1.0;
};

// log Z of the weights, term by term. For plain numbers the answer is NaN unless the loss by
// underflow, at most e^-708 of a unit weight, is below rounding error: the s_k that are small must
// multiply to more than e^-650.
inline ExactSum log_of_sum(const Elimination<double>& tape) {
  LogProduct all, small;
  for (Index k = tape.n_words; k >= 1; --k) {
    const double s = tape.s.get(k);
    all.times(s);
    if (!(s >= 1.0)) small.times(s);
  }
  const double log_z = all.log();
  const bool trusted = small.log() > -650.0 && std::isfinite(log_z);
  ExactSum sum;
  sum.add(trusted ? log_z : std::nan(""));
  return sum;
}

inline ExactSum log_of_sum(const Elimination<Wide>& tape) {
  ExactSum sum;
  for (Index k = tape.n_words; k >= 1; --k) tape.s.get(k).add_log_to(sum);
  return sum;
}

}  // namespace arbora::inference
