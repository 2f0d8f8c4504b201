#include "arbora/inference/pair_rows.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/pair_row_kernels.hpp"

namespace arbora::inference {
namespace {

// With these, no product of odds, messages and weights leaves the range of doubles.
constexpr double kLargestScore = 50.0;
constexpr double kLargestSum = 650.0;  // of the scores of one arc

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
  n_siblings_ = siblings ? parts.count(PartKind::siblings) : 0;
  const Index n_grandparents = grandparents ? parts.count(PartKind::grandparents) : 0;
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
      bounded_exponentials(scores[PartKind::siblings], n_siblings_, kLargestScore, weights_.data());
  const double of_grandparents = bounded_exponentials(
      scores[PartKind::grandparents], n_grandparents, kLargestScore, weights_.data() + n_siblings_);
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
  copy(tables[PartKind::siblings], 0, n_siblings_);
  copy(tables[PartKind::grandparents], n_siblings_, size_ - kPackWidth);
  for (const Index place : skipped_) pairs[place] = 0.0;
}

void PairRows::write(double* pairs, const PartValues<double>& tables) const {
  for (const Index place : skipped_) pairs[place] = 0.0;
  std::copy(pairs, pairs + n_siblings_, tables[PartKind::siblings]);
  std::copy(pairs + n_siblings_, pairs + size_ - kPackWidth, tables[PartKind::grandparents]);
}

}  // namespace arbora::inference
