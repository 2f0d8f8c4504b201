// Belief propagation over many sentences: arrays in, arrays out. No arithmetic here.
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "arbora/inference/loopy.hpp"
#include "arrays.hpp"
#include "interrupts.hpp"
#include "part_arrays.hpp"

namespace arbora::bindings {

namespace {

using FloatAnswer = InOut<double>;

Index sums(const PartBatch& parts, const PartInput& scores, const LoopySettings& settings,
           int threads, FloatAnswer log_partition, FloatAnswer residuals,
           const PartAnswer& beliefs) {
  check_count(log_partition.size(), parts.size(), "log_partition");
  check_count(residuals.size(), parts.size() * settings.iterations, "residuals");
  const auto values = part_scores(parts, scores);
  const auto answer = part_values(parts, beliefs);
  return run_polling([&](Interruption& interruption) {
    return loopy_sums({parts, values, settings, threads, interruption}, log_partition.data(),
                      residuals.data(), answer);
  });
}

// A tape with what it looks at.
struct Tape {
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  nb::object parts;
  PartInput scores;
  LoopyTape sentences;
};

Index arcs(nb::object owner, const PartInput& scores, const LoopySettings& settings, int threads,
           Tape* tape, FloatAnswer beliefs) {
  const auto& parts = nb::cast<const PartBatch&>(owner);
  check_count(beliefs.size(), parts.place(parts.size()).cells, "beliefs");
  const auto values = part_scores(parts, scores);
  if (tape != nullptr) tape->parts = owner, tape->scores = scores;
  return run_polling([&](Interruption& interruption) {
    return loopy_arcs({parts, values, settings, threads, interruption},
                      tape == nullptr ? nullptr : &tape->sentences, beliefs.data());
  });
}

// Without `of_parts`, only the beliefs of arcs have a gradient.
Index vjp(const PartBatch& parts, const PartInput& scores, const LoopySettings& settings,
          int threads, Tape* tape, const PartInput& d_beliefs, bool of_parts,
          const PartAnswer& d_scores) {
  const auto values = part_scores(parts, scores);
  auto direction = part_scores(parts, d_beliefs);
  if (!of_parts) direction = {direction.arcs, {}};
  const auto answer = part_values(parts, d_scores);
  if (tape != nullptr) check_count(tape->sentences.size(), parts.size(), "tape");
  return run_polling([&](Interruption& interruption) {
    return loopy_vjp({parts, values, settings, threads, interruption},
                     tape == nullptr ? nullptr : &tape->sentences, direction, answer);
  });
}

}  // namespace

// Calls return the first sentence without a tree, or -1.
void bind_loopy(nb::module_& module) {
  nb::class_<LoopySettings>(module, "LoopySettings", "Settings of belief propagation.")
      .def(
          "__init__",
          [](LoopySettings* self, bool projective, bool multi_root, Index iterations,
             double damping, bool parallel, bool grandparents_in_walks) {
            if (iterations < 1) throw std::invalid_argument("iterations");
            new (self) LoopySettings{
                trees_of(projective), root_of(multi_root), iterations, damping, parallel,
                grandparents_in_walks};
          },
          nb::kw_only(), "projective"_a, "multi_root"_a, "iterations"_a, "damping"_a, "parallel"_a,
          "grandparents_in_walks"_a);
  module.def("loopy_sums", &sums, "parts"_a, "scores"_a, "settings"_a, "threads"_a,
             "log_partition"_a.noconvert(), "residuals"_a.noconvert(), "beliefs"_a.noconvert(),
             "Beliefs, and the Bethe approximation of log Z.");
  nb::class_<Tape>(module, "LoopyTape", "What beliefs leave behind for their gradient.")
      .def(nb::init<>());
  module.def("loopy_arcs", &arcs, "parts"_a, "scores"_a, "settings"_a, "threads"_a, "tape"_a.none(),
             "beliefs"_a.noconvert(), "Beliefs of arcs alone.");
  module.def("loopy_vjp", &vjp, "parts"_a, "scores"_a, "settings"_a, "threads"_a, "tape"_a.none(),
             "d_beliefs"_a, "of_parts"_a, "d_scores"_a.noconvert(),
             "The gradient through the beliefs.");
}

}  // namespace arbora::bindings
