// Hypergraphs of second-order trees: sums against the list of all trees, and the batch calls.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "arbora/inference/hypergraph.hpp"
#include "arbora/inference/second_order.hpp"
#include "arbora/inference/second_order_batch.hpp"
#include "testing.hpp"

namespace arbora::tests {
namespace {

// Parts of a few words over random arcs, the chain 0 -> 1 -> 2 -> ... among them.
struct Problem {
  Problem(Index n, PartKinds kinds, double scale, std::mt19937_64& random)
      : n_words(n), kept(make_kept(n, random)), index(kept.data(), {&n_words, 1}, kinds, 1) {
    std::normal_distribution<double> normal;
    const auto& end = index.place(1);
    for (auto [table, size] :
         {std::pair{&arcs, end.cells}, std::pair{&pairs, end[PartKind::consecutive]},
          std::pair{&grand, end[PartKind::grandparents]},
          std::pair{&grandsiblings, end[PartKind::grandsiblings]}}) {
      table->resize(at(size));
      for (double& x : *table) x = scale * normal(random);
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i] == 0) arcs[i] = kForbidden;
    }
  }
  static std::vector<std::uint8_t> make_kept(Index n, std::mt19937_64& random) {
    std::vector<std::uint8_t> answer(at((n + 1) * (n + 1)), 0);
    for (Index h = 0; h <= n; ++h) {
      for (Index m = 1; m <= n; ++m) {
        answer[at(h * (n + 1) + m)] = h != m && (h == m - 1 || random() % 3 != 0);
      }
    }
    return answer;
  }
  template <class Number>
  PartValues<Number> view(std::vector<double> (&tables)[4]) const {
    Number* first[4];
    for (int i = 0; i < 4; ++i) first[i] = tables[i].empty() ? nullptr : tables[i].data();
    return {first[0], first[1], nullptr, first[2], first[3]};
  }

  std::int64_t n_words;
  std::vector<std::uint8_t> kept;
  PartBatch index;
  std::vector<double> arcs, pairs, grand, grandsiblings;
};

void check_second_order(PartKinds kinds, Root root, double scale, std::mt19937_64& random) {
  const Index n = 5;
  const Problem problem(n, kinds, scale, random);
  std::vector<double> scores[4] = {problem.arcs, problem.pairs, problem.grand,
                                   problem.grandsiblings};
  const SecondOrderBatch batch{problem.index, problem.view<const double>(scores), root, 1};
  std::vector<std::vector<RankedTree>> trees;
  CHECK(second_order_kbest(batch, 1000, trees) == -1);
  const auto& all = trees[0];
  CHECK(!all.empty());

  std::vector<double> marginals[4], gradient[4];
  for (int i = 0; i < 4; ++i) marginals[i].resize(scores[i].size(), -1.0);
  for (int i = 0; i < 4; ++i) gradient[i].resize(scores[i].size(), -1.0);
  double log_z = 0.0, entropy = 0.0, sum = 0.0, surprise = 0.0;
  CHECK(second_order_sums(batch, &log_z, problem.view<double>(marginals)) == -1);
  std::vector<double> expected(marginals[0].size(), 0.0);
  for (const RankedTree& tree : all) {
    const double p = std::exp(tree.score - log_z);
    sum += p;
    if (p > 0.0) surprise -= p * (tree.score - log_z);
    for (Index m = 1; m <= n; ++m) expected[at(tree.heads[at(m - 1)] * (n + 1) + m)] += p;
  }
  CHECK(sum == near(1.0, 1e-10));
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(marginals[0][i] == near(expected[i], 1e-10));
  CHECK(second_order_entropy(batch, &entropy) == -1);
  CHECK(entropy == near(surprise, 1e-9));

  // Every tree has n arcs: their number does not vary.
  std::vector<double> ones[4];
  for (int i = 0; i < 4; ++i) ones[i].assign(scores[i].size(), i == 0 ? 1.0 : 0.0);
  CHECK(second_order_vjp(batch, problem.view<const double>(ones), problem.view<double>(gradient)) ==
        -1);
  for (const auto& table : gradient) {
    for (const double x : table) CHECK(x == near(0.0, 1e-10));
  }
  std::vector<std::int32_t> heads(at(n)), drawn(at(20 * n));
  double best = 0.0;
  CHECK(second_order_argmax(batch, heads.data(), &best) == -1);
  CHECK(heads == all[0].heads);
  CHECK(best == near(all[0].score, 1e-12));
  const std::int64_t key = 0;
  CHECK(second_order_sample(batch, 7, {&key, 1}, 20, drawn.data()) == -1);
  for (Index i = 0; i < 20; ++i) {
    const std::vector<std::int32_t> one(drawn.begin() + i * n, drawn.begin() + (i + 1) * n);
    CHECK(std::any_of(all.begin(), all.end(), [&](const auto& t) { return t.heads == one; }));
  }
  std::vector<double> margins(expected.size());
  CHECK(second_order_margins(batch, margins.data()) == -1);
  for (Index m = 1; m <= n; ++m) CHECK(margins[at(heads[at(m - 1)] * (n + 1) + m)] >= -1e-9);
}

TEST_CASE("A sentence without projective trees is reported") {
  // 0 -> 1 -> 3 -> 2 -> 4: the only tree, and it crosses.
  const std::int64_t n = 4;
  std::vector<std::uint8_t> kept(25, 0);
  std::vector<double> arcs(25, kForbidden);
  for (const int cell : {1, 8, 17, 14}) {
    kept[at(cell)] = 1;
    arcs[at(cell)] = 0.0;
  }
  const PartBatch parts(kept.data(), {&n, 1}, {}, 1);
  PartScores scores;
  scores.arcs = arcs.data();
  double log_z = 0.0;
  CHECK(second_order_sums({parts, scores, Root::multi, 1}, &log_z, {}) == 0);
}

TEST_CASE("Second-order sums and best trees against all trees") {
  std::mt19937_64 random(5);
  for (int mask = 0; mask < 8; ++mask) {
    const PartKinds kinds{(mask & 1) != 0, false, (mask & 2) != 0, (mask & 4) != 0};
    for (const Root root : {Root::single, Root::multi}) {
      for (const double scale : {1.0, 400.0}) {
        CAPTURE(mask);
        CAPTURE(scale);
        check_second_order(kinds, root, scale, random);
      }
    }
  }
}

}  // namespace
}  // namespace arbora::tests
