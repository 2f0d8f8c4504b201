// Belief propagation over many sentences: arrays in, arrays out. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arbora/inference/loopy.hpp"
#include "arrays.hpp"
#include "interrupts.hpp"
#include "part_arrays.hpp"

namespace arbora::bindings {

namespace {

using Floats = Input<double>;
using FloatAnswer = InOut<double>;

// Arcs and the tables of all kinds, as PackedParts has them.
using Given = std::tuple<Floats, Floats, Floats, Floats, Floats>;
using Answer = std::tuple<FloatAnswer, FloatAnswer, FloatAnswer, FloatAnswer, FloatAnswer>;
// Projective, multi-root, iterations, damping, parallel, grandparents in walks.
using Settings = std::tuple<bool, bool, Index, double, bool, bool>;

template <class Number, class Arrays>
PartValues<Number> values_of(const PartBatch& parts, const Arrays& arrays) {
  return std::apply([&](const auto&... tables) { return checked_values<Number>(parts, tables...); },
                    arrays);
}

LoopySettings settings_of(const Settings& given) {
  const auto [projective, multi_root, iterations, damping, parallel, in_walks] = given;
  if (iterations < 1) throw std::invalid_argument("iterations");
  return {projective ? Trees::projective : Trees::nonprojective,
          multi_root ? Root::multi : Root::single,
          iterations,
          damping,
          parallel,
          in_walks};
}

Index sums(const PartBatch& parts, Given scores, Settings given, int threads,
           FloatAnswer log_partition, FloatAnswer residuals, Answer beliefs) {
  const LoopySettings settings = settings_of(given);
  check_count(log_partition.size(), parts.size(), "log_partition");
  check_count(residuals.size(), parts.size() * settings.iterations, "residuals");
  const auto values = values_of<const double>(parts, scores);
  const auto answer = values_of<double>(parts, beliefs);
  return run_polling([&](Interruption& interruption) {
    return inference::loopy_sums({parts, values, settings, threads, interruption},
                                 log_partition.data(), residuals.data(), answer);
  });
}

// A tape with what it looks at.
struct Tape {
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  nb::object parts;
  Given scores;
  LoopyTape sentences;
};

Index arcs(nb::object owner, Given scores, Settings given, int threads, Tape* tape,
           FloatAnswer beliefs) {
  const auto& parts = nb::cast<const PartBatch&>(owner);
  const LoopySettings settings = settings_of(given);
  check_count(beliefs.size(), parts.place(parts.size()).cells, "beliefs");
  const auto values = values_of<const double>(parts, scores);
  if (tape != nullptr) tape->parts = owner, tape->scores = scores;
  return run_polling([&](Interruption& interruption) {
    return inference::loopy_arcs({parts, values, settings, threads, interruption},
                                 tape == nullptr ? nullptr : &tape->sentences, beliefs.data());
  });
}

// Without `of_parts`, only the beliefs of arcs have a gradient.
Index vjp(const PartBatch& parts, Given scores, Settings given, int threads, Tape* tape,
          Given d_beliefs, bool of_parts, Answer d_scores) {
  const LoopySettings settings = settings_of(given);
  const auto values = values_of<const double>(parts, scores);
  auto direction = values_of<const double>(parts, d_beliefs);
  if (!of_parts) direction = {direction.arcs};
  const auto answer = values_of<double>(parts, d_scores);
  if (tape != nullptr) check_count(tape->sentences.size(), parts.size(), "tape");
  return run_polling([&](Interruption& interruption) {
    return inference::loopy_vjp({parts, values, settings, threads, interruption},
                                tape == nullptr ? nullptr : &tape->sentences, direction, answer);
  });
}

}  // namespace

// Calls return the first sentence without a tree, or -1.
void bind_loopy(nb::module_& module) {
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
