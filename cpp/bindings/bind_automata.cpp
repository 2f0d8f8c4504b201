// Second-order decoding by head automata. No arithmetic here.
#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>

#include "arbora/inference/head_automata.hpp"
#include "arrays.hpp"
#include "part_arrays.hpp"

namespace arbora::bindings {
namespace {

// Best walks of all heads, or sums over walks, by kernel.
template <auto Kernel>
void over_walks(const PartBatch& parts, Floats arcs, Floats consecutive, Floats siblings,
                Floats grandparents, Floats grandsiblings, FloatAnswer d_arcs,
                FloatAnswer d_consecutive, FloatAnswer d_siblings, FloatAnswer d_grandparents,
                FloatAnswer d_grandsiblings, FloatAnswer values, int threads) {
  const auto scores = part_scores(parts, arcs, consecutive, siblings, grandparents, grandsiblings);
  const auto answer =
      part_values(parts, d_arcs, d_consecutive, d_siblings, d_grandparents, d_grandsiblings);
  check_count(values.size(), parts.size(), "values");
  nb::gil_scoped_release release;
  Kernel(parts, scores, answer, values.data(), threads);
}

void tree_parts(const PartBatch& parts, Floats arcs, Floats consecutive, Floats siblings,
                Floats grandparents, Floats grandsiblings, FloatAnswer d_arcs,
                FloatAnswer d_consecutive, FloatAnswer d_siblings, FloatAnswer d_grandparents,
                FloatAnswer d_grandsiblings, FloatAnswer values, int threads,
                Input<std::int32_t> heads, double amount) {
  const auto scores = part_scores(parts, arcs, consecutive, siblings, grandparents, grandsiblings);
  const auto answer =
      part_values(parts, d_arcs, d_consecutive, d_siblings, d_grandparents, d_grandsiblings);
  check_count(values.size(), parts.size(), "values");
  check_count(heads.size(), parts.place(parts.size()).words, "heads");
  nb::gil_scoped_release release;
  inference::batch_tree_parts(parts, scores, heads.data(), amount, answer, values.data(), threads);
}

template <auto Kernel>
void bind_walks(nb::module_& module, const char* name, const char* doc) {
  module.def(name, &over_walks<Kernel>, "parts"_a, "arcs"_a, "consecutive"_a, "siblings"_a,
             "grandparents"_a, "grandsiblings"_a, "d_arcs"_a.noconvert(),
             "d_consecutive"_a.noconvert(), "d_siblings"_a.noconvert(),
             "d_grandparents"_a.noconvert(), "d_grandsiblings"_a.noconvert(),
             "values"_a.noconvert(), "threads"_a, doc);
}

}  // namespace

void bind_automata(nb::module_& module) {
  bind_walks<&inference::batch_best_walks>(
      module, "best_walks",
      "Adds 1 to every part of the best walks of all heads; values are their scores.");
  bind_walks<&inference::batch_best_choices>(
      module, "best_choices", "The same where every word also chooses its own head.");
  bind_walks<&inference::batch_walk_sums>(
      module, "walk_sums",
      "Adds the expected counts of parts over all walks; values are log sums.");
  module.def("tree_parts", &tree_parts, "parts"_a, "arcs"_a, "consecutive"_a, "siblings"_a,
             "grandparents"_a, "grandsiblings"_a, "d_arcs"_a.noconvert(),
             "d_consecutive"_a.noconvert(), "d_siblings"_a.noconvert(),
             "d_grandparents"_a.noconvert(), "d_grandsiblings"_a.noconvert(),
             "values"_a.noconvert(), "threads"_a, "heads"_a, "amount"_a,
             "Adds an amount to every part of the given trees; values are the trees' scores.");
}

}  // namespace arbora::bindings
