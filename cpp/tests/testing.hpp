// What all tests of the core share: doctest, comparison with a tolerance, random numbers.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <random>
#include <vector>

#include "arbora/base/types.hpp"

namespace arbora::tests {

// CHECK(x == near(expected, tolerance)): absolute below 1, relative above. Unlike doctest::Approx,
// the tolerance is the largest difference that passes.
struct Near {
  double expected;
  double tolerance;

  friend bool operator==(double found, const Near& near) {
    const double size = std::max({1.0, std::abs(found), std::abs(near.expected)});
    return std::abs(found - near.expected) <= near.tolerance * size;
  }
  friend std::ostream& operator<<(std::ostream& stream, const Near& near) {
    return stream << near.expected << " +- " << near.tolerance;
  }
};

inline Near near(double expected, double tolerance) { return {expected, tolerance}; }

inline std::vector<double> normal_numbers(std::size_t count, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> numbers(count);
  for (double& number : numbers) number = normal(random);
  return numbers;
}

// Calls test(trees, root) for every class of trees; a failure names the class.
template <class Test>
void for_each_class(const Test& test) {
  for (const Trees trees : {Trees::nonprojective, Trees::projective}) {
    for (const Root root : {Root::single, Root::multi}) {
      INFO((trees == Trees::projective ? "projective" : "nonprojective"));
      INFO((root == Root::multi ? "multi-root" : "single-root"));
      test(trees, root);
    }
  }
}

}  // namespace arbora::tests
