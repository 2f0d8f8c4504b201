// Best trees under second-order scores for many sentences, by any of the solvers.
#pragma once

#include <span>

#include "arbora/inference/dual_decomposition.hpp"

namespace arbora::inference {

// `branch` is `exact` that stops at the question's limit of iterations (branch_and_bound.hpp).
enum class Solver : int { subgradient = 0, ad3 = 1, branch = 2, exact = 3 };

// Automata with states for some sides of heads, as flat arrays: 2 head + side, the number of
// states, and the numbers of each as class Automaton takes them. They belong to the first sentence.
struct AutomatonList {
  std::span<const std::int64_t> sides, states;
  std::span<const double> numbers;
};

// One number per sentence; heads are stored sentence by sentence. A sentence without any tree has 0
// iterations; if automata forbid all its trees, it has a score of -inf.
struct DualAnswers {
  std::int32_t* heads;
  double *scores, *bounds;
  std::uint8_t* certified;
  std::int64_t* iterations;
};

void batch_decode(const PartBatch& parts, const PartScores& scores, const AutomatonList& automata,
                  const TreeQuestion& question, Solver solver, const DualAnswers& answers,
                  int threads, Interruption& interruption);

// The course of the subgradient method for one sentence, by iteration.
DualTrace trace_dual(const PartBatch& parts, const PartScores& scores, Index sentence,
                     const TreeQuestion& question, Interruption& interruption);

}  // namespace arbora::inference
