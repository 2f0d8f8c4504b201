// Number types, memory and threads.
#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <random>
#include <vector>

#include "arbora/base/buffers.hpp"
#include "arbora/base/number.hpp"
#include "arbora/base/parallel.hpp"
#include "testing.hpp"

namespace arbora::tests {
namespace {

TEST_CASE("Exponentials of packs") {
  SUBCASE("of numbers up to 0, which may underflow") {
    for (double x = -707.5; x <= 0.0; x += 0.37) {
      CHECK(exp_nonpositive(splat(x))[2] / std::exp(x) == near(1.0, 5e-16));
    }
    CHECK(exp_nonpositive(splat(-709.0))[0] == 0.0);
    CHECK(exp_nonpositive(splat(kForbidden))[1] == 0.0);
    CHECK(exp_nonpositive(splat(0.0))[3] == 1.0);
  }
  SUBCASE("of numbers on both sides of 0") {
    for (double x = -707.5; x <= 707.5; x += 0.41) {
      CHECK(exp_bounded(splat(x))[1] / std::exp(x) == near(1.0, 5e-16));
    }
  }
}

TEST_CASE("Logarithms of packs") {
  SUBCASE("over the range of a double") {
    for (double x = 3e-308; x < 1e308; x *= 1.37) {
      CHECK(log_positive(splat(x))[0] / std::log(x) == near(1.0, 9e-16));
    }
  }
  SUBCASE("where the logarithm is small") {
    for (double x = 0.5; x < 2.0; x += 0.00013) {
      CHECK(log_positive(splat(x))[3] / std::log(x) == near(1.0, 9e-16));
    }
    CHECK(log_positive(splat(1.0))[2] == 0.0);
  }
}

TEST_CASE("Sigmoids of packs") {
  for (double x = -700.0; x <= 700.0; x += 0.73) {
    CHECK(sigmoid(splat(x))[1] * (1.0 + std::exp(-x)) == near(1.0, 1e-15));
  }
}

// Sums over the beginning of rows, beside a loop; numbers behind are not finite.
template <class T>
void check_row_sums() {
  Workspace workspace;
  for (Index count = 0; count <= 11; ++count) {
    const auto a = Row<T>::carve(workspace, 16), b = Row<T>::carve(workspace, 16);
    for (Index i = 0; i < 16; ++i) {
      const double x = i < count ? 1.0 + static_cast<double>(i) : HUGE_VAL;
      a.set(i, T{x});
      b.set(i, T{0.5 * x});
    }
    double sum = 0.0, dot = 0.0;
    for (Index i = 0; i < count; ++i) {
      const double x = 1.0 + static_cast<double>(i);
      sum += x;
      dot += 0.5 * x * x;
    }
    CHECK(Number<T>::to_double(sum_of(a, count)) == near(sum, 1e-15));
    CHECK(Number<T>::to_double(dot_of(a, b, count)) == near(dot, 1e-15));
    add_scaled(a, T{2.0}, b, count);
    CHECK(Number<T>::to_double(sum_of(a, count)) == near(2.0 * sum, 1e-15));
    if (count < 16) CHECK(Number<T>::to_double(a.get(count)) == HUGE_VAL);
  }
}

TEST_CASE("Sums of rows") {
  SUBCASE("of doubles") { check_row_sums<double>(); }
  SUBCASE("of wide numbers") { check_row_sums<Wide>(); }
  SUBCASE("of four packs at once, which add up as each alone") {
    const Pack x[4] = {{1e-17, 1.0, 0.3, 7.0},
                       {0.1, 0.2, 0.3, 0.4},
                       {1e9, -1e9, 1e-9, 3.0},
                       {5.0, 1e-30, 2.0, 0.7}};
    const Pack sums = sums_of(x[0], x[1], x[2], x[3]);
    for (Index i = 0; i < 4; ++i) CHECK(sums[i] == sum_of(x[i]));
  }
}

TEST_CASE("Wide numbers") {
  SUBCASE("round like doubles within their range") {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 1000; ++i) {
      const double a = normal(random), b = normal(random) * std::exp(5 * normal(random));
      CHECK((Wide(a) + Wide(b)).to_double() == a + b);
      CHECK((Wide(a) - Wide(b)).to_double() == a - b);
      CHECK((Wide(a) * Wide(b)).to_double() == a * b);
      CHECK((Wide(a) / Wide(b)).to_double() == a / b);
    }
    CHECK(Wide(5e-324).to_double() == 5e-324);
  }
  SUBCASE("reach beyond it") {
    CHECK((Wide::exp(-1e6) * Wide::exp(1e6)).to_double() == near(1.0, 1e-9));
    CHECK(Wide::exp(-12345.678).log() == near(-12345.678, 1e-15));
    CHECK(Wide::exp(-1e6).to_double() == 0.0);
    CHECK((Wide::exp(-1e6) + Wide()).is_positive());
    CHECK(!Wide().is_positive());
    CHECK(Wide().log() == kForbidden);
  }
  SUBCASE("saturate where their exponent would overflow") {
    for (const double x : {1e17, 1e18, 1e30, 3e38, 1e300, kInfinity}) {
      Wide large = Wide::exp(x), small = Wide::exp(-std::min(x, 1e300));
      for (int i = 0; i < 70; ++i) {
        large = large * large;
        small = small * small;
        CHECK(large.log() >= 6.8e16);
        CHECK(small.log() <= -6.8e16);
        CHECK(small.is_positive());
        CHECK((small / large).is_positive());
        CHECK((large / small).log() >= 6.8e16);
        CHECK((large + small).log() == large.log());
        CHECK(!(small * Wide()).is_positive());
      }
    }
  }
}

TEST_CASE("A workspace reuses its memory") {
  Workspace workspace;
  for (int round = 0; round < 3; ++round) {
    std::vector<unsigned char*> blocks;
    for (std::size_t size : {1U, 1000U, 64U, 100000U}) {
      auto* block = static_cast<unsigned char*>(workspace.bytes(size));
      CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
      std::fill(block, block + size, static_cast<unsigned char>(blocks.size()));
      blocks.push_back(block);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) CHECK(*blocks[i] == i);
    workspace.reset();
  }
}

TEST_CASE("Buffers are used again") {
  double* first = acquire_buffer(5000);
  first[4999] = 1.0;
  release_buffer(first);
  double* again = acquire_buffer(4800);
  CHECK(again == first);
  double* other = acquire_buffer(4800);
  CHECK(other != first);
  release_buffer(other);
  release_buffer(again);
  for (int i = 0; i < 40; ++i) release_buffer(acquire_buffer(std::size_t{1} << (10 + i % 13)));
  release_buffer(acquire_buffer(std::size_t{1} << 24));  // too large to keep
}

TEST_CASE("Threads hand exceptions to the caller") {
  std::vector<int> done(100, 0);
  for_each_sentence(100, 4, 1e9,
                    [&](Index i, Workspace&) { done[static_cast<std::size_t>(i)] = 1; });
  CHECK(std::accumulate(done.begin(), done.end(), 0) == 100);
  const auto fail = [](Index i, Workspace&) {
    if (i == 57) throw std::bad_alloc();
  };
  CHECK_THROWS_AS(for_each_sentence(100, 4, 1e9, fail), std::bad_alloc);
}

}  // namespace
}  // namespace arbora::tests
