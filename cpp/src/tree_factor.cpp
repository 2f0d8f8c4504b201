#include "arbora/inference/tree_factor.hpp"

#include <algorithm>

#include "arbora/inference/head_walks.hpp"
#include "arbora/inference/log_odds.hpp"
#include "arbora/inference/sums.hpp"
#include "arbora/tree/feasibility.hpp"

namespace arbora {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

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
  for (std::size_t i = heads.size(); i-- > 0;) {  // from the back, and the ends become the starts
    by_word_[at(--first_of_[at(modifiers[i] + 1)])] = static_cast<Index>(i);
  }
  first_of_.erase(first_of_.begin());
  first_of_.push_back(static_cast<Index>(heads.size()));
  scores_.assign(at(side * side), kForbidden);
  dense_.resize(at(side * side));
  d_dense_.resize(at(side * side));
  answer_.resize(at(side * side));
  column_shift_.resize(at(side));
}

ArcScores TreeFactor::scatter(const double* incoming) {
  for (std::size_t i = 0; i < cells_.size(); ++i) scores_[at(cells_[i])] = incoming[i];
  return {scores_.data(), n_words_};
}

bool TreeFactor::possible(const double* incoming) {
  return feasibility(scatter(incoming), trees_, root_).problem == Problem::none;
}

double TreeFactor::messages(const double* incoming, double* marginals, double* outgoing) {
  const ArcScores scores = scatter(incoming);
  const auto sums = trees_ == Trees::projective ? projective_sums : spanning_sums;
  const Sums answer = sums(scores, root_, column_shift_.data(), dense_.data(), workspace_);
  workspace_.reset();
  for (std::size_t i = 0; i < cells_.size(); ++i) marginals[i] = dense_[at(cells_[i])];
  for (Index m = 1; m <= n_words_; ++m) {
    const Index first = first_of_[at(m)], count = first_of_[at(m + 1)] - first;
    own_.resize(at(count));
    others_.resize(at(count));
    for (Index j = 0; j < count; ++j) own_[at(j)] = marginals[by_word_[at(first + j)]];
    sums_of_others(own_.data(), count, others_.data());
    for (Index j = 0; j < count; ++j) {
      const Index i = by_word_[at(first + j)];
      const double in = incoming[i];
      outgoing[i] = in == kForbidden ? 0.0 : log_odds(own_[at(j)], others_[at(j)], in) - in;
    }
  }
  return answer.log_partition;
}

void TreeFactor::pullback(const double* incoming, const double* marginals, const double* d_outgoing,
                          double* d_incoming) {
  const ArcScores scores = scatter(incoming);
  std::fill(dense_.begin(), dense_.end(), 0.0);
  std::fill(d_dense_.begin(), d_dense_.end(), 0.0);
  bool any = false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const double mu = marginals[i];
    const double d_mu = d_outgoing[i] * log_odds_slope(mu, 1.0 - mu);
    dense_[at(cells_[i])] = mu;
    d_dense_[at(cells_[i])] = d_mu;
    any = any || d_mu != 0.0;
  }
  if (any) {
    const auto vjp = trees_ == Trees::projective ? projective_vjp : spanning_vjp;
    vjp(scores, root_, dense_.data(), d_dense_.data(), answer_.data(), workspace_);
    workspace_.reset();
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    d_incoming[i] = (any ? answer_[at(cells_[i])] : 0.0) - d_outgoing[i];
  }
}

}  // namespace arbora
