// Belief propagation: beliefs of a word's heads sum to 1, gradients are those of differences.
#include <cstdint>
#include <vector>

#include "arbora/base/random.hpp"
#include "arbora/inference/loopy.hpp"
#include "testing.hpp"

namespace arbora::tests {
namespace {

Interruption endless([] { return false; });

using Numbers = std::vector<double>;

Numbers draw(Index count, double scale, RandomStream& random) {
  Numbers values(static_cast<std::size_t>(count));
  for (double& value : values) value = scale * (2.0 * random.uniform() - 1.0);
  return values;
}

// Arcs and the four kinds of parts of a batch.
struct Tables {
  Numbers arcs, consecutive, siblings, grandparents, grandsiblings;

  Tables(const PartBatch& parts, double scale, RandomStream& random) {
    const PartBatch::Place& end = parts.place(parts.size());
    arcs = draw(end.cells, scale, random);
    consecutive = draw(end[PartKind::consecutive], scale, random);
    siblings = draw(end[PartKind::siblings], scale, random);
    grandparents = draw(end[PartKind::grandparents], scale, random);
    grandsiblings = draw(end[PartKind::grandsiblings], scale, random);
  }
  std::vector<Numbers*> all() {
    return {&arcs, &consecutive, &siblings, &grandparents, &grandsiblings};
  }
  PartValues<double> values() {
    return {arcs.data(), consecutive.data(), siblings.data(), grandparents.data(),
            grandsiblings.data()};
  }
  PartScores scores() const {
    return {arcs.data(), consecutive.data(), siblings.data(), grandparents.data(),
            grandsiblings.data()};
  }
  double dot(Tables& other) {
    double sum = 0.0;
    for (std::size_t kind = 0; kind < 5; ++kind) {
      for (std::size_t i = 0; i < all()[kind]->size(); ++i) {
        sum += (*all()[kind])[i] * (*other.all()[kind])[i];
      }
    }
    return sum;
  }
};

// Every arc to the right is kept, and some to the left, so that there are trees.
std::vector<std::uint8_t> some_arcs(const std::vector<std::int64_t>& lengths,
                                    RandomStream& random) {
  std::vector<std::uint8_t> kept;
  for (const std::int64_t n : lengths) {
    for (std::int64_t h = 0; h <= n; ++h) {
      for (std::int64_t m = 0; m <= n; ++m) {
        kept.push_back(m != 0 && m != h && (h < m || random.uniform() < 0.4) ? 1 : 0);
      }
    }
  }
  return kept;
}

// The same numbers by way of a tape.
void check_tape(const LoopyBatch& batch, const Tables& beliefs, const Tables& direction,
                const Tables& gradient) {
  LoopyTape tape;
  Tables found = gradient;
  CHECK(loopy_arcs(batch, &tape, found.arcs.data()) == -1);
  CHECK(found.arcs == beliefs.arcs);
  CHECK(loopy_vjp(batch, &tape, direction.scores(), found.values()) == -1);
  CHECK(found.arcs == gradient.arcs);
  CHECK(found.grandparents == gradient.grandparents);
}

void check(const LoopySettings& settings, double scale, RandomStream& random) {
  const std::vector<std::int64_t> lengths{1, 4, 7, 2};
  const auto kept = some_arcs(lengths, random);
  const PartBatch parts(kept.data(), lengths, {true, true, true, true}, 1);
  Tables scores(parts, scale, random), beliefs = scores, gradient = scores;
  Tables direction(parts, 1.0, random), along(parts, 1.0, random);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == 0) scores.arcs[i] = kForbidden;
    if (kept[i] == 0) direction.arcs[i] = along.arcs[i] = 0.0;
  }
  Numbers log_partition(lengths.size());
  Numbers residuals(lengths.size() * static_cast<std::size_t>(settings.iterations));
  const auto value_at = [&](double step) {
    Tables moved = scores;
    for (std::size_t kind = 0; kind < 5; ++kind) {
      for (std::size_t i = 0; i < moved.all()[kind]->size(); ++i) {
        (*moved.all()[kind])[i] += step * (*along.all()[kind])[i];
      }
    }
    const LoopyBatch batch{parts, moved.scores(), settings, 1, endless};
    CHECK(loopy_sums(batch, log_partition.data(), residuals.data(), beliefs.values()) == -1);
    return direction.dot(beliefs);
  };
  const double step = 1e-3;
  const double near_by = value_at(step) - value_at(-step);
  const double far = value_at(2.0 * step) - value_at(-2.0 * step);
  value_at(0.0);
  const LoopyBatch batch{parts, scores.scores(), settings, 1, endless};
  CHECK(loopy_vjp(batch, nullptr, direction.scores(), gradient.values()) == -1);
  const double slope = gradient.dot(along);
  check_tape(batch, beliefs, direction, gradient);
  CHECK(std::isfinite(slope));
  if (scale < 10.0) CHECK(slope == near((8.0 * near_by - far) / (12.0 * step), 1e-6));
  for (std::size_t sentence = 0; sentence < lengths.size(); ++sentence) {
    CHECK(std::isfinite(log_partition[sentence]));
    const Index side = lengths[sentence] + 1;
    const double* arcs = beliefs.arcs.data() + parts.place(static_cast<Index>(sentence)).cells;
    for (Index m = 1; m < side && !settings.parallel && settings.damping == 0.0; ++m) {
      double sum = 0.0;
      for (Index h = 0; h < side; ++h) sum += arcs[h * side + m];
      CHECK(sum == near(1.0, 1e-9));
    }
  }
}

TEST_CASE("Beliefs and gradients of belief propagation") {
  RandomStream random(7, 0, 0);
  for_each_class([&](Trees trees, Root root) {
    for (const bool other : {false, true}) {
      for (const double scale : {1.0, 1000.0}) {
        CAPTURE(other);
        CAPTURE(scale);
        check({trees, root, 3, other ? 0.3 : 0.0, other, false}, scale, random);
      }
    }
  });
}

}  // namespace
}  // namespace arbora::tests
