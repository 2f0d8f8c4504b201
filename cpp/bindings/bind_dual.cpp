// Decoding by dual decomposition. No arithmetic here.
#include <nanobind/nanobind.h>

#include "arbora/inference/dual_decomposition.hpp"
#include "arrays.hpp"
#include "part_arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using arbora::Index;
using arbora::PartBatch;
using arbora::border::check_count;
using arbora::border::InOut;
using arbora::border::Input;
using Floats = Input<double>;

// Runs a computation without the interpreter's lock; a signal such as Ctrl-C ends it.
template <class Job>
void run_interruptibly(const Job& job) {
  try {
    nb::gil_scoped_release release;
    arbora::Interruption interruption([] {
      nb::gil_scoped_acquire acquire;
      return PyErr_CheckSignals() != 0;
    });
    job(interruption);
  } catch (const arbora::Interrupted&) {
    throw nb::python_error();  // what the signal's handler raised
  }
}

void decode(const PartBatch& parts, Floats arcs, Floats consecutive, Floats siblings,
            Floats grandparents, Floats grandsiblings, bool projective, bool multi,
            Index max_iterations, bool lazy, InOut<std::int32_t> heads, InOut<double> scores,
            InOut<double> bounds, InOut<std::uint8_t> certified, InOut<std::int64_t> iterations,
            int threads) {
  const auto values =
      arbora::border::part_scores(parts, arcs, consecutive, siblings, grandparents, grandsiblings);
  check_count(heads.size(), parts.place(parts.size()).words, "heads");
  check_count(scores.size(), parts.size(), "scores");
  check_count(bounds.size(), parts.size(), "bounds");
  check_count(certified.size(), parts.size(), "certified");
  check_count(iterations.size(), parts.size(), "iterations");
  const arbora::TreeQuestion question{
      projective ? arbora::Trees::projective : arbora::Trees::nonprojective,
      multi ? arbora::Root::multi : arbora::Root::single, max_iterations, lazy};
  const arbora::DualAnswers answers{heads.data(), scores.data(), bounds.data(), certified.data(),
                                    iterations.data()};
  run_interruptibly([&](arbora::Interruption& interruption) {
    arbora::batch_decode(parts, values, question, answers, threads, interruption);
  });
}

}  // namespace

void bind_dual(nb::module_& module) {
  module.def("decode_dual", &decode, "parts"_a, "arcs"_a, "consecutive"_a, "siblings"_a,
             "grandparents"_a, "grandsiblings"_a, "projective"_a, "multi"_a, "max_iterations"_a,
             "lazy"_a, "heads"_a.noconvert(), "scores"_a.noconvert(), "bounds"_a.noconvert(),
             "certified"_a.noconvert(), "iterations"_a.noconvert(), "threads"_a,
             "The best trees by dual decomposition, with their certificates.");
}
