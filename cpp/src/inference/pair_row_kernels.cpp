#include "arbora/inference/pair_row_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace arbora::inference {
namespace {

ARBORA_INLINE Pack one() { return splat(1.0); }
ARBORA_INLINE Pack zero() { return splat(0.0); }

// A row is walked a pack at a time; of its last pack only the first lanes are its own.
struct AllLanes {
  ARBORA_INLINE Pack choose(Pack then, Pack) const { return then; }
};
struct FirstLanes {
  Index count;
  ARBORA_INLINE Pack choose(Pack then, Pack otherwise) const {
    return where_below(lane_numbers(), splat(static_cast<double>(count)), then, otherwise);
  }
};

// The previous messages; 1 everywhere if there are none.
struct Said {
  PairRows::Messages messages;
  ARBORA_INLINE Pack to_run(Index place) const { return load_pack(messages.to_run + place); }
  ARBORA_INLINE Pack to_own(Index place) const { return load_pack(messages.to_own + place); }
};
struct Silence {
  ARBORA_INLINE Pack to_run(Index) const { return one(); }
  ARBORA_INLINE Pack to_own(Index) const { return one(); }
};

// The messages of up to four pairs, multiplied into the products of the arcs that receive them. It
// may overwrite fresh messages of later rows, which are computed afterwards.
template <class Lanes, class Old>
ARBORA_INLINE Pack send_four(Lanes lanes, Pack own, const double* odds, const double* weights,
                             Old old, PairRows::Messages fresh, Index place, double* products) {
  const Pack b = load_pack(odds), w = load_pack(weights + place);
  const Pack to_run = old.to_run(place), to_own = old.to_own(place);
  const Pack off_run = to_run + b, off_own = to_own + own;
  const Pack inverse = one() / (off_run * off_own);  // a division takes as long as ten products
  const Pack from_run = (to_run + b * w) * (off_own * inverse);
  const Pack from_own = (to_own + own * w) * (off_run * inverse);
  store_pack(fresh.to_own + place, from_run);
  store_pack(fresh.to_run + place, from_own);
  store_pack(products, load_pack(products) * lanes.choose(from_own, one()));
  return lanes.choose(from_run, one());
}

template <class Old>
ARBORA_INLINE void send_row(const PairRow& row, Given odds, const double* weights, Old old,
                            PairRows::Messages fresh, Totals products) {
  const Pack own = splat(odds.own[row.own]);
  const double* of_run = odds.runs + row.run;
  double* to_run = products.runs + row.run;
  Pack to_own = one();
  Index i = 0;
  for (; i + kPackWidth <= row.count; i += kPackWidth) {
    to_own = to_own *
             send_four(AllLanes{}, own, of_run + i, weights, old, fresh, row.place + i, to_run + i);
  }
  if (i < row.count) {
    to_own = to_own * send_four(FirstLanes{row.count - i}, own, of_run + i, weights, old, fresh,
                                row.place + i, to_run + i);
  }
  products.own[row.own] *= product_of(to_own);
}

}  // namespace

ARBORA_MULTIVERSION
void send_rows(const PairRow* rows, Index n_rows, Given odds, const double* weights,
               PairRows::Messages old, PairRows::Messages fresh, Totals products) {
  if (old.to_run == nullptr) {
    for (Index i = 0; i < n_rows; ++i) send_row(rows[i], odds, weights, Silence{}, fresh, products);
  } else {
    for (Index i = 0; i < n_rows; ++i) send_row(rows[i], odds, weights, Said{old}, fresh, products);
  }
}

namespace {

// The four states of a pair, all times the messages that it sent before.
struct States {
  Pack none, run, own, both, total;
};
ARBORA_INLINE States states(Pack b, Pack own, Pack w, Pack to_run, Pack to_own) {
  States s{to_run * to_own, b * to_own, own * to_run, b * own * w, zero()};
  s.total = (s.none + s.both) + (s.run + s.own);
  return s;
}

}  // namespace

ARBORA_MULTIVERSION
double believe_rows(const PairRow* rows, Index n_rows, Given odds, const double* weights,
                    PairRows::Messages last, double* both) {
  double sum = 0.0;
  for (const PairRow* row = rows; row != rows + n_rows; ++row) {
    const Pack own = splat(odds.own[row->own]);
    Pack logs = zero();
    for (Index i = 0; i < row->count; i += kPackWidth) {
      const Index place = row->place + i;
      const States s = states(load_pack(odds.runs + row->run + i), own, load_pack(weights + place),
                              load_pack(last.to_run + place), load_pack(last.to_own + place));
      store_pack(both + place, s.both / s.total);  // may overwrite later rows, computed afterwards
      logs = logs + FirstLanes{row->count - i}.choose(log_positive(s.total / s.none), zero());
    }
    sum += sum_of(logs);
  }
  return sum;
}

namespace {

template <class Lanes>
ARBORA_INLINE void add_to(Lanes lanes, double* numbers, Pack more) {
  store_pack(numbers, load_pack(numbers) + lanes.choose(more, zero()));
}

}  // namespace

// d P / d run = P P(run off), d P / d s = P (1 - P)
ARBORA_MULTIVERSION
void believe_rows_back(const PairRow* rows, Index n_rows, Given odds, const double* weights,
                       PairRows::Messages last, const double* d_both, PairRows::Messages d_messages,
                       Totals d_odds, double* d_scores) {
  for (const PairRow* row = rows; row != rows + n_rows; ++row) {
    const Pack own = splat(odds.own[row->own]);
    Pack d_own = zero();
    for (Index i = 0; i < row->count; i += kPackWidth) {
      const Index place = row->place + i;
      const FirstLanes lanes{row->count - i};
      const States s = states(load_pack(odds.runs + row->run + i), own, load_pack(weights + place),
                              load_pack(last.to_run + place), load_pack(last.to_own + place));
      const Pack scale = load_pack(d_both + place) * (s.both / s.total) / s.total;
      const Pack by_run = scale * (s.none + s.own), by_own = scale * (s.none + s.run);
      add_to(lanes, d_odds.runs + row->run + i, by_run);
      add_to(lanes, d_messages.to_run + place, zero() - by_run);
      add_to(lanes, d_messages.to_own + place, zero() - by_own);
      add_to(lanes, d_scores + place, scale * (s.none + (s.run + s.own)));
      d_own = d_own + lanes.choose(by_own, zero());
    }
    d_odds.own[row->own] += sum_of(d_own);
  }
}

namespace {

// Of log (r + b w) / (r + b), by log b and by log w; by log r it is the negative of the former.
struct Slopes {
  Pack odds, weight;
};
ARBORA_INLINE Slopes slopes(Pack b, Pack w, Pack r) {
  const Pack on = r + b * w, off = r + b;
  const Pack inverse = one() / (on * off);
  return {b * r * (w - one()) * inverse, b * w * off * inverse};
}

template <class Old>
ARBORA_INLINE void send_row_back(const PairRow& row, Given odds, const double* weights, Old old,
                                 Given d_sums, PairRows::Messages d_messages, Totals d_odds,
                                 double* d_scores) {
  const Pack own = splat(odds.own[row.own]), d_sum = splat(d_sums.own[row.own]);
  Pack d_own = zero();
  for (Index i = 0; i < row.count; i += kPackWidth) {
    const Index place = row.place + i, arc = row.run + i;
    const FirstLanes lanes{row.count - i};
    const Pack w = load_pack(weights + place);
    const Pack later_run = load_pack(d_messages.to_run + place);
    const Pack later_own = load_pack(d_messages.to_own + place);
    const Pack d_to_run = later_run + load_pack(d_sums.runs + arc), d_to_own = later_own + d_sum;
    const Slopes of_run = slopes(load_pack(odds.runs + arc), w, old.to_run(place));
    const Slopes of_own = slopes(own, w, old.to_own(place));
    const Pack by_run = d_to_own * of_run.odds, by_own = d_to_run * of_own.odds;
    store_pack(d_messages.to_run + place, lanes.choose(zero() - by_run, later_run));
    store_pack(d_messages.to_own + place, lanes.choose(zero() - by_own, later_own));
    add_to(lanes, d_scores + place, d_to_own * of_run.weight + d_to_run * of_own.weight);
    add_to(lanes, d_odds.runs + arc, by_run);
    d_own = d_own + lanes.choose(by_own, zero());
  }
  d_odds.own[row.own] += sum_of(d_own);
}

}  // namespace

ARBORA_MULTIVERSION
void send_rows_back(const PairRow* rows, Index n_rows, Given odds, const double* weights,
                    PairRows::Messages old, Given d_sums, PairRows::Messages d_messages,
                    Totals d_odds, double* d_scores) {
  for (const PairRow* row = rows; row != rows + n_rows; ++row) {
    if (old.to_run == nullptr) {
      send_row_back(*row, odds, weights, Silence{}, d_sums, d_messages, d_odds, d_scores);
    } else {
      send_row_back(*row, odds, weights, Said{old}, d_sums, d_messages, d_odds, d_scores);
    }
  }
}

ARBORA_MULTIVERSION
double bounded_exponentials(const double* numbers, Index count, double bound, double* answer) {
  Pack largest = zero();
  for (Index i = 0; i < count; i += kPackWidth) {
    Pack x = zero();
    if (i + kPackWidth <= count) {
      x = load_pack(numbers + i);
    } else {
      double rest[kPackWidth] = {};
      std::copy(numbers + i, numbers + count, rest);
      x = load_pack(rest);
    }
    largest = larger(magnitude(x), largest);
    const Pack inside = larger(zero() - larger(zero() - x, splat(-bound)), splat(-bound));
    const Pack forbidden = splat(kForbidden);
    store_pack(answer + i, where_below(forbidden, x, exp_bounded(inside), zero()));
  }
  return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

ARBORA_MULTIVERSION
void add_logarithms(const double* positive, Index count, double* sums) {
  for (Index i = 0; i + kPackWidth <= count; i += kPackWidth) {
    store_pack(sums + i, load_pack(sums + i) + log_positive(load_pack(positive + i)));
  }
  for (Index i = count / kPackWidth * kPackWidth; i < count; ++i) sums[i] += std::log(positive[i]);
}

namespace {

// The largest of old / fresh and fresh / old among all messages to arcs that can be on; 0 if there
// is no pair of such arcs.
template <class Old>
ARBORA_INLINE Pack largest_ratio(const PairRow& row, Given odds, Old old,
                                 PairRows::Messages fresh) {
  Pack largest = zero();
  if (odds.own[row.own] == 0.0) return largest;
  for (Index i = 0; i < row.count; i += kPackWidth) {
    const Index place = row.place + i;
    const Pack a = old.to_run(place), b = load_pack(fresh.to_run + place);
    const Pack c = old.to_own(place), d = load_pack(fresh.to_own + place);
    const Pack ratio = larger(larger(a / b, b / a), larger(c / d, d / c));
    const Pack possible = where_below(zero(), load_pack(odds.runs + row.run + i), ratio, zero());
    largest = larger(FirstLanes{row.count - i}.choose(possible, zero()), largest);
  }
  return largest;
}

}  // namespace

ARBORA_MULTIVERSION
double largest_ratio(const PairRow* rows, Index n_rows, Given odds, PairRows::Messages old,
                     PairRows::Messages fresh) {
  Pack largest = zero();
  for (Index i = 0; i < n_rows; ++i) {
    largest = larger(old.to_run == nullptr ? largest_ratio(rows[i], odds, Silence{}, fresh)
                                           : largest_ratio(rows[i], odds, Said{old}, fresh),
                     largest);
  }
  return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

}  // namespace arbora::inference
