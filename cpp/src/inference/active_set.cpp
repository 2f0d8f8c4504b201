#include "arbora/inference/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace arbora::inference {
namespace {

constexpr double kTiny = 1e-9;

double dot(const double* scores, const std::vector<std::uint8_t>& x) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != 0) sum += scores[i];
  }
  return sum;
}

double count_shared(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] & b[i];
  return count;
}

}  // namespace

ActiveSet::ActiveSet(Index n_variables, BestConfiguration oracle)
    : n_(n_variables), oracle_(std::move(oracle)), q_(at(n_variables)), pulled_(q_) {}

double ActiveSet::best(const double* scores, std::uint8_t* x) const {
  double value = oracle_(scores, x);
  for (Index i = 0; i < n_; ++i) value += x[i] != 0 ? scores[i] : 0.0;
  return value;
}

void ActiveSet::solve(const double* scores, double eta, int max_steps, Polling& polling) {
  if (members_.empty()) {
    Member first{std::vector<std::uint8_t>(at(n_)), 0.0, 1.0, {}, {}};
    first.own = oracle_(scores, first.x.data());
    add(std::move(first));
  }
  for (int step = 0; step < max_steps; ++step) {
    const auto size = static_cast<double>(members_.size());
    polling.after(size * size * size / 3.0 + (10.0 + size) * static_cast<double>(n_));
    if (!solve_for_weights(scores, eta)) break;
    if (!move_to_solution()) continue;  // a member was dropped
    average();
    if (!add_best(scores, eta)) return;
  }
  average();
}

// The best weights without the constraint that they are non-negative: eta G w = b - level, sum w =
// 1, with G the numbers of shared variables. G + 1 is regular as long as no member is an affine
// combination of the others, and under the constraint it is equivalent to G.
bool ActiveSet::solve_for_weights(const double* scores, double eta) {
  if (!factorise()) return false;
  const std::size_t size = members_.size();
  solution_.resize(size);
  ones_.assign(size, 1.0);
  for (std::size_t k = 0; k < size; ++k) {
    solution_[k] = (dot(scores, members_[k].x) + members_[k].own) / eta;
  }
  solve_factorised(solution_);
  solve_factorised(ones_);
  const double total = std::accumulate(solution_.begin(), solution_.end(), 0.0);
  const double share = (1.0 - total) / std::accumulate(ones_.begin(), ones_.end(), 0.0);
  for (std::size_t k = 0; k < size; ++k) solution_[k] += share * ones_[k];
  level_ = eta * (1.0 - share);
  return true;
}

void ActiveSet::add(Member member) {
  member.shared.clear();
  for (const Member& other : members_) member.shared.push_back(count_shared(member.x, other.x));
  member.shared.push_back(count_shared(member.x, member.x));
  members_.push_back(std::move(member));
}

// Without a member, the rows of the factor after it are one column too long. Rotations of pairs of
// columns, each of which empties the last place of one row, make it triangular again.
void ActiveSet::remove(std::size_t place) {
  const auto offset = static_cast<std::ptrdiff_t>(place);
  members_.erase(members_.begin() + offset);
  for (std::size_t i = place; i < members_.size(); ++i) {
    members_[i].shared.erase(members_[i].shared.begin() + offset);
  }
  if (factorised_ <= place) return;
  --factorised_;
  rotations_.clear();
  for (std::size_t i = place; i < factorised_; ++i) {
    std::vector<double>& row = members_[i].cholesky;
    for (std::size_t j = place; j < i; ++j) {
      const auto [cosine, sine] = rotations_[j - place];
      const double left = row[j], right = row[j + 1];
      row[j] = cosine * left + sine * right;
      row[j + 1] = cosine * right - sine * left;
    }
    const double length = std::hypot(row[i], row[i + 1]);
    rotations_.push_back({row[i] / length, row[i + 1] / length});
    row[i] = length;
    row.pop_back();
  }
}

// Cholesky's factor of G + 1, by rows. A row depends on earlier ones only, so those before the
// first new member do not change.
bool ActiveSet::factorise() {
  for (; factorised_ < members_.size(); ++factorised_) {
    Member& member = members_[factorised_];
    std::vector<double>& row = member.cholesky;
    row.resize(factorised_ + 1);
    for (std::size_t j = 0; j <= factorised_; ++j) {
      const std::vector<double>& other = members_[j].cholesky;
      double sum = member.shared[j] + 1.0;
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      if (j == factorised_ && sum < kTiny) return false;
      row[j] = j == factorised_ ? std::sqrt(sum) : sum / other[j];
    }
  }
  return true;
}

void ActiveSet::solve_factorised(std::vector<double>& b) const {
  const std::size_t size = b.size();
  for (std::size_t i = 0; i < size; ++i) {
    const std::vector<double>& row = members_[i].cholesky;
    for (std::size_t k = 0; k < i; ++k) b[i] -= row[k] * b[k];
    b[i] /= row[i];
  }
  for (std::size_t i = size; i-- > 0;) {  // by rows, which are contiguous
    const std::vector<double>& row = members_[i].cholesky;
    b[i] /= row[i];
    for (std::size_t k = 0; k < i; ++k) b[k] -= row[k] * b[i];
  }
}

// Moves towards the solution until the first weight becomes 0, whose member is dropped; true if it
// reached the solution.
bool ActiveSet::move_to_solution() {
  double way = 1.0;
  std::size_t blocking = members_.size();
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const double from = members_[k].weight, to = solution_[k];
    if (to >= 0.0 || from - to <= 0.0) continue;
    if (from / (from - to) < way) {
      way = from / (from - to);
      blocking = k;
    }
  }
  for (std::size_t k = 0; k < members_.size(); ++k) {
    double& weight = members_[k].weight;
    weight = std::max(0.0, weight + way * (solution_[k] - weight));
  }
  if (blocking == members_.size()) return true;
  remove(blocking);
  return false;
}

void ActiveSet::average() {
  std::fill(q_.begin(), q_.end(), 0.0);
  for (const Member& member : members_) {
    for (std::size_t i = 0; i < q_.size(); ++i) {
      if (member.x[i] != 0) q_[i] += member.weight;
    }
  }
}

double ActiveSet::own() const {
  double sum = 0.0;
  for (const Member& member : members_) sum += member.weight * member.own;
  return sum;
}

// Adds the configuration that rises most steeply from q; false if none does.
bool ActiveSet::add_best(const double* scores, double eta) {
  for (std::size_t i = 0; i < q_.size(); ++i) pulled_[i] = scores[i] - eta * q_[i];
  Member found{std::vector<std::uint8_t>(at(n_)), 0.0, 0.0, {}, {}};
  found.own = oracle_(pulled_.data(), found.x.data());
  const double value = dot(pulled_.data(), found.x) + found.own;
  if (value <= level_ + kTiny * std::max(1.0, std::abs(level_))) return false;
  for (const Member& member : members_) {
    if (member.x == found.x) return false;
  }
  add(std::move(found));
  if (!factorise()) {
    Member last = std::move(members_.back());
    remove(members_.size() - 1);
    replace_dependent(std::move(last));
  }
  return true;
}

// A new member that is an affine combination of the others takes over their weights as far as
// possible: q does not change, the own scores increase, and one member is dropped.
void ActiveSet::replace_dependent(Member added) {
  if (!factorise()) return;
  std::vector<double> combination(members_.size());
  for (std::size_t k = 0; k < members_.size(); ++k) combination[k] = added.shared[k] + 1.0;
  solve_factorised(combination);
  double share = kInfinity;
  std::size_t blocking = 0;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (combination[k] <= kTiny || members_[k].weight / combination[k] >= share) continue;
    share = members_[k].weight / combination[k];
    blocking = k;
  }
  if (share == kInfinity) return;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    members_[k].weight = std::max(0.0, members_[k].weight - share * combination[k]);
  }
  added.weight = share;
  remove(blocking);
  add(std::move(added));
}

}  // namespace arbora::inference
