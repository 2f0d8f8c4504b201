// Steps of online learners. No arithmetic here.
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "arbora/learning/update.hpp"
#include "arrays.hpp"

namespace arbora::bindings {
namespace {

// `state` holds three numbers per weight: sum, squares, seen.
Weights view(FloatAnswer& values, FloatAnswer& state) {
  static_assert(sizeof(WeightState) == 3 * sizeof(double));
  check_count(state.size(), 3 * values.size(), "state");
  return {values.data(), reinterpret_cast<WeightState*>(state.data()), values.size()};
}

Weights view(const Gradient& gradient, FloatAnswer& values, FloatAnswer& state) {
  check_count(gradient.weights(), values.size(), "gradient");
  return view(values, state);
}

}  // namespace

void bind_learning(nb::module_& module) {
  module.def(
      "additive_update",
      [](Gradient& gradient, FloatAnswer values, FloatAnswer state, double rate, double clock,
         int threads) {
        const Weights weights = view(gradient, values, state);
        nb::gil_scoped_release release;
        learning::additive_update({rate, clock}, gradient, weights, threads);
      },
      "gradient"_a, "values"_a.noconvert(), "state"_a.noconvert(), "rate"_a, "clock"_a,
      "threads"_a);
  module.def(
      "additive_flush",
      [](FloatAnswer values, FloatAnswer state, double clock, int threads) {
        const Weights weights = view(values, state);
        nb::gil_scoped_release release;
        learning::additive_flush(clock, weights, threads);
      },
      "values"_a.noconvert(), "state"_a.noconvert(), "clock"_a, "threads"_a);
  module.def(
      "adagrad_update",
      [](Gradient& gradient, FloatAnswer values, FloatAnswer state, double rate, double delta,
         double decay, double step, int threads) {
        const Weights weights = view(gradient, values, state);
        nb::gil_scoped_release release;
        learning::adagrad_update({rate, delta, decay, step}, gradient, weights, threads);
      },
      "gradient"_a, "values"_a.noconvert(), "state"_a.noconvert(), "rate"_a, "delta"_a, "decay"_a,
      "step"_a, "threads"_a);
  module.def(
      "adagrad_flush",
      [](FloatAnswer values, FloatAnswer state, double rate, double delta, double decay,
         double step, int threads) {
        const Weights weights = view(values, state);
        nb::gil_scoped_release release;
        learning::adagrad_flush({rate, delta, decay, step}, weights, threads);
      },
      "values"_a.noconvert(), "state"_a.noconvert(), "rate"_a, "delta"_a, "decay"_a, "step"_a,
      "threads"_a);
  module.def(
      "add_gradient",
      [](Gradient& gradient, FloatAnswer dense, int threads) {
        check_count(gradient.weights(), dense.size(), "dense");
        nb::gil_scoped_release release;
        learning::add_gradient(gradient, dense.data(), threads);
      },
      "gradient"_a, "dense"_a.noconvert(), "threads"_a);
}

}  // namespace arbora::bindings
