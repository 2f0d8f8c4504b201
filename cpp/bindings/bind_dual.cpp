// Decoding by dual decomposition. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "arbora/inference/decode_parts.hpp"
#include "arrays.hpp"
#include "interrupts.hpp"
#include "part_arrays.hpp"

namespace arbora::bindings {

namespace {

using Floats = Input<double>;
using Ints = Input<std::int64_t>;

// Automata with states, as AutomatonList takes them: sides, states, numbers.
using Automata = std::tuple<Ints, Ints, Floats>;

// Where answers go: heads, scores, bounds, certificates, iterations.
using Answers = std::tuple<InOut<std::int32_t>, InOut<double>, InOut<double>, InOut<std::uint8_t>,
                           InOut<std::int64_t>>;

DualAnswers checked(const PartBatch& parts, const Answers& answers) {
  const auto& [heads, scores, bounds, certified, iterations] = answers;
  check_count(heads.size(), parts.place(parts.size()).words, "heads");
  check_count(scores.size(), parts.size(), "scores");
  check_count(bounds.size(), parts.size(), "bounds");
  check_count(certified.size(), parts.size(), "certified");
  check_count(iterations.size(), parts.size(), "iterations");
  return {heads.data(), scores.data(), bounds.data(), certified.data(), iterations.data()};
}

void decode(const PartBatch& parts, const PartInput& tables, const Automata& given,
            const TreeQuestion& question, int solver, const Answers& answers, int threads) {
  const auto values = part_scores(parts, tables);
  const auto& [sides, states, numbers] = given;
  check_count(states.size(), static_cast<Index>(sides.size()), "states");
  if (solver < 0 || solver > 3) throw nb::index_error("no such solver");
  const AutomatonList automata{{sides.data(), sides.size()},
                               {states.data(), states.size()},
                               {numbers.data(), numbers.size()}};
  const DualAnswers found = checked(parts, answers);
  run_polling([&](Interruption& interruption) {
    batch_decode(parts, values, automata, question, static_cast<Solver>(solver), found, threads,
                 interruption);
  });
}

std::tuple<Output<std::int32_t>, Output<double>, Output<double>> trace(
    const PartBatch& parts, const PartInput& tables, Index sentence, const TreeQuestion& question) {
  const auto values = part_scores(parts, tables);
  if (sentence < 0 || sentence >= parts.size()) throw nb::index_error("no such sentence");
  DualTrace found = run_polling([&](Interruption& interruption) {
    return trace_dual(parts, values, sentence, question, interruption);
  });
  return {to_array(std::move(found.recomputed)), to_array(std::move(found.duals)),
          to_array(std::move(found.primals))};
}

}  // namespace

void bind_dual(nb::module_& module) {
  nb::class_<TreeQuestion>(module, "TreeQuestion", "What dual decomposition is asked.")
      .def(
          "__init__",
          [](TreeQuestion* self, bool projective, bool multi_root, Index max_iterations, bool lazy,
             double seconds, double tree_share) {
            new (self) TreeQuestion{trees_of(projective),
                                    root_of(multi_root),
                                    max_iterations,
                                    lazy,
                                    seconds,
                                    tree_share};
          },
          nb::kw_only(), "projective"_a, "multi_root"_a, "max_iterations"_a, "lazy"_a = true,
          "seconds"_a = kInfinity, "tree_share"_a = 0.001);
  module.def("decode_dual", &decode, "parts"_a, "scores"_a, "automata"_a, "question"_a, "solver"_a,
             "answers"_a.noconvert(), "threads"_a,
             "The best trees by dual decomposition, with their certificates.");
  module.def("trace_dual", &trace, "parts"_a, "scores"_a, "sentence"_a, "question"_a,
             "Automata run, dual value and best score in every iteration of the subgradient.");
}

}  // namespace arbora::bindings
