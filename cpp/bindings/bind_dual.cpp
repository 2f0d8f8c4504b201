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

TreeQuestion question_of(bool projective, bool multi, Index max_iterations, bool lazy = true,
                         double seconds = kInfinity) {
  return {projective ? Trees::projective : Trees::nonprojective, multi ? Root::multi : Root::single,
          max_iterations, lazy, seconds};
}

void decode(const PartBatch& parts, Floats arcs, Floats consecutive, Floats siblings,
            Floats grandparents, Floats grandsiblings, Ints sides, Ints states, Floats numbers,
            bool projective, bool multi, Index max_iterations, int solver, bool lazy,
            double seconds, InOut<std::int32_t> heads, InOut<double> scores, InOut<double> bounds,
            InOut<std::uint8_t> certified, InOut<std::int64_t> iterations, int threads) {
  const auto values = part_scores(parts, arcs, consecutive, siblings, grandparents, grandsiblings);
  check_count(states.size(), static_cast<Index>(sides.size()), "states");
  check_count(heads.size(), parts.place(parts.size()).words, "heads");
  check_count(scores.size(), parts.size(), "scores");
  check_count(bounds.size(), parts.size(), "bounds");
  check_count(certified.size(), parts.size(), "certified");
  check_count(iterations.size(), parts.size(), "iterations");
  if (solver < 0 || solver > 3) throw nb::index_error("no such solver");
  const AutomatonList automata{{sides.data(), sides.size()},
                               {states.data(), states.size()},
                               {numbers.data(), numbers.size()}};
  const DualAnswers answers{heads.data(), scores.data(), bounds.data(), certified.data(),
                            iterations.data()};
  run_polling([&](Interruption& interruption) {
    inference::batch_decode(parts, values, automata,
                            question_of(projective, multi, max_iterations, lazy, seconds),
                            static_cast<Solver>(solver), answers, threads, interruption);
  });
}

std::tuple<Output<std::int32_t>, Output<double>, Output<double>> trace(
    const PartBatch& parts, Floats arcs, Floats consecutive, Floats siblings, Floats grandparents,
    Floats grandsiblings, Index sentence, bool projective, bool multi, Index max_iterations) {
  const auto values = part_scores(parts, arcs, consecutive, siblings, grandparents, grandsiblings);
  if (sentence < 0 || sentence >= parts.size()) throw nb::index_error("no such sentence");
  DualTrace found = run_polling([&](Interruption& interruption) {
    return inference::trace_dual(parts, values, sentence,
                                 question_of(projective, multi, max_iterations), interruption);
  });
  return {to_array(std::move(found.recomputed)), to_array(std::move(found.duals)),
          to_array(std::move(found.primals))};
}

}  // namespace

void bind_dual(nb::module_& module) {
  module.def("decode_dual", &decode, "parts"_a, "arcs"_a, "consecutive"_a, "siblings"_a,
             "grandparents"_a, "grandsiblings"_a, "sides"_a, "states"_a, "numbers"_a,
             "projective"_a, "multi"_a, "max_iterations"_a, "solver"_a, "lazy"_a, "seconds"_a,
             "heads"_a.noconvert(), "scores"_a.noconvert(), "bounds"_a.noconvert(),
             "certified"_a.noconvert(), "iterations"_a.noconvert(), "threads"_a,
             "The best trees by dual decomposition, with their certificates.");
  module.def("trace_dual", &trace, "parts"_a, "arcs"_a, "consecutive"_a, "siblings"_a,
             "grandparents"_a, "grandsiblings"_a, "sentence"_a, "projective"_a, "multi"_a,
             "max_iterations"_a,
             "Automata run, dual value and best score in every iteration of the subgradient.");
}

}  // namespace arbora::bindings
