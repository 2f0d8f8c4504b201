// Quadratic problems over the convex hull of a factor's configurations, by an active-set method
// that needs only a search for the best configuration (Martins et al. 2015, section 6).
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "arbora/base/interruption.hpp"
#include "arbora/base/types.hpp"

namespace arbora::inference {

// Finds the best configuration x (0/1 by variable) under scores of the variables plus the
// configuration's own score; returns the latter.
using BestConfiguration = std::function<double(const double* scores, std::uint8_t* x)>;

class ActiveSet {
 public:
  ActiveSet(Index n_variables, BestConfiguration oracle);

  // Maximises scores . q + c(q) - eta/2 |q|^2 over averages q of configurations, c being the
  // average of their own scores. Starts from the configurations of the last call, takes at most
  // `max_steps` steps, and stores the answer in q().
  void solve(const double* scores, double eta, int max_steps, Polling& polling);

  const std::vector<double>& q() const { return q_; }
  double own() const;  // c(q)
  // The best configuration, and its total score.
  double best(const double* scores, std::uint8_t* x) const;

 private:
  struct Member {
    std::vector<std::uint8_t> x;
    double own, weight;
    // Of the members so far, itself the last: how many variables it shares with each, and its row
    // of Cholesky's factor.
    std::vector<double> shared, cholesky;
  };

  bool solve_for_weights(const double* scores, double eta);
  bool factorise();
  void solve_factorised(std::vector<double>& b) const;
  void add(Member member);
  void remove(std::size_t place);
  bool move_to_solution();
  bool add_best(const double* scores, double eta);
  void replace_dependent(Member added);
  void average();

  Index n_;
  BestConfiguration oracle_;
  std::vector<Member> members_;
  std::size_t factorised_ = 0;  // members whose rows of the factor are known
  std::vector<double> q_, solution_, ones_, pulled_;
  std::vector<std::pair<double, double>> rotations_;  // cosine, sine
  double level_ = 0.0;  // the value that all members share at the solution
};

}  // namespace arbora::inference
