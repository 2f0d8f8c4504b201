// Second-order decoding without Python: four solvers over the same two oracles.
#include <bit>
#include <random>
#include <vector>

#include "arbora/inference/active_set.hpp"
#include "arbora/inference/decode_parts.hpp"
#include "testing.hpp"

namespace arbora::tests {
namespace {

struct Answers {
  std::vector<std::int32_t> heads;
  std::vector<double> scores, bounds;
  std::vector<std::uint8_t> certified;
  std::vector<std::int64_t> iterations;

  explicit Answers(const PartBatch& parts)
      : heads(static_cast<std::size_t>(parts.place(parts.size()).words)),
        scores(static_cast<std::size_t>(parts.size())),
        bounds(scores),
        certified(scores.size()),
        iterations(scores.size()) {}

  DualAnswers places() {
    return {heads.data(), scores.data(), bounds.data(), certified.data(), iterations.data()};
  }
};

void check_solvers(PartKinds kinds, const TreeQuestion& question) {
  std::mt19937_64 random(7);
  const std::vector<std::int64_t> n_words = {1, 2, 5, 9, 6};
  Index cells = 0;
  for (const std::int64_t n : n_words) cells += (n + 1) * (n + 1);
  const std::vector<double> arcs = normal_numbers(cells, random);
  const std::vector<std::uint8_t> kept(arcs.size(), 1);
  const PartBatch parts(kept.data(), n_words, kinds, 2);
  const PartBatch::Place& all = parts.place(parts.size());
  const std::vector<double> consecutive = normal_numbers(all[PartKind::consecutive], random);
  const std::vector<double> grandparents = normal_numbers(all[PartKind::grandparents], random);
  const std::vector<double> grandsiblings = normal_numbers(all[PartKind::grandsiblings], random);
  const PartScores scores{arcs.data(),
                          kinds.has(PartKind::consecutive) ? consecutive.data() : nullptr, nullptr,
                          kinds.has(PartKind::grandparents) ? grandparents.data() : nullptr,
                          kinds.has(PartKind::grandsiblings) ? grandsiblings.data() : nullptr};
  // An automaton for the first sentence: its only word, at most once, from the right of the root.
  const std::vector<std::int64_t> sides = {1}, states = {2};
  const std::vector<double> numbers = {0.0,        kForbidden, kForbidden, 1.0,
                                       kForbidden, kForbidden, 0.0,        0.0};
  Interruption never([] { return false; });
  std::vector<Answers> answers;
  for (const Solver solver : {Solver::exact, Solver::subgradient, Solver::ad3, Solver::branch}) {
    answers.emplace_back(parts);
    batch_decode(parts, scores, {sides, states, numbers}, question, solver, answers.back().places(),
                 2, never);
  }
  for (std::size_t i = 0; i < n_words.size(); ++i) {
    const double best = answers[0].scores[i];
    CHECK(answers[0].certified[i] == 1);
    for (const Answers& one : answers) {
      CHECK(one.scores[i] <= best + 1e-6);
      CHECK(one.bounds[i] >= best - 1e-6);
      if (one.certified[i] != 0) CHECK(one.scores[i] == near(best, 1e-6));
    }
    if (i == 0) continue;  // the automaton's score is not the parts'
    const PartBatch::Place& place = parts.place(static_cast<Index>(i));
    CHECK(best == near(score_of_tree(parts[static_cast<Index>(i)], scores.of(place),
                                     answers[0].heads.data() + place.words),
                       1e-9));
  }
}

// A factor that takes three of eight variables or more, in random scores: q is the best average if
// no configuration rises from it. The set is used again under scores that wander, so that members
// come and go and its factor is mended many times.
TEST_CASE("An active set finds the best average") {
  constexpr std::size_t kVariables = 8;
  std::mt19937_64 random(9);
  const std::vector<double> own = normal_numbers(1 << kVariables, random);
  const auto value = [&](const double* scores, std::size_t x) {
    double sum = own[x];
    for (std::size_t i = 0; i < kVariables; ++i) sum += (x >> i & 1) != 0 ? scores[i] : 0.0;
    return sum;
  };
  const auto best = [&](const double* scores) {
    std::size_t top = 7;
    for (std::size_t x = 7; x < own.size(); ++x) {
      if (std::popcount(x) >= 3 && value(scores, x) > value(scores, top)) top = x;
    }
    return top;
  };
  ActiveSet set(kVariables, [&](const double* scores, std::uint8_t* x) {
    const std::size_t found = best(scores);
    for (std::size_t i = 0; i < kVariables; ++i) x[i] = found >> i & 1;
    return own[found];
  });
  Interruption never([] { return false; });
  Polling polling(never);
  std::vector<double> scores(kVariables, 0.0);
  for (int round = 0; round < 2000; ++round) {
    const double eta = 1.0;
    for (double& score : scores) score = 0.9 * score + normal_numbers(1, random)[0];
    set.solve(scores.data(), eta, 200, polling);
    std::vector<double> slope = scores;
    double average = 0.0;  // of what q scores, less what configurations score by themselves
    for (std::size_t i = 0; i < kVariables; ++i) {
      slope[i] -= eta * set.q()[i];
      average += slope[i] * set.q()[i];
    }
    const double level = value(slope.data(), best(slope.data()));
    CHECK(level == near(average + set.own(), 1e-8));
  }
}

TEST_CASE("An interruption ends decoding") {
  const std::vector<double> arcs(41 * 41, 0.0);
  const std::vector<std::uint8_t> kept(arcs.size(), 1);
  const std::vector<std::int64_t> n_words = {40};
  const PartBatch parts(kept.data(), n_words, {true, false, true, false}, 1);
  std::mt19937_64 random(8);
  const std::vector<double> consecutive =
      normal_numbers(parts.place(1)[PartKind::consecutive], random);
  const std::vector<double> grandparents =
      normal_numbers(parts.place(1)[PartKind::grandparents], random);
  const PartScores scores{arcs.data(), consecutive.data(), nullptr, grandparents.data(), nullptr};
  Answers answers(parts);
  Interruption now([] { return true; });
  const TreeQuestion question{Trees::nonprojective, Root::single, 1'000'000'000};
  CHECK_THROWS_AS(
      batch_decode(parts, scores, {}, question, Solver::subgradient, answers.places(), 1, now),
      Interrupted);
}

TEST_CASE("All solvers agree with the exact one") {
  for_each_class([](Trees trees, Root root) {
    for (const bool lazy : {true, false}) {
      CAPTURE(lazy);
      const TreeQuestion question{trees, root, 200, lazy};
      check_solvers({true, false, false, false}, question);
      check_solvers({false, false, true, false}, question);
      check_solvers({true, false, true, true}, question);
    }
  });
}

}  // namespace
}  // namespace arbora::tests
