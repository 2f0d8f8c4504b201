// Weights that are learnt online: rows of features that occur, and a few dense ones. AdaGrad with
// composite mirror descent (Duchi, Hazan & Singer 2011) and averaging over all steps. The decay of
// the steps since a row was last touched is applied at once, with its next gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/base/types.hpp"

namespace arbora::tagging {

struct LearningStep {
  double rate, decay;  // decay: the L2 regulariser's share of one step
};

class RowLearner {
 public:
  RowLearner() = default;
  // `first`: the first weight of each row, and the end.
  RowLearner(std::vector<std::size_t> first, std::size_t dense);

  Index rows() const { return static_cast<Index>(first_.size()) - 1; }
  Index width(Index row) const { return static_cast<Index>(first_[at(row) + 1] - first_[at(row)]); }
  const std::vector<std::size_t>& first() const { return first_; }
  const std::vector<double>& dense() const { return dense_; }
  std::vector<float>& values() { return values_; }
  std::vector<double>& dense_values() { return dense_; }

  void add_row(std::int32_t row, Index width, double* sums) const {
    const float* values = values_.data() + first_[at(row)];
    for (Index i = 0; i < width; ++i) sums[i] += static_cast<double>(values[i]);
  }

  // The gradient of a mini-batch is gathered row by row, then applied.
  void add_gradient(std::int32_t row, Index width, const double* d_sums) {
    if (!is_touched_[at(row)]) {
      is_touched_[at(row)] = 1;
      touched_.push_back(row);
    }
    float* gradient = gradient_.data() + first_[at(row)];
    for (Index i = 0; i < width; ++i) gradient[i] += static_cast<float>(d_sums[i]);
  }
  double* dense_gradient() { return dense_gradient_.data(); }
  void step(const LearningStep& step);
  // The gathered gradient, rows first and then the dense ones; forgets it.
  std::vector<double> take_gradient();

  // Averages over all steps (the values themselves before the first).
  std::vector<float> average() const;
  std::vector<double> dense_average() const;

 private:
  std::vector<std::size_t> first_;
  std::vector<float> values_, squares_, sums_, gradient_;
  std::vector<std::uint8_t> is_touched_;
  std::vector<std::int32_t> touched_, seen_;
  std::vector<double> dense_, dense_squares_, dense_sums_, dense_gradient_;
  std::int32_t clock_ = 0;
};

}  // namespace arbora::tagging
