#include "arbora/inference/decode_parts.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "arbora/base/parallel.hpp"
#include "arbora/inference/ad3.hpp"
#include "arbora/inference/branch_and_bound.hpp"
#include "arbora/inference/level_arcs.hpp"

namespace arbora::inference {
namespace {

void add_automata(const AutomatonList& automata, StepTables& steps) {
  const PartIndex& parts = steps.parts();
  std::size_t used = 0;
  for (std::size_t i = 0; i < automata.sides.size(); ++i) {
    const Index head = automata.sides[i] / 2, states = automata.states[i];
    const int side = static_cast<int>(automata.sides[i] % 2);
    if (head < 0 || head > parts.n_words()) throw std::invalid_argument("no such head");
    const auto modifiers = static_cast<Index>(parts.modifiers(head, side).size());
    const auto size = static_cast<std::size_t>(states * (2 + modifiers * states));
    if (used + size > automata.numbers.size()) throw std::invalid_argument("numbers are missing");
    const auto first = automata.numbers.begin() + static_cast<std::ptrdiff_t>(used);
    steps.add(head, side, {states, modifiers, {first, first + static_cast<std::ptrdiff_t>(size)}});
    used += size;
  }
}

// Whether some head's automaton has no walk at all.
bool forbids_everything(const StepTables& steps) {
  WalkScratch scratch;
  for (Index h = 0; h <= steps.parts().n_words(); ++h) {
    const auto k = static_cast<std::size_t>(steps.parts().n_modifiers(h));
    const std::vector<double> arcs(k, 0.0);
    std::vector<std::uint8_t> chosen(k);
    const Walk walk = best_walk(steps, h, arcs.data(), nullptr, chosen.data(), scratch);
    if (walk.value == kForbidden) return true;
  }
  return false;
}

// A sentence as the solvers take it. Only AD3 takes factors besides the automata.
struct Problem {
  Problem(const PartIndex& parts, const PartScores& all_scores)
      : scores(all_scores), steps(parts, scores), order(parts) {
    others = part_factors(parts, order, scores);
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  double score(const std::int32_t* heads) const {
    return score_of_tree(steps, scores.arcs, heads) + score_of_factors(others, heads);
  }

  PartScores scores;
  StepTables steps;
  ArcOrder order;
  std::vector<PartFactor> others;
};

DualAnswer solve(const Problem& problem, const double* arcs, const TreeQuestion& question,
                 Solver solver, std::int32_t* heads, Workspace& workspace,
                 Interruption& interruption) {
  const StepTables& steps = problem.steps;
  if (solver == Solver::ad3) {
    return solve_ad3(steps, problem.others, problem.order, arcs, question, heads, workspace,
                     interruption);
  }
  if (!problem.others.empty()) {
    throw std::invalid_argument("only AD3 can decode parts that no automaton scores");
  }
  switch (solver) {
    case Solver::branch:
    case Solver::exact:
      return branch_and_bound(steps, arcs, question, solver == Solver::exact, heads, workspace,
                              interruption);
    default:
      return DualDecomposition(steps, arcs, question).solve(heads, workspace, interruption);
  }
}

// Solvers run on normalised scores (level_arcs.hpp), so that neither their iterations nor their
// answers depend on constants that all trees share. The tree is then scored by the original scores,
// and a bound that equals its score still does.
DualAnswer decode(const Problem& problem, const TreeQuestion& question, Solver solver,
                  std::int32_t* heads, Workspace& workspace, Interruption& interruption) {
  const LevelArcs level(problem.steps.parts(), problem.scores.arcs);
  DualAnswer answer =
      solve(problem, level.scores(), question, solver, heads, workspace, interruption);
  if (answer.iterations == 0) return answer;  // there is no tree
  const bool met = answer.bound == answer.score;
  answer.bound += level.taken();
  if (answer.score == kForbidden) return answer;  // automata forbid all trees found
  answer.score = problem.score(heads);
  answer.bound = met ? answer.score : std::max(answer.bound, answer.score);
  return answer;
}

}  // namespace

void batch_decode(const PartBatch& parts, const PartScores& scores, const AutomatonList& automata,
                  const TreeQuestion& question, Solver solver, const DualAnswers& answers,
                  int threads, Interruption& interruption) {
  std::vector<double> costs;
  for (Index i = 0; i < parts.size(); ++i) {
    const PartIndex& own = parts[i];
    const Index cells = (own.n_words() + 1) * (own.n_words() + 1);
    costs.push_back(100.0 * static_cast<double>(cells + own.count(PartKind::consecutive) +
                                                own.count(PartKind::grandsiblings)));
  }
  const auto job = [&](Index i, Workspace& workspace) {
    const PartBatch::Place& place = parts.place(i);
    const PartScores own = scores.of(place);
    Problem problem(parts[i], own);
    DualAnswer answer;
    if (i == 0 && !automata.sides.empty()) add_automata(automata, problem.steps);
    if (i == 0 && !automata.sides.empty() && forbids_everything(problem.steps)) {
      answer.bound = kForbidden;
      answer.iterations = 1;
    } else {
      answer =
          decode(problem, question, solver, answers.heads + place.words, workspace, interruption);
    }
    answers.scores[i] = answer.score;
    answers.bounds[i] = answer.bound;
    answers.certified[i] = answer.certified ? 1 : 0;
    answers.iterations[i] = answer.iterations;
  };
  for_each_by_cost(costs, threads, job);
}

DualTrace trace_dual(const PartBatch& parts, const PartScores& scores, Index sentence,
                     const TreeQuestion& question, Interruption& interruption) {
  const PartScores own = scores.of(parts.place(sentence));
  const StepTables steps(parts[sentence], own);
  std::vector<std::int32_t> heads(static_cast<std::size_t>(parts[sentence].n_words()));
  Workspace workspace;
  DualTrace trace;
  const LevelArcs level(steps.parts(), own.arcs);
  DualDecomposition dual(steps, level.scores(), question);
  dual.solve(heads.data(), workspace, interruption, &trace);
  for (double& value : trace.duals) value += level.taken();
  for (double& value : trace.primals) value += level.taken();
  return trace;
}

}  // namespace arbora::inference
