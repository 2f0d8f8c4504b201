#include "arbora/tagging/chain.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/base/multiversion.hpp"

namespace arbora::tagging {
namespace {

// Above this difference of scores between neighbours, a product of weights may be 0 in doubles
// although its logarithm matters (exp(-700) is near the smallest double), so logarithms are used.
constexpr double kLargestSpread = 600.0;

// to[j] = sum over k of from[k] weights[k, j], where rows have `tags` + 1 entries.
ARBORA_MULTIVERSION
void multiply(const double* from, const double* weights, Index tags, double* to) {
  std::fill(to, to + tags, 0.0);
  for (Index k = 0; k < tags; ++k) {
    const double weight = from[k];
    const double* row = weights + k * (tags + 1);
    for (Index j = 0; j < tags; ++j) to[j] += weight * row[j];
  }
}

ARBORA_MULTIVERSION
void multiply_transposed(const double* from, const double* weights, Index tags, double* to) {
  for (Index k = 0; k < tags; ++k) {
    const double* row = weights + k * (tags + 1);
    double sum = 0.0;
    for (Index j = 0; j < tags; ++j) sum += row[j] * from[j];
    to[k] = sum;
  }
}

double sum_of(const double* values, Index count) {
  double sum = 0.0;
  for (Index i = 0; i < count; ++i) sum += values[i];
  return sum;
}

void normalise(double* values, Index count) {
  const double sum = sum_of(values, count);
  for (Index i = 0; i < count; ++i) values[i] /= sum;
}

}  // namespace

Transitions::Transitions(Index tags, const double* scores)
    : tags_(tags), scores_(scores, scores + (tags + 1) * (tags + 1)) {
  scores_.back() = 0.0;  // from start to end: no sentence has it
  const auto [low, high] = std::minmax_element(scores_.begin(), scores_.end());
  largest_ = *high;
  spread_ = *high - *low;
  weights_.resize(scores_.size());
  std::transform(scores_.begin(), scores_.end(), weights_.begin(),
                 [&](double score) { return std::exp(score - largest_); });
}

double log_sum(const double* values, Index count) {
  const double largest = *std::max_element(values, values + count);
  if (largest == kForbidden) return kForbidden;
  double sum = 0.0;
  for (Index i = 0; i < count; ++i) sum += std::exp(values[i] - largest);
  return largest + std::log(sum);
}

Index draw(RandomStream& random, const double* weights, Index count) {
  double left = random.uniform() * sum_of(weights, count);
  Index last = 0;
  for (Index i = 0; i < count; ++i) {
    if (weights[i] <= 0.0) continue;
    last = i;
    left -= weights[i];
    if (left < 0.0) break;
  }
  return last;
}

bool Chain::sum(Index words, const double* emissions, const Transitions& transitions) {
  words_ = words;
  tags_ = transitions.tags();
  emissions_ = emissions;
  transitions_ = &transitions;
  const std::size_t cells = at(words * tags_);
  forward_.resize(cells);
  backward_.resize(cells);
  marginals_.resize(cells);
  double spread = 0.0;
  for (Index i = 0; i < words; ++i) {
    double low = kInfinity, high = kForbidden;
    for (Index j = 0; j < tags_; ++j) {
      if (score(i, j) == kForbidden) continue;
      low = std::min(low, score(i, j));
      high = std::max(high, score(i, j));
    }
    if (high == kForbidden) return false;
    spread = std::max(spread, high - low);
  }
  is_scaled_ = spread + 2.0 * transitions.spread() <= kLargestSpread;
  if (is_scaled_) {
    sum_scaled();
  } else {
    sum_in_logarithms();
  }
  return log_partition_ != kForbidden;
}

void Chain::sum_scaled() {
  weights_.resize(forward_.size());
  scales_.resize(at(words_));
  log_partition_ = transitions_->largest() * static_cast<double>(words_ + 1);
  for (Index i = 0; i < words_; ++i) {
    const double* scores = emissions_ + i * tags_;
    const double largest = *std::max_element(scores, scores + tags_);
    double* weights = weights_.data() + i * tags_;
    for (Index j = 0; j < tags_; ++j) weights[j] = std::exp(scores[j] - largest);
    double* to = forward_.data() + i * tags_;
    if (i == 0) {
      std::copy_n(transitions_->weights(tags_), tags_, to);
    } else {
      multiply(to - tags_, transitions_->weights(0), tags_, to);
    }
    for (Index j = 0; j < tags_; ++j) to[j] *= weights[j];
    const double scale = sum_of(to, tags_);
    for (Index j = 0; j < tags_; ++j) to[j] /= scale;
    scales_[at(i)] = scale;
    log_partition_ += largest + std::log(scale);
  }
  const double* last = forward_.data() + (words_ - 1) * tags_;
  double end = 0.0;
  for (Index j = 0; j < tags_; ++j) end += last[j] * transitions_->weights(j)[tags_];
  log_partition_ += std::log(end);
  std::vector<double> product(at(tags_));
  for (Index i = words_ - 1; i >= 0; --i) {
    double* to = backward_.data() + i * tags_;
    if (i == words_ - 1) {
      for (Index k = 0; k < tags_; ++k) to[k] = transitions_->weights(k)[tags_] / end;
    } else {
      const double* next = to + tags_;
      const double* weights = weights_.data() + (i + 1) * tags_;
      for (Index j = 0; j < tags_; ++j) product[at(j)] = next[j] * weights[j] / scales_[at(i + 1)];
      multiply_transposed(product.data(), transitions_->weights(0), tags_, to);
    }
    double* marginal = marginals_.data() + i * tags_;
    for (Index j = 0; j < tags_; ++j) marginal[j] = forward_[cell(i, j)] * to[j];
    normalise(marginal, tags_);
  }
}

void Chain::sum_in_logarithms() {
  std::vector<double> terms(at(tags_));
  for (Index i = 0; i < words_; ++i) {
    for (Index j = 0; j < tags_; ++j) {
      double before = transitions_->score(tags_, j);
      if (i > 0) {
        for (Index k = 0; k < tags_; ++k) {
          terms[at(k)] = forward_[cell(i - 1, k)] + transitions_->score(k, j);
        }
        before = log_sum(terms.data(), tags_);
      }
      forward_[cell(i, j)] = before + score(i, j);
    }
  }
  for (Index i = words_ - 1; i >= 0; --i) {
    for (Index k = 0; k < tags_; ++k) {
      double after = transitions_->score(k, tags_);
      if (i + 1 < words_) {
        for (Index j = 0; j < tags_; ++j) {
          terms[at(j)] = transitions_->score(k, j) + score(i + 1, j) + backward_[cell(i + 1, j)];
        }
        after = log_sum(terms.data(), tags_);
      }
      backward_[cell(i, k)] = after;
    }
    for (Index k = 0; k < tags_; ++k) terms[at(k)] = forward_[cell(i, k)] + backward_[cell(i, k)];
    log_partition_ = log_sum(terms.data(), tags_);
    if (log_partition_ == kForbidden) return;
    double* marginal = marginals_.data() + i * tags_;
    for (Index k = 0; k < tags_; ++k) marginal[k] = std::exp(terms[at(k)] - log_partition_);
    normalise(marginal, tags_);
  }
}

void Chain::add_pairs(double* expected) const {
  const Index width = tags_ + 1;
  for (Index j = 0; j < tags_; ++j) {
    expected[tags_ * width + j] += marginals_[cell(0, j)];
    expected[j * width + tags_] += marginals_[cell(words_ - 1, j)];
  }
  std::vector<double> after(at(tags_));
  for (Index i = 0; i + 1 < words_; ++i) {
    if (is_scaled_) {
      for (Index j = 0; j < tags_; ++j) {
        after[at(j)] = weights_[cell(i + 1, j)] * backward_[cell(i + 1, j)] / scales_[at(i + 1)];
      }
    }
    for (Index k = 0; k < tags_; ++k) {
      const double before = forward_[cell(i, k)];
      for (Index j = 0; j < tags_; ++j) {
        expected[k * width + j] +=
            is_scaled_ ? before * transitions_->weights(k)[j] * after[at(j)]
                       : std::exp(before + transitions_->score(k, j) + score(i + 1, j) +
                                  backward_[cell(i + 1, j)] - log_partition_);
      }
    }
  }
}

void Chain::sample(RandomStream& random, std::int32_t* tags) const {
  std::vector<double> weights(at(tags_));
  for (Index i = words_ - 1; i >= 0; --i) {
    const Index next = i + 1 < words_ ? tags[i + 1] : tags_;
    if (is_scaled_) {
      for (Index k = 0; k < tags_; ++k) {
        weights[at(k)] = forward_[cell(i, k)] * transitions_->weights(k)[next];
      }
    } else {
      for (Index k = 0; k < tags_; ++k) {
        weights[at(k)] = forward_[cell(i, k)] + transitions_->score(k, next);
      }
      const double all = log_sum(weights.data(), tags_);
      for (double& weight : weights) weight = std::exp(weight - all);
    }
    tags[i] = static_cast<std::int32_t>(draw(random, weights.data(), tags_));
  }
}

double best_tags(Index words, const double* emissions, const Transitions& transitions,
                 std::int32_t* tags) {
  const Index count = transitions.tags();
  std::vector<double> best(at(count)), next(at(count));
  std::vector<std::int32_t> from(at(words * count));
  for (Index j = 0; j < count; ++j) best[at(j)] = transitions.score(count, j) + emissions[j];
  for (Index i = 1; i < words; ++i) {
    for (Index j = 0; j < count; ++j) {
      Index origin = 0;
      double highest = kForbidden;
      for (Index k = 0; k < count; ++k) {
        const double score = best[at(k)] + transitions.score(k, j);
        if (score > highest) {
          highest = score;
          origin = k;
        }
      }
      next[at(j)] = highest + emissions[i * count + j];
      from[at(i * count + j)] = static_cast<std::int32_t>(origin);
    }
    std::swap(best, next);
  }
  Index last = 0;
  double highest = kForbidden;
  for (Index k = 0; k < count; ++k) {
    const double score = best[at(k)] + transitions.score(k, count);
    if (score > highest) {
      highest = score;
      last = k;
    }
  }
  for (Index i = words - 1; i >= 0; --i) {
    tags[i] = static_cast<std::int32_t>(last);
    if (i > 0) last = from[at(i * count + last)];
  }
  return highest;
}

}  // namespace arbora::tagging
