// Backtraces through an inside chart: one traversal finds the best tree or samples one, depending
// on how an item chooses among its derivations.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/base/random.hpp"
#include "arbora/inference/eisner.hpp"

namespace arbora::inference {

// The largest term; of equals, the first.
struct ChooseBest {
  template <class Term>
  Index operator()(Index first, Index last, const Term& term) const {
    Index best = first;
    double score = kForbidden;
    for (Index k = first; k <= last; ++k) {
      const double candidate = term(k).score;
      if (candidate > score) {
        score = candidate;
        best = k;
      }
    }
    return best;
  }
};

// A term with probability in proportion to its weight.
template <class T>
struct ChooseRandomly {
  RandomStream& random;

  template <class Term>
  Index operator()(Index first, Index last, const Term& term) const {
    T total = Number<T>::zero();
    for (Index k = first; k <= last; ++k) total = total + term(k);
    const T target = total * T(random.uniform());
    T sum = Number<T>::zero();
    Index chosen = first;
    for (Index k = first; k <= last; ++k) {
      const T weight = term(k);
      if (!Number<T>::is_positive(weight)) continue;
      chosen = k;
      sum = sum + weight;
      if (Number<T>::is_positive(sum - target)) break;
    }
    return chosen;
  }
};

// Complete items that are still to be expanded; open items are expanded immediately.
struct EisnerItem {
  bool right;  // headed by its left end
  Index s, t;
};

// Writes the head of word m to heads[m - 1].
template <class T, class Choose>
void walk_down(const Eisner<T>& e, const Choose& choose, std::vector<EisnerItem>& open,
               std::int32_t* heads, Polling& polling) {
  const EisnerChart<T>& in = e.inside;
  const Index n = e.n_words;
  open.clear();
  if (e.root == Root::multi) {
    open.push_back({true, 0, n});
  } else {
    const Index r = choose(1, n, [&](Index k) { return e.single_root_term(k); });
    heads[r - 1] = 0;
    open.push_back({false, 1, r});
    open.push_back({true, r, n});
  }
  while (!open.empty()) {
    const EisnerItem item = open.back();
    open.pop_back();
    const Index s = item.s, t = item.t;
    if (s == t) continue;
    polling.after(8 * (t - s));
    Index from = s, to = t;  // the span of the open item inside
    if (item.right) {
      to = choose(s + 1, t,
                  [&](Index k) { return in.open_right.get(s, k) * in.complete_right.get(k, t); });
      heads[to - 1] = static_cast<std::int32_t>(s);
      open.push_back({true, to, t});
    } else {
      from = choose(s, t - 1,
                    [&](Index k) { return in.complete_left.get(s, k) * in.open_left.get(k, t); });
      heads[from - 1] = static_cast<std::int32_t>(t);
      open.push_back({false, s, from});
    }
    const Index split = choose(from, to - 1, [&](Index k) {
      return in.complete_right.get(from, k) * in.complete_left.get(k + 1, to);
    });
    open.push_back({true, from, split});
    open.push_back({false, split + 1, to});
  }
}

}  // namespace arbora::inference
