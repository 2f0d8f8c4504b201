// Projective trees (Eisner 1996; Koo et al. 2007, section 2.2): one inside and one outside sweep,
// written once. Plain and wide numbers sum over trees, dual numbers differentiate the sums, and
// max-plus numbers find best trees.
//
// Items cover the words s..t, s < t:
//   open_right(s, t)      has the arc s -> t       complete_right(s, t)  is headed by s
//   open_left(s, t)       has the arc t -> s       complete_left(s, t)   is headed by t
//
//   joint(s, t)          = sum_{s <= k < t} complete_right(s, k) complete_left(k+1, t)
//   open_right(s, t)     = w(s, t) joint(s, t)          open_left(s, t) = w(t, s) joint(s, t)
//   complete_right(s, t) = sum_{s < k <= t} open_right(s, k) complete_right(k, t)
//   complete_left(s, t)  = sum_{s <= k < t} complete_left(s, k) open_left(k, t)
//
//   Root::multi   Z = complete_right(0, n)
//   Root::single  Z = sum_r complete_left(1, r) w(0, r) complete_right(r, n)
//
// Each tree is built in exactly one way. All charts are stored by left end; for a fixed left end s
// the sweep goes through k and adds each finished item to all t > k, so that every inner loop runs
// along rows, without horizontal sums.
#pragma once

#include "arbora/base/interruption.hpp"
#include "arbora/base/number.hpp"

namespace arbora::inference {

template <class T>
struct EisnerChart {
  Matrix<T> complete_right, complete_left, open_right, open_left;

  static EisnerChart carve(Workspace& workspace, Index n_words) {
    const auto items = [&] {
      return Matrix<T>::carve(workspace, n_words + 2, n_words + 1, Number<T>::zero());
    };
    const auto a = items(), b = items(), c = items(), d = items();
    return {a, b, c, d};
  }
};

template <class T>
struct Eisner {
  Index n_words;
  Root root;
  Matrix<T> w;  // w(h, m); column 0 and the diagonal are never used
  EisnerChart<T> inside;
  Row<T> joint;  // scratch: the joint items of the current left end

  static Eisner carve(Workspace& workspace, Index n_words, Root root) {
    const auto w = Matrix<T>::carve(workspace, n_words + 1, n_words + 1, Number<T>::zero());
    const auto chart = EisnerChart<T>::carve(workspace, n_words);
    const Index width = whole_steps<T>(n_words + 1) + Row<T>::width;
    return {n_words, root, w, chart, Row<T>::carve(workspace, width)};
  }
  // Under Root::single the root symbol has no items of its own.
  Index first() const { return root == Root::multi ? 0 : 1; }
  T single_root_term(Index r) const {
    return inside.complete_left.get(1, r) * w.get(0, r) * inside.complete_right.get(r, n_words);
  }
};

// The contribution of a finished position k of the left end s to every t > k: three factors, and
// the rows they multiply.
template <class T>
struct Push {
  T right, arc_right, left;
  Row<T> next_left, inner_right, inner_left;
};

// Completes the items (s, k), whose sums are all in.
template <class T>
ARBORA_INLINE Push<T> finish(const Eisner<T>& e, Index s, Index k) {
  const T zero = Number<T>::zero();
  const Row<T> right = e.inside.complete_right.row(s), left = e.inside.complete_left.row(s);
  T arc_right = zero, left_to_extend = zero;
  if (k > s) {
    arc_right = e.w.get(s, k) * e.joint.get(k);
    const T arc_left = s == 0 ? zero : e.w.get(k, s) * e.joint.get(k);
    e.inside.open_right.set(s, k, arc_right);
    e.inside.open_left.set(s, k, arc_left);
    right.set(k, right.get(k) + arc_right);
    left.set(k, left.get(k) + arc_left);
    left_to_extend = left.get(k);
  }
  return {right.get(k),
          arc_right,
          left_to_extend,
          e.inside.complete_left.row(k + 1),
          e.inside.complete_right.row(k),
          e.inside.open_left.row(k)};
}

// Fills the inside chart (all zeros on entry) and returns Z. Two positions are processed per pass,
// which halves the reads and writes of the sums of the left end.
template <class T, class Poll>
ARBORA_INLINE T sweep_inside(const Eisner<T>& e, Poll& polling) {
  const Index n = e.n_words;
  const T one = Number<T>::one(), zero = Number<T>::zero();
  for (Index s = n; s >= e.first(); --s) {
    const Row<T> joint = e.joint;
    const Row<T> right = e.inside.complete_right.row(s), left = e.inside.complete_left.row(s);
    for (Index t = s; t <= n; t += Row<T>::width) joint.store(t, spread(zero));
    right.set(s, one);
    left.set(s, one);
    for (Index k = s; k <= n; k += 2) {
      const Push<T> p = finish(e, s, k);
      if (k == n) break;
      joint.set(k + 1, joint.get(k + 1) + p.right * p.next_left.get(k + 1));
      right.set(k + 1, right.get(k + 1) + p.arc_right * p.inner_right.get(k + 1));
      left.set(k + 1, left.get(k + 1) + p.left * p.inner_left.get(k + 1));
      const Push<T> q = finish(e, s, k + 1);
      const auto pa = spread(p.right), pb = spread(p.arc_right), pc = spread(p.left);
      const auto qa = spread(q.right), qb = spread(q.arc_right), qc = spread(q.left);
      for (Index t = k + 2; t <= n; t += Row<T>::width) {
        joint.store(t, joint.load(t) + pa * p.next_left.load(t) + qa * q.next_left.load(t));
        right.store(t, right.load(t) + pb * p.inner_right.load(t) + qb * q.inner_right.load(t));
        left.store(t, left.load(t) + pc * p.inner_left.load(t) + qc * q.inner_left.load(t));
      }
      polling.after(12 * (n - k));
    }
  }
  if (e.root == Root::multi) return e.inside.complete_right.get(0, n);
  T z = zero;
  for (Index r = 1; r <= n; ++r) z = z + e.single_root_term(r);
  return z;
}

template <class T>
ARBORA_INLINE T sweep_inside(const Eisner<T>& e) {
  NoPolling none;
  Polling polling;
  return e.n_words <= kLongestUnpolled ? sweep_inside(e, none) : sweep_inside(e, polling);
}

// Fills the outside chart (all zeros on entry): the derivative of Z by each inside item, the exact
// transpose of the sweep above. The product of an arc's open item with its outside is the total
// weight of the trees with that arc; in max-plus, the score of the best such tree.
template <class T, class Poll>
ARBORA_INLINE void sweep_outside(const Eisner<T>& e, const EisnerChart<T>& outside, Poll& polling) {
  using Vec = typename Row<T>::Vec;
  const Index n = e.n_words;
  const T one = Number<T>::one(), zero = Number<T>::zero();
  if (e.root == Root::multi) outside.complete_right.set(0, n, one);
  for (Index r = 1; e.root == Root::single && r <= n; ++r) {
    outside.complete_left.set(1, r, e.w.get(0, r) * e.inside.complete_right.get(r, n));
    outside.complete_right.set(r, n, e.inside.complete_left.get(1, r) * e.w.get(0, r));
  }
  for (Index s = e.first(); s <= n; ++s) {
    const Row<T> right = e.inside.complete_right.row(s), left = e.inside.complete_left.row(s);
    const Row<T> open_right = e.inside.open_right.row(s);
    const Row<T> d_right = outside.complete_right.row(s), d_left = outside.complete_left.row(s);
    const Row<T> d_open_right = outside.open_right.row(s), d_open_left = outside.open_left.row(s);
    for (Index t = s; t <= n; t += Row<T>::width) e.joint.store(t, spread(zero));
    for (Index k = n; k >= s; --k) {
      const bool word = k > s;
      const auto a = spread(right.get(k)), b = spread(word ? open_right.get(k) : zero);
      const auto c = spread(word ? left.get(k) : zero);
      Vec to_right = spread(zero), to_open_right = spread(zero), to_left = spread(zero);
      if (k < n) {
        const Row<T> next_left = e.inside.complete_left.row(k + 1);
        const Row<T> inner_right = e.inside.complete_right.row(k);
        const Row<T> inner_left = e.inside.open_left.row(k);
        const Row<T> d_next_left = outside.complete_left.row(k + 1);
        const Row<T> d_inner_right = outside.complete_right.row(k);
        const Row<T> d_inner_left = outside.open_left.row(k);
        for (Index t = k + 1; t <= n; t += Row<T>::width) {
          const Vec x = e.joint.load(t), y = d_right.load(t), z = d_left.load(t);
          to_right = to_right + x * next_left.load(t);
          to_open_right = to_open_right + y * inner_right.load(t);
          to_left = to_left + z * inner_left.load(t);
          d_next_left.store(t, d_next_left.load(t) + x * a);
          d_inner_right.store(t, d_inner_right.load(t) + y * b);
          d_inner_left.store(t, d_inner_left.load(t) + z * c);
        }
        polling.after(12 * (n - k));
      }
      if (!word) continue;
      const T d_k_right = d_right.get(k) + Row<T>::total(to_right);
      const T d_k_left = d_left.get(k) + Row<T>::total(to_left);
      const T d_arc_right = Row<T>::total(to_open_right) + d_k_right;
      const T d_arc_left = d_open_left.get(k) + d_k_left;
      d_right.set(k, d_k_right);
      d_left.set(k, d_k_left);
      d_open_right.set(k, d_arc_right);
      d_open_left.set(k, d_arc_left);
      const T by_left = s == 0 ? zero : d_arc_left * e.w.get(k, s);
      e.joint.set(k, d_arc_right * e.w.get(s, k) + by_left);
    }
  }
}

template <class T>
ARBORA_INLINE void sweep_outside(const Eisner<T>& e, const EisnerChart<T>& outside) {
  NoPolling none;
  Polling polling;
  e.n_words <= kLongestUnpolled ? sweep_outside(e, outside, none)
                                : sweep_outside(e, outside, polling);
}

}  // namespace arbora::inference
