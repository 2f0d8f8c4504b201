#include "arbora/segmentation/examples.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/base/parallel.hpp"

namespace arbora::segmentation {
namespace {

constexpr Index kParts = 8;  // fixed: sums do not depend on the threads

// Adds the loss of an example, and its gradient.
double add_example(const Examples& examples, Index example, std::span<const double> weights,
                   std::vector<double>& scores, std::vector<double>& gradient) {
  const std::uint64_t first = examples.first_candidate[at(example)];
  const std::uint64_t last = examples.first_candidate[at(example) + 1];
  scores.clear();
  double largest = 0.0;  // the score of candidate 0
  for (std::uint64_t c = first; c < last; ++c) {
    double score = 0.0;
    for (std::uint64_t s = examples.first_slot[c]; s < examples.first_slot[c + 1]; ++s) {
      score += weights[examples.slots[s]];
    }
    scores.push_back(score);
    largest = std::max(largest, score);
  }
  double total = std::exp(-largest);
  for (const double score : scores) total += std::exp(score - largest);
  const double log_total = largest + std::log(total);
  const auto right = static_cast<std::uint64_t>(examples.right[at(example)]);
  for (std::uint64_t c = first; c < last; ++c) {
    const bool is_right = right == c - first + 1;
    const double step = std::exp(scores[c - first] - log_total) - (is_right ? 1.0 : 0.0);
    for (std::uint64_t s = examples.first_slot[c]; s < examples.first_slot[c + 1]; ++s) {
      gradient[examples.slots[s]] += step;
    }
  }
  return log_total - (right == 0 ? 0.0 : scores[right - 1]);
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The last steps of L-BFGS and the changes of the gradient in them.
class History {
 public:
  void add(std::vector<double> step, std::vector<double> change) {
    const double curvature = dot(step, change);
    if (!(curvature > 1e-12 * dot(change, change))) return;
    if (pairs_.size() == kMost) pairs_.erase(pairs_.begin());
    pairs_.push_back({std::move(step), std::move(change), curvature});
  }

  bool empty() const { return pairs_.empty(); }

  // The two-loop recursion: an approximate inverse Hessian times the gradient (Nocedal 1980).
  std::vector<double> direction(std::span<const double> gradient) const {
    std::vector<double> d(gradient.begin(), gradient.end());
    std::vector<double> shares(pairs_.size());
    for (std::size_t k = pairs_.size(); k-- > 0;) {
      shares[k] = dot(pairs_[k].step, d) / pairs_[k].curvature;
      for (std::size_t i = 0; i < d.size(); ++i) d[i] -= shares[k] * pairs_[k].change[i];
    }
    if (!pairs_.empty()) {
      const Pair& last = pairs_.back();
      const double scale = last.curvature / dot(last.change, last.change);
      for (double& x : d) x *= scale;
    }
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      const double back = dot(pairs_[k].change, d) / pairs_[k].curvature;
      for (std::size_t i = 0; i < d.size(); ++i) d[i] += (shares[k] - back) * pairs_[k].step[i];
    }
    return d;
  }

 private:
  static constexpr std::size_t kMost = 8;
  struct Pair {
    std::vector<double> step, change;
    double curvature;
  };
  std::vector<Pair> pairs_;
};

}  // namespace

double objective(const Examples& examples, double regularization, std::span<const double> weights,
                 std::span<double> gradient, int threads) {
  std::vector<std::vector<double>> gradients(at(kParts));
  std::vector<double> losses(at(kParts));
  for_each_sentence(kParts, threads, 4.0 * static_cast<double>(examples.slots.size()),
                    [&](Index part, Workspace&) {
                      std::vector<double>& own = gradients[at(part)];
                      own.assign(weights.size(), 0.0);
                      std::vector<double> scores;
                      const Index first = examples.size() * part / kParts;
                      const Index last = examples.size() * (part + 1) / kParts;
                      double loss = 0.0;
                      for (Index e = first; e < last; ++e) {
                        loss += add_example(examples, e, weights, scores, own);
                      }
                      losses[at(part)] = loss;
                    });
  double value = 0.5 * regularization * dot(weights, weights);
  for (std::size_t i = 0; i < weights.size(); ++i) gradient[i] = regularization * weights[i];
  for (std::size_t part = 0; part < at(kParts); ++part) {
    value += losses[part];
    for (std::size_t i = 0; i < weights.size(); ++i) gradient[i] += gradients[part][i];
  }
  return value;
}

double minimise(const Examples& examples, double regularization, int passes,
                std::span<double> weights, int threads) {
  std::vector<double> here(weights.size(), 0.0), gradient(weights.size());
  std::vector<double> there(weights.size()), new_gradient(weights.size());
  History history;
  double value = objective(examples, regularization, here, gradient, threads);
  for (int pass = 1; pass < passes;) {
    const std::vector<double> down = history.direction(gradient);
    const double slope = dot(gradient, down);
    if (!(slope > 1e-9 * (1.0 + value))) break;
    double step = history.empty() ? 1.0 / std::sqrt(dot(gradient, gradient)) : 1.0;
    double new_value = 0.0;
    bool accepted = false;
    for (int tries = 0; tries < 20 && pass < passes && !accepted; ++tries, ++pass, step *= 0.5) {
      for (std::size_t i = 0; i < here.size(); ++i) there[i] = here[i] - step * down[i];
      new_value = objective(examples, regularization, there, new_gradient, threads);
      accepted = new_value <= value - 1e-4 * step * slope;  // the Armijo condition
    }
    if (!accepted) break;
    std::vector<double> moved(here.size()), change(here.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      moved[i] = there[i] - here[i];
      change[i] = new_gradient[i] - gradient[i];
    }
    history.add(std::move(moved), std::move(change));
    const double gain = value - new_value;
    here.swap(there);
    gradient.swap(new_gradient);
    value = new_value;
    if (gain < 1e-6 * value) break;
  }
  std::copy(here.begin(), here.end(), weights.begin());
  return value;
}

}  // namespace arbora::segmentation
