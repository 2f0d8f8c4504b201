// Scores of second-order parts and their gradients. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>

#include "arbora/scoring/part_table.hpp"
#include "arrays.hpp"
#include "part_arrays.hpp"

namespace arbora::bindings {

namespace {

using Ints = Input<std::int64_t>;

// The selection, after checking that its sentences are those of the parts.
Selection select(const Encoded& encoded, const Ints& sentences, const PartBatch& parts,
                 int threads) {
  check_count(sentences.size(), parts.size(), "sentences");
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const std::int64_t s = sentences.data()[i];
    if (s < 0 || s >= encoded.sentences()) throw nb::index_error("no such sentence");
    if (encoded.words(s) != parts[static_cast<Index>(i)].n_words()) {
      throw std::invalid_argument("parts of another sentence");
    }
  }
  return {encoded, {sentences.data(), sentences.size()}, threads};
}

void check_model(const LinearModel& model, std::size_t weights) {
  if (model.rows) throw std::invalid_argument("parts have no outcomes");
  check_count(weights, static_cast<Index>(model.weights()), "weights");
}

template <class Weight>
void score_parts(const LinearModel& model, Input<Weight> weights, double scale,
                 const Encoded& encoded, Ints sentences, const PartBatch& parts,
                 Input<std::uint8_t> kept, const PartAnswer& answer, int threads) {
  const Selection selection = select(encoded, sentences, parts, threads);
  check_model(model, weights.size());
  check_count(kept.size(), parts.place(parts.size()).cells, "kept");
  const auto scores = part_values(parts, answer);
  nb::gil_scoped_release release;
  scoring::score_parts(model.arcs, weights.data(), scale, selection, parts, kept.data(), scores);
}

void expand_parts(const LinearModel& model, const Encoded& encoded, Ints sentences,
                  const PartBatch& parts, const PartInput& d_scores, Gradient& gradient,
                  int threads) {
  const Selection selection = select(encoded, sentences, parts, threads);
  check_model(model, gradient.weights());
  const auto d = part_scores(parts, d_scores);
  nb::gil_scoped_release release;
  scoring::expand_parts(model.arcs, selection, parts, d, gradient);
}

void part_norms(const LinearModel& model, const Encoded& encoded, Ints sentences,
                const PartBatch& parts, const PartInput& d_scores, InOut<double> norms,
                int threads) {
  const Selection selection = select(encoded, sentences, parts, threads);
  check_count(norms.size(), parts.size(), "norms");
  const auto d = part_scores(parts, d_scores);
  nb::gil_scoped_release release;
  scoring::part_norms(model.arcs, selection, parts, d, norms.data());
}

using Row = std::tuple<std::string, std::vector<std::string>, unsigned, double>;

template <class Weight>
std::vector<Row> explain_part(const LinearModel& model, Input<Weight> weights,
                              const data::Block& block, Index sentence, const FeatureSet& features,
                              const features::Clusters* clusters, const PartBatch& parts,
                              Index place, std::size_t kind, Index number) {
  check_model(model, weights.size());
  if (sentence < 0 || sentence >= block.sentences()) throw nb::index_error("no such sentence");
  if (place < 0 || place >= parts.size()) throw nb::index_error("no such sentence");
  if (parts[place].n_words() != block.words(sentence)) {
    throw std::invalid_argument("parts of another sentence");
  }
  if (kind >= kPartKinds) throw nb::index_error("no such kind of parts");
  const features::NamedSentence named(block, sentence, features.columns, clusters);
  std::vector<Row> rows;
  for (auto& entry : scoring::explain_part(model.arcs, weights.data(), named.view(), parts[place],
                                           static_cast<PartKind>(kind), number)) {
    rows.emplace_back(std::move(entry.name), std::move(entry.atoms), entry.variant, entry.value);
  }
  return rows;
}

template <class Weight>
void bind_scores(nb::module_& module) {
  module.def("explain_part", &explain_part<Weight>, "model"_a, "weights"_a.noconvert(), "block"_a,
             "sentence"_a, "features"_a, "clusters"_a.none(), "parts"_a, "place"_a, "kind"_a,
             "number"_a, "Template, atoms, variant and contribution of every feature of a part.");
  module.def("score_parts", &score_parts<Weight>, "model"_a, "weights"_a.noconvert(), "scale"_a,
             "encoded"_a, "sentences"_a, "parts"_a, "kept"_a, "scores"_a.noconvert(), "threads"_a);
}

}  // namespace

void bind_part_scoring(nb::module_& module) {
  bind_scores<float>(module);
  bind_scores<double>(module);
  module.def("expand_parts", &expand_parts, "model"_a, "encoded"_a, "sentences"_a, "parts"_a,
             "d_scores"_a, "gradient"_a, "threads"_a);
  module.def("part_norms", &part_norms, "model"_a, "encoded"_a, "sentences"_a, "parts"_a,
             "d_scores"_a, "norms"_a.noconvert(), "threads"_a);
}

}  // namespace arbora::bindings
