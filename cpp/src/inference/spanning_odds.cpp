// Marginals of spanning trees to full relative precision, however unlikely an arc is.
//
// The reverse sweep of elimination.hpp subtracts, so its errors are absolute. Here all words except
// m are eliminated, for every m, without subtraction. Follow the heads upwards from a word h, each
// drawn by its weight: a_m(h), the probability of coming to the root symbol before m, is sum_g p_g
// a_m(g) over the words that were left when h was eliminated, with a_m(0) = 1 and a_m(m) = 0. A
// tree with the arc h -> m is a choice of heads for all other words that leads h to the root symbol
// without passing m, so
//
//     P(h -> m) = w(h, m) a_m(h) / sum_g w(g, m) a_m(g).
//
// Words share most of their eliminations: one half of the words is eliminated once for all words of
// the other half, recursively. All words together cost a little more than two eliminations, a few
// words less than one each.
//
// Under Root::single all of this holds in the limit of small root arcs: they do not count in s_k,
// and a_m is relative to them. The last word that leads to all others has no head among those that
// are left: it is the root's one modifier, takes the place of the root symbol, and counts.
#include <algorithm>
#include <cmath>
#include <vector>

#include "arbora/inference/shift.hpp"
#include "arbora/inference/sums.hpp"

namespace arbora::inference {
namespace {

// A bound on the loss by underflow, relative to the largest weight.
constexpr double kLost = 1e-290;

void fill(ArcScores scores, const Shift& shift, Matrix<double> w) {
  plain_weights(scores, shift, w);
}
void fill(ArcScores scores, const Shift& shift, Matrix<Wide> w) {
  for (Index h = 0; h <= scores.n_words; ++h) {
    for (Index m = 1; m <= scores.n_words; ++m) w.set(h, m, wide_weight(scores, shift, h, m));
  }
}

// Whether each word leads to all others over arcs between words: those that lead to a possible
// root do.
std::vector<bool> leading_words(ArcScores scores, Index possible_root) {
  std::vector<bool> leads(at(scores.side()), false);
  std::vector<Index> open{possible_root};
  leads[at(possible_root)] = true;
  while (!open.empty()) {
    const Index m = open.back();
    open.pop_back();
    for (Index h = 1; h <= scores.n_words; ++h) {
      if (leads[at(h)] || h == m || !scores.allows(h, m)) continue;
      leads[at(h)] = true;
      open.push_back(h);
    }
  }
  return leads;
}

double log_of(double x) { return std::log(x); }
double log_of(Wide x) { return x.log(); }

// Plain numbers are precise as long as divisions by small sums do not magnify the loss by
// underflow; every such sum divides a_m at most once and p at most once.
double times_if_small(double product, double s) { return s < 1.0 ? product * s : product; }
double times_if_small(double product, Wide) { return product; }
bool trusted(double marginal, double small) { return marginal * small * small >= kLost; }
bool trusted(Wide, double) { return true; }

template <class T>
class LogMarginals {
 public:
  LogMarginals(ArcScores scores, Root root, const Shift& shift, const std::vector<char>& asked,
               double* answer, Workspace& workspace)
      : scores_(scores), shift_(shift), asked_(asked), answer_(answer) {
    const Index n = scores.n_words, side = n + 1;
    const auto square = [&](Index size) {
      return Matrix<T>::carve(workspace, size, size, Number<T>::zero());
    };
    weights_ = square(side);
    p_ = square(side);
    a_ = Row<T>::carve(workspace, whole_steps<T>(side));
    fill(scores, shift, weights_);
    for (Index size = n;; size = (size + 1) / 2) {
      levels_.push_back(square(size + 1));
      if (size == 1) break;
    }
    start_.root_counts = root == Root::multi;
    if (start_.root_counts) return;
    leads_ = leading_words(scores, shift.likeliest_root);
    for (Index m = 1; m <= n; ++m) start_.leading_left += leads_[at(m)] ? 1 : 0;
  }

  // False if plain numbers are imprecise.
  bool run() {
    std::vector<Index> all(at(scores_.side()));
    for (Index m = 0; m <= scores_.n_words; ++m) all[at(m)] = m;
    return split(all, weights_, start_, 0);
  }

 private:
  struct State {
    bool root_counts = false;      // in s_k
    Index leading_left = 0;        // words that lead to all others
    std::size_t counted_from = 0;  // words eliminated before reach the root through others only
    double small = 1.0;            // the product of all s_k that are less than 1
  };

  // `words` are left, the root symbol first, with their weights in this order.
  bool split(const std::vector<Index>& words, Matrix<T> w, const State& state, std::size_t level) {
    const auto count = static_cast<Index>(words.size()) - 1;
    if (count == 1) return report(words[1], state);
    const auto middle = words.begin() + 1 + count / 2;
    const std::vector<Index> one(words.begin() + 1, middle), other(middle, words.end());
    return keep(one, other, words, w, state, level) && keep(other, one, words, w, state, level);
  }

  // Eliminates one half of the words for the other, if any word of the other half is wanted.
  bool keep(const std::vector<Index>& kept, const std::vector<Index>& dropped,
            const std::vector<Index>& words, Matrix<T> w, State state, std::size_t level) {
    if (std::none_of(kept.begin(), kept.end(), [&](Index m) { return asked_[at(m)]; })) return true;
    std::vector<Index> order{0};
    order.insert(order.end(), kept.begin(), kept.end());
    order.insert(order.end(), dropped.begin(), dropped.end());
    const auto half = static_cast<Index>(kept.size()),
               count = half + static_cast<Index>(dropped.size());
    // Where kept and dropped words stand among all: the halves may be swapped.
    const bool first = kept.front() == words[1];
    const auto place = [&](Index i) {
      if (i == 0 || first) return i;
      return i <= half ? i + count - half : i - half;
    };
    const Matrix<T> own = levels_[level];
    for (Index h = 0; h <= count; ++h) {
      for (Index m = 1; m <= count; ++m) own.set(h, m, w.get(place(h), place(m)));
    }
    const std::size_t before = eliminated_.size();
    for (Index k = count; k > half; --k) eliminate(own, order, k, state);
    order.resize(at(half + 1));
    const bool done = split(order, own, state, level + 1);
    eliminated_.resize(before);
    return done;
  }

  // Eliminates the word in place k, the last of those that are left.
  void eliminate(Matrix<T> w, const std::vector<Index>& order, Index k, State& state) {
    const Index word = order[at(k)];
    const Row<T> p = p_.row(word), via = w.row(k);
    for (Index h = 0; h <= scores_.n_words; ++h) p.set(h, Number<T>::zero());
    if (!state.root_counts && leads_[at(word)] && --state.leading_left == 0) {
      state.root_counts = true;
      state.counted_from = eliminated_.size();
      p.set(0, Number<T>::one());
      for (Index m = 1; m < k; ++m) w.set(0, m, via.get(m));
    } else {
      T s = state.root_counts ? w.get(0, k) : Number<T>::zero();
      for (Index h = 1; h < k; ++h) s = s + w.get(h, k);
      state.small = times_if_small(state.small, s);
      const T inverse = Number<T>::one() / s;
      for (Index h = 0; h < k; ++h) {
        const T share = w.get(h, k) * inverse;
        p.set(order[at(h)], share);
        const Row<T> row = w.row(h);
        const auto spread_share = spread(share);
        for (Index m = 0; m < k; m += Row<T>::width) {
          row.store(m, row.load(m) + spread_share * via.load(m));
        }
      }
    }
    eliminated_.push_back(word);
  }

  // The marginals of all arcs into the word that is left.
  bool report(Index m, const State& state) {
    const Index n = scores_.n_words, side = n + 1;
    for (Index h = 0; h < whole_steps<T>(side); ++h) a_.set(h, Number<T>::zero());
    for (std::size_t i = eliminated_.size(); i-- > 0;) {
      const Row<T> p = p_.row(eliminated_[i]);
      auto sum = spread(Number<T>::zero());
      for (Index h = 0; h < side; h += Row<T>::width) sum = sum + p.load(h) * a_.load(h);
      const T through_words = Row<T>::total(sum);
      a_.set(eliminated_[i], i < state.counted_from ? through_words : through_words + p.get(0));
    }
    a_.set(0, Number<T>::one());
    T total = Number<T>::zero();
    for (Index h = 0; h < side; ++h) {
      if (h != m) total = total + weights_.get(h, m) * a_.get(h);
    }
    const double small = times_if_small(state.small, total);
    for (Index h = 0; h < side; ++h) {
      double& answer = answer_[h * side + m];
      answer = kForbidden;
      if (h == m || !scores_.allows(h, m) || (h == 0 && !shift_.can_be_root(m))) continue;
      const T marginal = weights_.get(h, m) * a_.get(h) / total;
      if (!trusted(marginal, small)) return false;
      answer = log_of(marginal);
    }
    return true;
  }

  ArcScores scores_;
  const Shift& shift_;
  const std::vector<char>& asked_;
  double* answer_;
  State start_;
  Matrix<T> weights_, p_;  // p by word and head, 0 for heads that were gone
  Row<T> a_;               // by word
  std::vector<Matrix<T>> levels_;
  std::vector<bool> leads_;
  std::vector<Index> eliminated_;
};

}  // namespace

void spanning_log_marginals(ArcScores scores, Root root, std::span<const Index> modifiers,
                            double* log_marginals, Workspace& workspace) {
  const Shift shift =
      make_shift(scores, root, 0.0, Row<double>::carve(workspace, scores.side()).data());
  std::vector<char> asked(at(scores.side()), 0);
  for (const Index m : modifiers) asked[at(m)] = 1;
  if (LogMarginals<double>(scores, root, shift, asked, log_marginals, workspace).run()) return;
  LogMarginals<Wide>(scores, root, shift, asked, log_marginals, workspace).run();
}

}  // namespace arbora::inference
