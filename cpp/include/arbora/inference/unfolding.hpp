// Exact samples of spanning trees by running the elimination backwards.
//
// Let G' be the graph G without word k, every path h -> k -> m turned into an arc of weight
// p_h w(k, m) beside the direct arc w(h, m). A tree T of G is drawn from a tree T' of G' like this:
//   1. each arc of T' decides whether it stands for the direct arc or for the path through k,
//      in proportion to the two weights; M is the set of words whose arc goes through k;
//   2. all words of M become modifiers of k;
//   3. k takes a head with probability p_h among the words outside the subtrees of M (and the root
//      symbol, under Root::multi). Under Root::single, if the root arc went through k, k becomes
//      the root.
// Why this is exact. Fix M and the direct arcs; let a_m be the p-mass of the subtree of m and b
// that of everything else, so that b + sum a_m = 1. The trees T' with these have, over the choices
// of heads of M, total weight b (b + sum a_m)^(|M|-1) = b (Cayley's formula with weights), times
// factors common to T; the trees T have b as well, the mass of the allowed heads of k. With the
// root arc among those through k, word m plays the root with weight q a_m, and these add up to q,
// the weight of the one tree T in which k is the root.
//
// There are no rejections and no random walks, so a draw takes bounded time at any scores
// (Wilson's algorithm does not); nothing is subtracted, so it is exact at any scale.
#pragma once

#include <vector>

#include "arbora/base/random.hpp"
#include "arbora/inference/elimination.hpp"

namespace arbora::inference {

template <class T>
class Unfolding {
 public:
  // `weights` are those that the elimination started from.
  Unfolding(const Elimination<T>& tape, Matrix<T> weights, Workspace& workspace)
      : tape_(tape),
        weights_(weights),
        p_by_head_(transposed(tape.p, tape.n_words, workspace)),
        w_by_modifier_(transposed(tape.w, tape.n_words, workspace)),
        head_(side(), 0),
        through_(side(), 0),
        below_(side(), 0) {}

  // head[m] of each word m in elimination order; head[0] is unused.
  const std::vector<Index>& draw(RandomStream& random) {
    attach(1, 0, tape_.s.get(1), 1, random);
    for (Index k = 2; k <= tape_.n_words; ++k) {
      restore(k, random);
      polling_.after(8 * tape_.n_words);
    }
    return head_;
  }

 private:
  static Matrix<T> transposed(Matrix<T> x, Index n, Workspace& workspace) {
    const auto result = Matrix<T>::carve(workspace, n + 1, n + 1, Number<T>::zero());
    for (Index k = 1; k <= n; ++k) {
      for (Index j = 0; j < k; ++j) result.set(j, k, x.get(k, j));
    }
    return result;
  }
  std::size_t side() const { return static_cast<std::size_t>(tape_.n_words + 1); }

  // Gives m the head h, an arc of the given weight in the graph of words 1..k, and decides which
  // of the words k+1..n it goes through first, if any: the weight is
  // w(h, m) + sum_{j > k} p_h^(j) w(j, m), the last term the word eliminated last.
  void attach(Index m, Index h, T weight, Index k, RandomStream& random) {
    head_[at(m)] = h;
    const T target = weight * T(random.uniform());
    const Row<T> p = p_by_head_.row(h), w = w_by_modifier_.row(m);
    T sum = Number<T>::zero();
    Index last = 0;
    for (Index j = k + 1; j <= tape_.n_words; ++j) {
      const T term = p.get(j) * w.get(j);
      if (!Number<T>::is_positive(term)) continue;
      sum = sum + term;
      last = j;
      if (exceeds(sum, target)) break;
    }
    // Rounding may leave the target above the sum; a forbidden direct arc is not the answer.
    const bool direct = !exceeds(sum, target) && Number<T>::is_positive(weights_.get(h, m));
    through_[at(m)] = direct ? 0 : last;
  }

  void restore(Index k, RandomStream& random) {
    bool root_arc_passes = false, any = false;
    for (Index m = 1; m < k; ++m) {
      below_[at(m)] = kUnknown;
      if (through_[at(m)] != k) continue;
      any = true;
      below_[at(m)] = kBelow;
      if (head_[at(m)] == 0 && tape_.root == Root::single) root_arc_passes = true;
    }
    const Index head = root_arc_passes ? 0 : draw_head(k, any, random);
    if (any) {
      for (Index m = 1; m < k; ++m) {
        if (through_[at(m)] == k) attach(m, k, tape_.w.get(k, m), k, random);
      }
    }
    attach(k, head, tape_.p.get(k, head) * tape_.s.get(k), k, random);
  }

  Index draw_head(Index k, bool any_below, RandomStream& random) {
    const Row<T> p = tape_.p.row(k);
    const Index first = tape_.root == Root::multi ? 0 : 1;
    T mass = Number<T>::one();
    if (any_below) {
      mass = Number<T>::zero();
      for (Index h = first; h < k; ++h) {
        if (!is_below(h)) mass = mass + p.get(h);
      }
    }
    const T target = mass * T(random.uniform());
    T sum = Number<T>::zero();
    Index last = 0;  // rounding may leave the target just above the sum of all
    for (Index h = first; h < k; ++h) {
      if ((any_below && is_below(h)) || !Number<T>::is_positive(p.get(h))) continue;
      sum = sum + p.get(h);
      last = h;
      if (exceeds(sum, target)) break;
    }
    return last;
  }

  // Whether the path from word h to the root symbol passes a word of M; memoised.
  bool is_below(Index h) {
    if (h == 0) return false;
    path_.clear();
    Index here = h;
    while (here != 0 && below_[at(here)] == kUnknown) {
      path_.push_back(here);
      here = head_[at(here)];
    }
    const char answer = here == 0 ? kFree : below_[at(here)];
    for (const Index word : path_) below_[at(word)] = answer;
    return answer == kBelow;
  }

  static bool exceeds(T sum, T target) { return Number<T>::is_positive(sum - target); }

  static constexpr char kUnknown = 0, kFree = 1, kBelow = 2;

  const Elimination<T>& tape_;
  Matrix<T> weights_, p_by_head_, w_by_modifier_;
  std::vector<Index> head_, through_;
  std::vector<char> below_;
  std::vector<Index> path_;
  Polling polling_;
};

}  // namespace arbora::inference
