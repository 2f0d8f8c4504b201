#include "arbora/inference/pair_rows.hpp"

#include <algorithm>
#include <cmath>

namespace arbora {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// With these, no product of odds, messages and weights leaves the range of doubles.
constexpr double kLargestScore = 50.0;
constexpr double kLargestSum = 650.0;  // of the scores of one arc

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

// Numbers of the arcs of runs, and of those that rows have of their own: odds, or gradients.
struct Given {
  const double *runs, *own;
};
struct Totals {
  double *runs, *own;
};

// Messages that were sent before, or nothing: 1 everywhere.
struct Said {
  PairRows::Messages messages;
  ARBORA_INLINE Pack to_run(Index place) const { return load_pack(messages.to_run + place); }
  ARBORA_INLINE Pack to_own(Index place) const { return load_pack(messages.to_own + place); }
};
struct Silence {
  ARBORA_INLINE Pack to_run(Index) const { return one(); }
  ARBORA_INLINE Pack to_own(Index) const { return one(); }
};

// The messages of up to four pairs, multiplied into the products of the arcs that hear them. Fresh
// messages of other rows may be written over: they are yet to come.
template <class Lanes, class Old>
ARBORA_INLINE Pack send_four(Lanes lanes, Pack own, const double* odds, const double* weights,
                             Old old, PairRows::Messages fresh, Index place, double* products) {
  const Pack b = load_pack(odds), w = load_pack(weights + place);
  const Pack to_run = old.to_run(place), to_own = old.to_own(place);
  const Pack off_run = to_run + b, off_own = to_own + own;
  const Pack inverse = one() / (off_run * off_own);  // a division takes as long as ten products
  const Pack said_by_run = (to_run + b * w) * (off_own * inverse);
  const Pack said_by_own = (to_own + own * w) * (off_run * inverse);
  store_pack(fresh.to_own + place, said_by_run);
  store_pack(fresh.to_run + place, said_by_own);
  store_pack(products, load_pack(products) * lanes.choose(said_by_own, one()));
  return lanes.choose(said_by_run, one());
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

ARBORA_MULTIVERSION
void send_rows(const PairRow* rows, Index n_rows, Given odds, const double* weights,
               PairRows::Messages old, PairRows::Messages fresh, Totals products) {
  if (old.to_run == nullptr) {
    for (Index i = 0; i < n_rows; ++i) send_row(rows[i], odds, weights, Silence{}, fresh, products);
  } else {
    for (Index i = 0; i < n_rows; ++i) send_row(rows[i], odds, weights, Said{old}, fresh, products);
  }
}

// The four states of a pair, all times the messages that it sent before.
struct States {
  Pack none, run, own, both, total;
};
ARBORA_INLINE States states(Pack b, Pack own, Pack w, Pack to_run, Pack to_own) {
  States s{to_run * to_own, b * to_own, own * to_run, b * own * w, zero()};
  s.total = (s.none + s.both) + (s.run + s.own);
  return s;
}

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
      store_pack(both + place, s.both / s.total);  // other rows' numbers are yet to come
      logs = logs + FirstLanes{row->count - i}.choose(log_positive(s.total / s.none), zero());
    }
    sum += sum_of(logs);
  }
  return sum;
}

template <class Lanes>
ARBORA_INLINE void add_to(Lanes lanes, double* numbers, Pack more) {
  store_pack(numbers, load_pack(numbers) + lanes.choose(more, zero()));
}

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

// Exponentials of numbers that lie between -bound and bound, or are put there; a whole number of
// packs is written. Returns the largest size before that.
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

}  // namespace

void PairRows::clear() {
  siblings_.clear();
  grandparents_.clear();
  skipped_.clear();
  n_pairs_.clear();
  size_ = n_siblings_ = of_root_ = 0;
  largest_ = 0.0;
}

bool PairRows::set(const PartIndex& parts, const ArcOrder& order, const PartScores& scores,
                   bool siblings, bool grandparents, Trees trees) {
  clear();
  n_arcs_ = order.size();
  const std::size_t room = at(n_arcs_ + kPackWidth);
  n_pairs_.assign(at(n_arcs_), 0);
  if (!siblings && !grandparents) return true;
  n_siblings_ = siblings ? parts.siblings() : 0;
  const Index n_grandparents = grandparents ? parts.grandparents() : 0;
  size_ = n_siblings_ + n_grandparents + kPackWidth;  // rows look a pack ahead
  weights_.resize(at(size_ + kPackWidth));
  std::fill(weights_.end() - 2 * kPackWidth, weights_.end(), 1.0);
  for (auto* numbers : {&odds_, &seated_odds_, &of_arcs_, &of_seats_, &d_sums_, &d_seats_}) {
    numbers->assign(room, 0.0);
  }
  if (siblings) list_siblings(parts, order);
  if (grandparents) list_grandparents(parts, order, trees);
  if (siblings_.empty() && grandparents_.empty()) {
    clear();
    return true;
  }
  const double of_siblings =
      bounded_exponentials(scores.siblings, n_siblings_, kLargestScore, weights_.data());
  const double of_grandparents = bounded_exponentials(scores.grandparents, n_grandparents,
                                                      kLargestScore, weights_.data() + n_siblings_);
  for (const Index place : skipped_) weights_[at(place)] = 1.0;
  largest_ = std::max(of_siblings, of_grandparents);
  double most_pairs = static_cast<double>(*std::max_element(n_pairs_.begin(), n_pairs_.end()));
  return largest_ <= kLargestScore && most_pairs * largest_ <= kLargestSum;
}

void PairRows::list_siblings(const PartIndex& parts, const ArcOrder& order) {
  seats_.resize(at(n_arcs_));
  for (Index h = 0; h <= parts.n_words(); ++h) {
    const Index begin = order.first[at(h)], k = parts.n_modifiers(h);
    const auto left = static_cast<Index>(parts.modifiers(h, 0).size());
    for (Index j = 0; j < k; ++j) {
      seats_[at(begin + j)] = begin + (j < left ? left - 1 - j : j);
      n_pairs_[at(begin + j)] += k - 1;
      if (j == 0) continue;
      siblings_.push_back(
          {seats_[at(begin + j)], begin, j, parts.siblings_at(h) + j * (j - 1) / 2});
    }
  }
}

void PairRows::list_grandparents(const PartIndex& parts, const ArcOrder& order, Trees trees) {
  of_root_ = parts.grandparents_at(1);  // which go with the root's arcs
  for (Index i = 0; i < of_root_; ++i) skipped_.push_back(n_siblings_ + i);
  for (Index link = 1; link < parts.n_links(); ++link) {
    const Index above = order.of_link[at(link)];
    const Index g = order.head[at(above)], h = order.modifier[at(above)];
    const Index begin = order.first[at(h)], k = parts.n_modifiers(h);
    const Index place = n_siblings_ + parts.grandparents_at(link);
    if (k > 0) grandparents_.push_back({above, begin, k, place});
    n_pairs_[at(above)] += k;
    for (Index j = 0; j < k; ++j) {
      ++n_pairs_[at(begin + j)];
      const Index m = order.modifier[at(begin + j)];
      const bool between = (h < g && g < m) || (m < g && g < h);
      if (m == g || (trees == Trees::projective && between)) skipped_.push_back(place + j);
    }
  }
}

void PairRows::silence_gaps(Messages messages) const {
  for (double* numbers : {messages.to_run, messages.to_own}) {
    std::fill(numbers + n_siblings_, numbers + n_siblings_ + of_root_, 1.0);
    std::fill(numbers + std::max<Index>(size_ - kPackWidth, 0), numbers + size_, 1.0);
  }
}

void PairRows::set_odds(const double* log_odds) {
  bounded_exponentials(log_odds, n_arcs_, kLargestLogOdds, odds_.data());
  if (!siblings_.empty()) to_seats(odds_.data(), seated_odds_.data());
}

void PairRows::to_seats(const double* by_arc, double* by_seat) const {
  for (Index i = 0; i < n_arcs_; ++i) by_seat[i] = by_arc[seats_[at(i)]];
}

// Calls visit(rows, how many, odds of runs, numbers of runs) for both kinds of pairs, where arcs of
// runs are those of `of_seats_` or of `of_arcs_`.
template <class Visit>
void PairRows::visit_rows(const Visit& visit) {
  visit(siblings_.data(), static_cast<Index>(siblings_.size()),
        Given{seated_odds_.data(), odds_.data()}, Totals{of_seats_.data(), of_arcs_.data()});
  visit(grandparents_.data(), static_cast<Index>(grandparents_.size()),
        Given{odds_.data(), odds_.data()}, Totals{of_arcs_.data(), of_arcs_.data()});
}

void PairRows::send(const double* log_odds, Messages old, Messages fresh, double* sums) {
  set_odds(log_odds);
  std::fill(of_arcs_.begin(), of_arcs_.end(), 1.0);
  std::fill(of_seats_.begin(), of_seats_.end(), 1.0);
  visit_rows([&](const PairRow* rows, Index n_rows, Given odds, Totals products) {
    send_rows(rows, n_rows, odds, weights_.data(), old, fresh, products);
  });
  if (!siblings_.empty()) {
    for (Index i = 0; i < n_arcs_; ++i) of_arcs_[at(seats_[at(i)])] *= of_seats_[at(i)];
  }
  add_logarithms(of_arcs_.data(), n_arcs_, sums);
}

double PairRows::largest_change(Messages old, Messages fresh) {
  double largest = 0.0;
  visit_rows([&](const PairRow* rows, Index n_rows, Given odds, Totals) {
    largest = std::max(largest, largest_ratio(rows, n_rows, odds, old, fresh));
  });
  return std::log(largest);
}

double PairRows::beliefs(const double* log_odds, Messages last, double* both) {
  set_odds(log_odds);
  double sum = 0.0;
  visit_rows([&](const PairRow* rows, Index n_rows, Given odds, Totals) {
    sum += believe_rows(rows, n_rows, odds, weights_.data(), last, both);
  });
  return sum;
}

void PairRows::beliefs_back(const double* log_odds, Messages last, const double* d_both,
                            const Gradients& gradients) {
  set_odds(log_odds);
  back(
      [&](const PairRow* rows, Index n_rows, Given odds, Totals d_odds) {
        believe_rows_back(rows, n_rows, odds, weights_.data(), last, d_both, gradients.messages,
                          d_odds, gradients.scores);
      },
      gradients.log_odds);
}

void PairRows::send_back(const double* log_odds, Messages old, const double* d_sums,
                         const Gradients& gradients) {
  set_odds(log_odds);
  std::copy(d_sums, d_sums + n_arcs_, d_sums_.begin());
  if (!siblings_.empty()) to_seats(d_sums, d_seats_.data());
  back(
      [&](const PairRow* rows, Index n_rows, Given odds, Totals d_odds) {
        const bool of_siblings = rows == siblings_.data();
        const Given sums{of_siblings ? d_seats_.data() : d_sums_.data(), d_sums_.data()};
        send_rows_back(rows, n_rows, odds, weights_.data(), old, sums, gradients.messages, d_odds,
                       gradients.scores);
      },
      gradients.log_odds);
}

// Runs `visit` over all rows with zeros to add to, and adds what they become.
template <class Visit>
void PairRows::back(const Visit& visit, double* d_log_odds) {
  std::fill(of_arcs_.begin(), of_arcs_.end(), 0.0);
  std::fill(of_seats_.begin(), of_seats_.end(), 0.0);
  visit_rows(visit);
  for (Index i = 0; i < n_arcs_; ++i) d_log_odds[i] += of_arcs_[at(i)];
  if (siblings_.empty()) return;
  for (Index i = 0; i < n_arcs_; ++i) d_log_odds[seats_[at(i)]] += of_seats_[at(i)];
}

void PairRows::read(const PartScores& tables, double* pairs) const {
  const auto copy = [&](const double* table, Index first, Index end) {
    if (table == nullptr) {
      std::fill(pairs + first, pairs + end, 0.0);
    } else {
      std::copy(table, table + (end - first), pairs + first);
    }
  };
  copy(tables.siblings, 0, n_siblings_);
  copy(tables.grandparents, n_siblings_, size_ - kPackWidth);
  for (const Index place : skipped_) pairs[place] = 0.0;
}

void PairRows::write(double* pairs, const PartValues<double>& tables) const {
  for (const Index place : skipped_) pairs[place] = 0.0;
  std::copy(pairs, pairs + n_siblings_, tables.siblings);
  std::copy(pairs + n_siblings_, pairs + size_ - kPackWidth, tables.grandparents);
}

}  // namespace arbora
