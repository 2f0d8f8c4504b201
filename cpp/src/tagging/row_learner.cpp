#include "arbora/tagging/row_learner.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/base/multiversion.hpp"

namespace arbora::tagging {
namespace {

constexpr float kDelta = 1e-2F;  // keeps the first steps of a weight finite

ARBORA_MULTIVERSION
void update_cells(std::size_t count, float rate, float shrinks, float skipped, float* values,
                  float* squares, float* sums, float* gradient) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i];
    sums[i] += values[i] * skipped;
    squares[i] += g * g;
    const float h = kDelta + std::sqrt(squares[i]);
    values[i] = (h * values[i] - rate * g) / (h + shrinks);
    gradient[i] = 0.0F;
  }
}

}  // namespace

RowLearner::RowLearner(std::vector<std::size_t> first, std::size_t dense)
    : first_(std::move(first)),
      values_(first_.back()),
      squares_(first_.back()),
      sums_(first_.back()),
      gradient_(first_.back()),
      is_touched_(first_.size() - 1),
      seen_(first_.size() - 1),
      dense_(dense),
      dense_squares_(dense),
      dense_sums_(dense),
      dense_gradient_(dense) {}

void RowLearner::step(const LearningStep& step) {
  for (const std::int32_t row : touched_) {
    const std::size_t begin = first_[at(row)], count = first_[at(row) + 1] - begin;
    // The value was in force for the steps after `seen`, the present one included.
    const auto skipped = static_cast<float>(clock_ + 1 - seen_[at(row)]);
    update_cells(count, static_cast<float>(step.rate),
                 static_cast<float>(step.rate * step.decay) * skipped, skipped,
                 values_.data() + begin, squares_.data() + begin, sums_.data() + begin,
                 gradient_.data() + begin);
    seen_[at(row)] = clock_ + 1;
    is_touched_[at(row)] = 0;
  }
  touched_.clear();
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    const double g = dense_gradient_[i];
    dense_sums_[i] += dense_[i];
    dense_squares_[i] += g * g;
    const double h = static_cast<double>(kDelta) + std::sqrt(dense_squares_[i]);
    dense_[i] = (h * dense_[i] - step.rate * g) / (h + step.rate * step.decay);
    dense_gradient_[i] = 0.0;
  }
  ++clock_;
}

std::vector<double> RowLearner::take_gradient() {
  std::vector<double> answer(gradient_.begin(), gradient_.end());
  answer.insert(answer.end(), dense_gradient_.begin(), dense_gradient_.end());
  std::fill(gradient_.begin(), gradient_.end(), 0.0F);
  std::fill(dense_gradient_.begin(), dense_gradient_.end(), 0.0);
  std::fill(is_touched_.begin(), is_touched_.end(), std::uint8_t{0});
  touched_.clear();
  return answer;
}

std::vector<float> RowLearner::average() const {
  if (clock_ == 0) return values_;
  std::vector<float> answer(values_.size());
  const auto all = static_cast<float>(clock_);
  for (std::size_t row = 0; row + 1 < first_.size(); ++row) {
    const auto left = static_cast<float>(clock_ - seen_[row]);
    for (std::size_t i = first_[row]; i < first_[row + 1]; ++i) {
      answer[i] = (sums_[i] + values_[i] * left) / all;
    }
  }
  return answer;
}

std::vector<double> RowLearner::dense_average() const {
  if (clock_ == 0) return dense_;
  std::vector<double> answer(dense_.size());
  for (std::size_t i = 0; i < answer.size(); ++i) {
    answer[i] = dense_sums_[i] / static_cast<double>(clock_);
  }
  return answer;
}

}  // namespace arbora::tagging
