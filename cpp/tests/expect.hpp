// Claims that the core's tests make; a failed one is printed and counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace arbora::tests {

inline int failures = 0;

inline void expect(bool truth, const char* claim, const char* file, int line) {
  if (truth) return;
  ++failures;
  std::printf("%s, line %d: not true: %s\n", file, line, claim);
}
#define EXPECT(claim) arbora::tests::expect((claim), #claim, __FILE__, __LINE__)

inline bool near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

void test_climbing();     // climbing_tests.cpp
void test_hypergraphs();  // hypergraph_tests.cpp
void test_decoding();     // decoding_tests.cpp
void test_learning();     // learning_tests.cpp
void test_loopy();        // loopy_tests.cpp

}  // namespace arbora::tests
