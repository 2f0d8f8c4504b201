// Hill climbing: gains against scoring whole trees, answers against their scores.
#include <cstdint>
#include <utility>
#include <vector>

#include "arbora/base/random.hpp"
#include "arbora/inference/hill_climbing.hpp"
#include "testing.hpp"

namespace arbora::tests {
namespace {

// Sentences with all parts; every arc to the right is kept, so that there are trees.
struct Instance {
  std::vector<std::int64_t> n_words;
  std::vector<double> arcs;
  PartBatch parts;
  std::vector<double> consecutive, siblings, grandparents, grandsiblings;

  Instance(std::vector<std::int64_t> lengths, RandomStream& random)
      : n_words(std::move(lengths)),
        arcs(make_arcs(n_words, random)),
        parts(kept(arcs).data(), n_words, {true, true, true, true}, 1) {
    const PartBatch::Place& end = parts.place(parts.size());
    consecutive = draw(end[PartKind::consecutive], random);
    siblings = draw(end[PartKind::siblings], random);
    grandparents = draw(end[PartKind::grandparents], random);
    grandsiblings = draw(end[PartKind::grandsiblings], random);
  }

  PartScores scores() const {
    return {arcs.data(), consecutive.data(), siblings.data(), grandparents.data(),
            grandsiblings.data()};
  }

  static std::vector<double> draw(Index count, RandomStream& random) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = 4.0 * random.uniform() - 2.0;
    return values;
  }

  static std::vector<double> make_arcs(const std::vector<std::int64_t>& lengths,
                                       RandomStream& random) {
    std::vector<double> all;
    for (const std::int64_t n : lengths) {
      for (std::int64_t h = 0; h <= n; ++h) {
        for (std::int64_t m = 0; m <= n; ++m) {
          const bool is_arc = m != 0 && m != h && (h < m || random.uniform() < 0.6);
          all.push_back(is_arc ? random.uniform() : kForbidden);
        }
      }
    }
    return all;
  }

  static std::vector<std::uint8_t> kept(const std::vector<double>& arcs) {
    std::vector<std::uint8_t> answer;
    for (const double score : arcs) answer.push_back(score != kForbidden ? 1 : 0);
    return answer;
  }
};

void check_gains(const PartIndex& parts, const PartScores& scores, Trees trees, Root root,
                 const std::int32_t* heads) {
  const Index side = parts.n_words() + 1;
  std::vector<double> gains(static_cast<std::size_t>(side * side));
  head_changes(parts, scores, trees, root, heads, gains.data());
  const double before = score_of_tree(parts, scores, heads);
  for (Index m = 1; m < side; ++m) {
    for (Index h = 0; h < side; ++h) {
      const double gain = gains[static_cast<std::size_t>(h * side + m)];
      if (gain == kForbidden) continue;
      std::vector<std::int32_t> changed(heads, heads + parts.n_words());
      changed[static_cast<std::size_t>(m - 1)] = static_cast<std::int32_t>(h);
      CHECK(before + gain == near(score_of_tree(parts, scores, changed.data()), 1e-12));
      CHECK(gain <= 1e-9);  // nothing is left to climb
    }
  }
}

TEST_CASE("Hill climbing ends where no change of a head helps, with any number of threads") {
  RandomStream random(2006, 0, 0);
  for_each_class([&](Trees trees, Root root) {
    const Instance instance({9, 1, 6}, random);
    const PartBatch& parts = instance.parts;
    std::vector<std::int32_t> heads(16), again(16);
    std::vector<double> score(3), score_again(3);
    ClimbOptions options{trees, root, 10, 5, 7, 2};
    batch_climb(parts, instance.scores(), options, false, heads.data(), score.data());
    options.threads = 1;
    batch_climb(parts, instance.scores(), options, false, again.data(), score_again.data());
    CHECK(heads == again);
    CHECK(score == score_again);
    for (Index i = 0; i < parts.size(); ++i) {
      const PartScores own = instance.scores().of(parts.place(i));
      const std::int32_t* tree = heads.data() + parts.place(i).words;
      CHECK(score[static_cast<std::size_t>(i)] == score_of_tree(parts[i], own, tree));
      check_gains(parts[i], own, trees, root, tree);
    }
  });
}

}  // namespace
}  // namespace arbora::tests
