// First-order inference without Python: sums, gradients, best trees, samples.
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "arbora/inference/batch.hpp"
#include "testing.hpp"

namespace arbora::tests {
namespace {

struct Sentences {
  std::vector<std::int64_t> n_words;
  std::vector<double> scores;
  Index n_labels;

  Sentences(std::vector<std::int64_t> sizes, Index labels, double scale, double mask, unsigned seed)
      : n_words(std::move(sizes)), n_labels(labels) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (const std::int64_t n : n_words) {
      for (Index h = 0; h <= n; ++h) {
        for (Index m = 0; m <= n; ++m) {
          for (Index l = 0; l < labels; ++l) {
            const bool forbidden = h + 1 != m && uniform(random) < mask;
            scores.push_back(forbidden ? kForbidden : scale * normal(random));
          }
        }
      }
    }
  }
  Batch batch(Trees trees, Root root, int threads) const {
    return {scores.data(), n_words, n_labels, trees, root, threads};
  }
  std::size_t words() const {
    return static_cast<std::size_t>(std::accumulate(n_words.begin(), n_words.end(), Index{0}));
  }
};

void check_every_kernel(Trees trees, Root root, Index labels, double scale, double mask) {
  Sentences s({1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 21, 33}, labels, scale, mask, 7);
  const Batch batch = s.batch(trees, root, 3);
  CHECK(copy_and_check(batch, s.scores.data()).empty());
  const std::size_t sentences = s.n_words.size(), cells = s.scores.size(), words = s.words();
  std::vector<double> log_z(sentences), relative(sentences), shift(words + sentences);
  std::vector<double> marginals(cells), gradient(cells, 0.25), answer(cells), score(sentences);
  batch_sums(batch, log_z.data(), relative.data(), shift.data(), marginals.data());
  CHECK(std::accumulate(marginals.begin(), marginals.end(), 0.0) ==
        near(static_cast<double>(words), 1e-9));
  batch_vjp(batch, marginals.data(), gradient.data(), answer.data());
  for (const double x : answer) CHECK(std::abs(x) < 1e-9);  // a constant has no covariance
  std::vector<std::int32_t> heads(words), arc_labels(words);
  batch_argmax(batch, heads.data(), arc_labels.data(), score.data());
  const auto lists = batch_kbest(batch, 5);
  for (std::size_t i = 0; i < sentences; ++i) {
    CHECK(score[i] <= log_z[i] + 1e-9 * std::abs(log_z[i]) + 1e-9);
    REQUIRE(!lists[i].empty());
    CHECK(lists[i][0].score == near(score[i], 1e-12));
  }
  std::vector<std::int32_t> drawn(4 * words), drawn_labels(4 * words);
  std::vector<std::int64_t> keys(sentences);
  std::iota(keys.begin(), keys.end(), 0);
  batch_sample(batch, 5, keys, 4, drawn.data(), labels > 1 ? drawn_labels.data() : nullptr);
  for (const std::int32_t head : drawn) {
    CHECK(head >= 0);
    CHECK(head <= 33);
  }
  if (labels == 1) batch_margins(batch, answer.data());
}

TEST_CASE("Scores that lie apart are packed like scores that do not") {
  for (const Index labels : {1, 3}) {
    const Sentences s({2, 7, 1, 4}, labels, 1.0, 0.3, 11);
    const Batch batch = s.batch(Trees::nonprojective, Root::single, 2);
    std::vector<std::vector<double>> pieces;
    std::vector<const double*> sources;
    const double* next = s.scores.data();
    for (const std::int64_t n : s.n_words) {
      pieces.emplace_back(next, next + (n + 1) * (n + 1) * labels);
      next += pieces.back().size();
    }
    pieces[1][1 * static_cast<std::size_t>(labels)] = std::nan("");  // the arc from 0 to 1
    for (const auto& piece : pieces) sources.push_back(piece.data());
    std::vector<double> together(s.scores.size()), apart(s.scores.size());
    CHECK(copy_and_check(batch, together.data()).empty());
    const auto faults = copy_and_check(batch, sources, apart.data());
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].sentence == 1);
    CHECK(faults[0].cell == Cell::nan);
    CHECK(faults[0].modifier == 1);
    const std::size_t nan_at = static_cast<std::size_t>(9 * labels + labels);
    CHECK(std::isnan(apart[nan_at]));
    apart[nan_at] = together[nan_at];
    CHECK(apart == together);
  }
}

TEST_CASE("Every kernel of first order, for the sanitizers") {
  for_each_class([](Trees trees, Root root) {
    for (const Index labels : {1, 3}) {
      for (const double scale : {1.0, 700.0}) {
        for (const double mask : {0.0, 0.3}) {
          CAPTURE(labels);
          CAPTURE(scale);
          CAPTURE(mask);
          check_every_kernel(trees, root, labels, scale, mask);
        }
      }
    }
  });
}

}  // namespace
}  // namespace arbora::tests
