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
void over_walks(const PartBatch& parts, const PartInput& scores, const PartAnswer& answer,
                FloatAnswer values, int threads) {
  const auto given = part_scores(parts, scores);
  const auto found = part_values(parts, answer);
  check_count(values.size(), parts.size(), "values");
  nb::gil_scoped_release release;
  Kernel(parts, given, found, values.data(), threads);
}

void tree_parts(const PartBatch& parts, const PartInput& scores, const PartAnswer& answer,
                FloatAnswer values, Input<std::int32_t> heads, Input<std::int64_t> counts,
                Input<double> amounts, int threads) {
  const auto given = part_scores(parts, scores);
  const auto found = part_values(parts, answer);
  check_count(counts.size(), parts.size(), "counts");
  Index trees = 0, words = 0;
  for (Index i = 0; i < parts.size(); ++i) {
    if (counts.data()[i] < 0) throw std::invalid_argument("counts must not be negative");
    trees += counts.data()[i];
    words += counts.data()[i] * parts[i].n_words();
  }
  check_count(values.size(), trees, "values");
  check_count(amounts.size(), trees, "amounts");
  check_count(heads.size(), words, "heads");
  nb::gil_scoped_release release;
  batch_tree_parts(parts, given, {heads.data(), counts.data(), amounts.data()}, found,
                   values.data(), threads);
}

template <auto Kernel>
void bind_walks(nb::module_& module, const char* name, const char* doc) {
  module.def(name, &over_walks<Kernel>, "parts"_a, "scores"_a, "answer"_a.noconvert(),
             "values"_a.noconvert(), "threads"_a, doc);
}

}  // namespace

void bind_automata(nb::module_& module) {
  bind_walks<&batch_best_walks>(
      module, "best_walks",
      "Adds 1 to every part of the best walks of all heads; values are their scores.");
  bind_walks<&batch_best_choices>(module, "best_choices",
                                  "The same where every word also chooses its own head.");
  bind_walks<&batch_walk_sums>(
      module, "walk_sums",
      "Adds the expected counts of parts over all walks; values are log sums.");
  module.def("tree_parts", &tree_parts, "parts"_a, "scores"_a, "answer"_a.noconvert(),
             "values"_a.noconvert(), "heads"_a, "counts"_a, "amounts"_a, "threads"_a,
             "Adds its amount to every part of a tree, of counts[i] trees of each sentence; values "
             "are the trees' scores.");
}

}  // namespace arbora::bindings
