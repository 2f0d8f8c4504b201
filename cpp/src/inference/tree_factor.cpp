#include "arbora/inference/tree_factor.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/base/pack.hpp"
#include "arbora/inference/log_odds.hpp"
#include "arbora/inference/sums.hpp"
#include "arbora/tree/feasibility.hpp"

namespace arbora::inference {
namespace {

// The absolute error of marginals is a few ulp of 1: below this, P(on) P(off) is too imprecise to
// divide by.
constexpr double kNoise = 1e-12;

// others(h, m) = the sum of column m except row h, without subtraction. The last pack of a row
// spills into the next row; packs are processed from right to left, so that the spilled cells are
// overwritten later. The last row has padding.
ARBORA_MULTIVERSION
void sums_of_other_rows(const double* matrix, Index side, double* others) {
  for (Index m = whole_packs(side) - kPackWidth; m >= 0; m -= kPackWidth) {
    Pack above = splat(0.0), below = splat(0.0);
    for (Index h = 0; h < side; ++h) {
      store_pack(others + h * side + m, above);
      above = above + load_pack(matrix + h * side + m);
    }
    for (Index h = side; h-- > 0;) {
      double* place = others + h * side + m;
      store_pack(place, load_pack(place) + below);
      below = below + load_pack(matrix + h * side + m);
    }
  }
}

// outgoing = log(on / off) - incoming, in packs and a scalar tail; returns the smallest on * off.
// Where that is tiny, the quotient may be 0 or infinite.
ARBORA_MULTIVERSION
double log_odds(const double* on, const double* off, const double* incoming, Index count,
                double* outgoing) {
  Pack smallest = splat(1.0);
  for (Index i = 0; i + kPackWidth <= count; i += kPackWidth) {
    const Pack p = load_pack(on + i), q = load_pack(off + i), variance = p * q;
    smallest = where_below(variance, smallest, variance, smallest);
    store_pack(outgoing + i, log_positive(p / q) - load_pack(incoming + i));
  }
  double least = std::min(std::min(smallest[0], smallest[1]), std::min(smallest[2], smallest[3]));
  for (Index i = count / kPackWidth * kPackWidth; i < count; ++i) {
    outgoing[i] = std::log(on[i] / off[i]) - incoming[i];
    least = std::min(least, on[i] * off[i]);
  }
  return least;
}

// Whether the weight of a tree, relative to the largest weights of all words, may underflow. Root
// arcs are compared with their words' arcs, or with each other.
bool may_underflow(const double* scores, Index n_words) {
  const Index side = n_words + 1;
  double size = 0.0, least_root = kInfinity, most_root = kForbidden;
  for (Index m = 1; m < side; ++m) {
    double least = kInfinity, most = kForbidden;
    for (Index h = 1; h < side; ++h) {
      const double score = scores[h * side + m];
      if (score == kForbidden) continue;
      least = std::min(least, score);
      most = std::max(most, score);
    }
    if (most != kForbidden) size += most - least;
    if (scores[m] == kForbidden) continue;
    const double root = most == kForbidden ? scores[m] : scores[m] - most;
    size += most == kForbidden ? 0.0 : std::abs(root);
    least_root = std::min(least_root, root);
    most_root = std::max(most_root, root);
  }
  if (most_root != kForbidden) size += most_root - least_root;
  constexpr double kOfEachWord = 2.0, kLargest = 650.0;
  return !(size + kOfEachWord * static_cast<double>(n_words) < kLargest);
}

}  // namespace

void TreeFactor::set(Index n_words, std::span<const std::int32_t> heads,
                     std::span<const std::int32_t> modifiers, Trees trees, Root root) {
  n_words_ = n_words;
  trees_ = trees;
  root_ = root;
  const Index side = n_words + 1;
  cells_.resize(heads.size());
  first_of_.assign(at(side + 1), 0);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    cells_[i] = heads[i] * side + modifiers[i];
    ++first_of_[at(modifiers[i] + 1)];
  }
  for (Index m = 0; m < side; ++m) first_of_[at(m + 1)] += first_of_[at(m)];
  by_word_.resize(heads.size());
  for (std::size_t i = heads.size();
       i-- > 0;) {  // in reverse, which turns the ends into the starts
    by_word_[at(--first_of_[at(modifiers[i] + 1)])] = static_cast<Index>(i);
  }
  first_of_.erase(first_of_.begin());
  first_of_.push_back(static_cast<Index>(heads.size()));
  scores_.assign(at(side * side), kForbidden);
  const std::size_t room = at(side * side + kPackWidth);
  dense_.assign(room, 0.0);
  others_.resize(room);
  off_.resize(heads.size());
  d_dense_.resize(at(side * side));
  answer_.resize(at(side * side));
  column_shift_.resize(at(side));
  forget();
}

ArcScores TreeFactor::scatter(const double* incoming) {
  for (std::size_t i = 0; i < cells_.size(); ++i) scores_[at(cells_[i])] = incoming[i];
  return {scores_.data(), n_words_};
}

bool TreeFactor::possible(const double* incoming) {
  return feasibility(scatter(incoming), trees_, root_).problem == Problem::none;
}

// P(off) of all variables, from the marginals in dense_.
void TreeFactor::sum_others() {
  sums_of_other_rows(dense_.data(), n_words_ + 1, others_.data());
  for (std::size_t i = 0; i < cells_.size(); ++i) off_[i] = others_[at(cells_[i])];
}

double TreeFactor::messages(const double* incoming, double certain, double* marginals,
                            double* outgoing) {
  const ArcScores scores = scatter(incoming);
  const auto sums = trees_ == Trees::projective ? projective_sums : spanning_sums;
  const Sums answer = sums(scores, root_, column_shift_.data(), dense_.data(), workspace_);
  workspace_.reset();
  for (std::size_t i = 0; i < cells_.size(); ++i) marginals[i] = dense_[at(cells_[i])];
  sum_others();
  if (log_odds(marginals, off_.data(), incoming, size(), outgoing) < answer.doubtful) {
    recompute_doubtful(incoming, marginals, answer.doubtful, certain, outgoing);
  }
  return answer.log_partition;
}

// Messages for which plain marginals are too imprecise: to arcs that all trees have, or none, and
// to arcs with tiny marginals. They come from logarithms of marginals.
void TreeFactor::recompute_doubtful(const double* incoming, const double* marginals,
                                    double doubtful, double certain, double* outgoing) {
  if (possible_.empty()) find_possible(marginals);
  while (!send_certain_messages(incoming, marginals, doubtful, certain, outgoing))
    refine_possible();
  if (alone_.empty()) return;
  // Arcs that are in no tree are left out: plain numbers do not distinguish them from unlikely
  // ones.
  d_dense_ = scores_;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (!possible_[i]) d_dense_[at(cells_[i])] = kForbidden;
  }
  const ArcScores possible{d_dense_.data(), n_words_};
  if (trees_ == Trees::projective) {
    projective_log_marginals(possible, root_, answer_.data(), workspace_);
  } else {
    std::vector<Index> words;
    for (const Index i : alone_) words.push_back(word_of(i));
    spanning_log_marginals(possible, root_, words, answer_.data(), workspace_);
  }
  workspace_.reset();
  for (const Index i : alone_) {
    outgoing[i] = answer_[at(cells_[at(i)])] - log_sum_of_others(i) - incoming[i];
  }
}

// Lists the other doubtful messages in alone_. False if some of them may still turn out to be
// certain.
bool TreeFactor::send_certain_messages(const double* incoming, const double* marginals,
                                       double doubtful, double certain, double* outgoing) {
  alone_.clear();
  for (Index i = 0; i < size(); ++i) {
    if (marginals[i] * off_[at(i)] >= doubtful) continue;
    if (incoming[i] == kForbidden) {
      outgoing[i] = 0.0;
    } else if (!possible_[at(i)]) {
      outgoing[i] = -certain;
    } else if (n_possible_[at(word_of(i))] == 1) {
      outgoing[i] = certain;
    } else {
      alone_.push_back(i);
    }
  }
  return std::all_of(alone_.begin(), alone_.end(), [&](Index i) { return known_[at(word_of(i))]; });
}

// Which arcs are in a tree, by a cheap test. Sums over projective trees only add and multiply: as
// long as nothing can underflow, an arc that has no tree is one whose marginal is 0.
void TreeFactor::find_possible(const double* marginals) {
  const bool projective = trees_ == Trees::projective;
  const bool counted = projective && may_underflow(scores_.data(), n_words_);
  if (counted) count_trees();
  possible_.resize(cells_.size());
  n_possible_.assign(at(n_words_ + 1), 0);
  known_.assign(at(n_words_ + 1), projective);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const double weight = counted ? answer_[at(cells_[i])] : marginals[i];
    possible_[i] = projective ? weight > 0.0 : scores_[at(cells_[i])] != kForbidden;
    n_possible_[at(word_of(static_cast<Index>(i)))] += possible_[i];
  }
  while (!projective && exclude_cycles()) {
  }
}

// An arc is in no tree if a path of unavoidable arcs leads from its modifier to its head. Returns
// whether such arcs were found, since they may make others unavoidable.
bool TreeFactor::exclude_cycles() {
  const Index side = n_words_ + 1;
  only_head_.assign(at(side), -1);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Index m = cells_[i] % side;
    if (possible_[i] && n_possible_[at(m)] == 1) only_head_[at(m)] = cells_[i] / side;
  }
  bool found = false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Index m = cells_[i] % side;
    if (!possible_[i] || n_possible_[at(m)] == 1) continue;
    Index above = cells_[i] / side;
    while (above > 0 && above != m) above = only_head_[at(above)];
    if (above != m) continue;
    possible_[i] = 0;
    n_possible_[at(m)] -= 1;
    found = true;
  }
  return found;
}

// Determines which arcs are in a tree, for the words of all doubtful messages or, if these are
// many, for all words.
void TreeFactor::refine_possible() {
  std::vector<Index> words;
  const bool many = static_cast<Index>(alone_.size()) > n_words_ / 4;
  for (Index j = 0; j < (many ? size() : static_cast<Index>(alone_.size())); ++j) {
    const Index m = word_of(many ? j : alone_[at(j)]);
    if (known_[at(m)]) continue;
    known_[at(m)] = 1;
    words.push_back(m);
  }
  const std::vector<bool> arcs = possible_spanning_arcs({scores_.data(), n_words_}, root_, words);
  for (const Index m : words) {
    n_possible_[at(m)] = 0;
    for (Index j = first_of_[at(m)]; j < first_of_[at(m + 1)]; ++j) {
      const Index i = by_word_[at(j)];
      possible_[at(i)] = arcs[at(cells_[at(i)])];
      n_possible_[at(m)] += possible_[at(i)];
    }
  }
}

// Makes answer_ positive where a projective tree has the arc: with scores of 0, trees are counted.
void TreeFactor::count_trees() {
  d_dense_ = scores_;
  for (double& score : d_dense_) score = score == kForbidden ? kForbidden : 0.0;
  const ArcScores zeros{d_dense_.data(), n_words_};
  if (!may_underflow(d_dense_.data(), n_words_)) {
    projective_sums(zeros, root_, column_shift_.data(), answer_.data(), workspace_);
  } else {
    projective_log_marginals(zeros, root_, answer_.data(), workspace_);
    for (double& value : answer_) value = value == kForbidden ? 0.0 : 1.0;
  }
  workspace_.reset();
}

// log P(off) from the logarithms of the marginals in answer_.
double TreeFactor::log_sum_of_others(Index i) {
  const Index m = word_of(i);
  logs_.clear();
  for (Index j = first_of_[at(m)]; j < first_of_[at(m + 1)]; ++j) {
    if (by_word_[at(j)] != i) logs_.push_back(answer_[at(cells_[at(by_word_[at(j)])])]);
  }
  return log_sum(logs_);
}

// Makes d_dense_ the scores with the arc forbidden, or required; whether there are such trees.
bool TreeFactor::require_or_forbid(Index i, bool forbid) {
  const Index side = n_words_ + 1, cell = cells_[at(i)], m = cell % side;
  d_dense_ = scores_;
  for (Index h = 0; h < side; ++h) {
    if ((h * side + m == cell) == forbid) d_dense_[at(h * side + m)] = kForbidden;
  }
  return feasibility({d_dense_.data(), n_words_}, trees_, root_).problem == Problem::none;
}

// One of a word's arcs is on, so a number for an arc is the same as its negative for all others, up
// to a constant. Large numbers belong to unlikely arcs: on likely ones they would cancel.
void TreeFactor::add_to_others(Index i, double amount) {
  const Index m = word_of(i);
  for (Index j = first_of_[at(m)]; j < first_of_[at(m + 1)]; ++j) {
    if (by_word_[at(j)] != i) d_dense_[at(cells_[at(by_word_[at(j)])])] += amount;
  }
}

void TreeFactor::pullback(const double* incoming, const double* marginals, const double* d_outgoing,
                          double negligible, double* d_incoming) {
  const ArcScores scores = scatter(incoming);
  std::fill(dense_.begin(), dense_.end(), 0.0);
  std::fill(d_dense_.begin(), d_dense_.end(), 0.0);
  std::fill(d_incoming, d_incoming + size(), 0.0);
  alone_.clear();
  for (Index i = 0; i < size(); ++i) dense_[at(cells_[at(i)])] = marginals[i];
  sum_others();
  for (Index i = 0; i < size(); ++i) {
    const double on = marginals[i], off = off_[at(i)];
    if (d_outgoing[i] == 0.0) continue;
    if (on * off < kNoise) {
      if (std::abs(d_outgoing[i]) > negligible) alone_.push_back(i);
      continue;
    }
    const double d_on = d_outgoing[i] / (on * off);
    d_incoming[i] -= d_outgoing[i];
    if (on < off) {
      d_dense_[at(cells_[at(i)])] += d_on;
    } else {
      add_to_others(i, -d_on);
    }
  }
  const auto vjp = trees_ == Trees::projective ? projective_vjp : spanning_vjp;
  vjp(scores, root_, dense_.data(), d_dense_.data(), answer_.data(), workspace_);
  workspace_.reset();
  for (Index i = 0; i < size(); ++i) d_incoming[i] += answer_[at(cells_[at(i)])];
  for (const Index i : alone_) pull_alone(i, marginals, d_outgoing[i], d_incoming);
}

// d message_i / d incoming_j = P(j | i on) - P(j | i off), where i is almost certain: one of the
// two is P(j), the other takes a separate sum.
void TreeFactor::pull_alone(Index i, const double* marginals, double d_message,
                            double* d_incoming) {
  const bool likely = marginals[i] > 0.5;
  if (!require_or_forbid(i, likely)) return;  // a certain arc
  const ArcScores given{d_dense_.data(), n_words_};
  const auto sums = trees_ == Trees::projective ? projective_sums : spanning_sums;
  sums(given, root_, column_shift_.data(), answer_.data(), workspace_);
  workspace_.reset();
  const double sign = likely ? -d_message : d_message;
  for (Index j = 0; j < size(); ++j) {
    if (j != i) d_incoming[j] += sign * (answer_[at(cells_[at(j)])] - marginals[j]);
  }
}

}  // namespace arbora::inference
