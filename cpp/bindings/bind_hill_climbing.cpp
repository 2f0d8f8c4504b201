// Hill climbing over parts of second order. No arithmetic here.
#include <nanobind/nanobind.h>

#include "arbora/inference/hill_climbing.hpp"
#include "part_arrays.hpp"

namespace arbora::bindings {

namespace {

using Floats = Input<double>;

Trees trees_of(bool projective) { return projective ? Trees::projective : Trees::nonprojective; }
Root root_of(bool multi) { return multi ? Root::multi : Root::single; }

void climb(const PartBatch& parts, Floats arcs, Floats consecutive, Floats siblings,
           Floats grandparents, Floats grandsiblings, bool projective, bool multi_root, int threads,
           Index restarts, Index patience, std::uint64_t seed, bool given,
           InOut<std::int32_t> heads, InOut<double> score) {
  const PartScores scores =
      part_scores(parts, arcs, consecutive, siblings, grandparents, grandsiblings);
  check_count(heads.size(), parts.place(parts.size()).words, "heads");
  check_count(score.size(), parts.size(), "score");
  const ClimbOptions options{
      trees_of(projective), root_of(multi_root), restarts, patience, seed, threads};
  nb::gil_scoped_release release;
  inference::batch_climb(parts, scores, options, given, heads.data(), score.data());
}

void head_changes(const PartBatch& parts, Floats arcs, Floats consecutive, Floats siblings,
                  Floats grandparents, Floats grandsiblings, bool projective, bool multi_root,
                  Index sentence, Input<std::int32_t> heads, InOut<double> gains) {
  const PartScores scores =
      part_scores(parts, arcs, consecutive, siblings, grandparents, grandsiblings);
  if (sentence < 0 || sentence >= parts.size()) throw nb::index_error("no such sentence");
  const Index n = parts[sentence].n_words();
  check_count(heads.size(), n, "heads");
  check_count(gains.size(), (n + 1) * (n + 1), "gains");
  nb::gil_scoped_release release;
  inference::head_changes(parts[sentence], scores.of(parts.place(sentence)), trees_of(projective),
                          root_of(multi_root), heads.data(), gains.data());
}

}  // namespace

void bind_hill_climbing(nb::module_& module) {
  module.def("climb", &climb, "parts"_a, "arcs"_a, "consecutive"_a, "siblings"_a, "grandparents"_a,
             "grandsiblings"_a, "projective"_a, "multi_root"_a, "threads"_a, "restarts"_a,
             "patience"_a, "seed"_a, "given"_a, "heads"_a.noconvert(), "score"_a.noconvert(),
             "Heads and scores of the best trees that hill climbing finds.");
  module.def("head_changes", &head_changes, "parts"_a, "arcs"_a, "consecutive"_a, "siblings"_a,
             "grandparents"_a, "grandsiblings"_a, "projective"_a, "multi_root"_a, "sentence"_a,
             "heads"_a, "gains"_a.noconvert(), "What every change of one head of a tree gains.");
}

}  // namespace arbora::bindings
