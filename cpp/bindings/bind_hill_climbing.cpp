// Hill climbing over parts of second order. No arithmetic here.
#include <nanobind/nanobind.h>

#include "arbora/inference/hill_climbing.hpp"
#include "part_arrays.hpp"

namespace arbora::bindings {

namespace {

// Climbs from the given heads, if they are given; heads and scores are the answer.
void climb(const PartBatch& parts, const PartInput& tables, const ClimbOptions& options, bool given,
           InOut<std::int32_t> heads, InOut<double> score) {
  const PartScores scores = part_scores(parts, tables);
  check_count(heads.size(), parts.place(parts.size()).words, "heads");
  check_count(score.size(), parts.size(), "score");
  nb::gil_scoped_release release;
  batch_climb(parts, scores, options, given, heads.data(), score.data());
}

void head_changes(const PartBatch& parts, const PartInput& tables, bool projective, bool multi_root,
                  Index sentence, Input<std::int32_t> heads, InOut<double> gains) {
  const PartScores scores = part_scores(parts, tables);
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
  nb::class_<ClimbOptions>(module, "ClimbOptions")
      .def(
          "__init__",
          [](ClimbOptions* self, bool projective, bool multi_root, Index restarts, Index patience,
             std::uint64_t seed, int threads) {
            new (self) ClimbOptions{
                trees_of(projective), root_of(multi_root), restarts, patience, seed, threads};
          },
          nb::kw_only(), "projective"_a, "multi_root"_a, "restarts"_a, "patience"_a, "seed"_a,
          "threads"_a);
  module.def("climb", &climb, "parts"_a, "scores"_a, "options"_a, "given"_a, "heads"_a.noconvert(),
             "score"_a.noconvert(), "Heads and scores of the best trees that hill climbing finds.");
  module.def("head_changes", &head_changes, "parts"_a, "scores"_a, "projective"_a, "multi_root"_a,
             "sentence"_a, "heads"_a, "gains"_a.noconvert(),
             "What every change of one head of a tree gains.");
}

}  // namespace arbora::bindings
