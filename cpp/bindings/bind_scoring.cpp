// Scores of linear models and their gradients. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>

#include "arbora/scoring/explain.hpp"
#include "arbora/scoring/linear_model.hpp"
#include "arrays.hpp"

namespace arbora::bindings {
namespace {

using Lengths = Input<std::uint16_t>;

constexpr int kMaxBits = 30;

void check(bool fits, const char* what) {
  if (!fits) throw std::invalid_argument(std::string(what) + " does not fit");
}

struct Sizes {
  std::size_t words = 0, cells = 0;
};

// The selection, after checking that it names sentences that exist.
Selection select(const Encoded& encoded, const Ints& sentences, int threads, Sizes& sizes) {
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const std::int64_t s = sentences.data()[i];
    if (s < 0 || s >= encoded.sentences()) throw nb::index_error("no such sentence");
    const auto n = static_cast<std::size_t>(encoded.words(s));
    sizes.words += n;
    sizes.cells += (n + 1) * (n + 1);
  }
  return {encoded, {sentences.data(), sentences.size()}, threads};
}

// Heads of the selected words: -1 (unknown) or a node of the word's sentence.
void check_heads(const Selection& selection, const Heads& heads) {
  const std::int32_t* head = heads.data();
  for (const std::int64_t sentence : selection.sentences) {
    const Index n = selection.encoded.words(sentence);
    for (Index m = 0; m < n; ++m, ++head) check(*head >= -1 && *head <= n, "a head");
  }
}

template <class Weight>
void score(const LinearModel& model, Input<Weight> weights, double scale, Lengths filter,
           const Encoded& encoded, Ints sentences, Heads keep, InOut<double> scores, int threads) {
  Sizes sizes;
  const Selection selection = select(encoded, sentences, threads, sizes);
  check(weights.size() == model.weights(), "weights");
  check(filter.size() == 0 || filter.size() == ArcFilter::kSize, "filter");
  check(keep.size() == 0 || keep.size() == sizes.words, "keep");
  check(scores.size() == sizes.cells * static_cast<std::size_t>(model.width()), "scores");
  nb::gil_scoped_release release;
  scoring::score_sentences(model, weights.data(), scale, ArcFilter({filter.data(), filter.size()}),
                           selection, keep.size() == 0 ? nullptr : keep.data(), scores.data());
}

void expand(const LinearModel& model, const Encoded& encoded, Ints sentences, Floats d_scores,
            Gradient& gradient, int threads) {
  Sizes sizes;
  const Selection selection = select(encoded, sentences, threads, sizes);
  check(d_scores.size() == sizes.cells * static_cast<std::size_t>(model.width()), "d_scores");
  check(gradient.weights() == model.weights() && gradient.shape() == model.shape(), "gradient");
  nb::gil_scoped_release release;
  scoring::expand_sentences(model, selection, d_scores.data(), gradient);
}

std::size_t weights_of(const RowTable& table) {
  return static_cast<std::size_t>(table.width) << static_cast<unsigned>(table.bits);
}

template <class Weight>
void score_labels(const RowTable& table, Input<Weight> weights, double scale,
                  const Encoded& encoded, Ints sentences, Heads heads, InOut<double> scores,
                  int threads) {
  Sizes sizes;
  const Selection selection = select(encoded, sentences, threads, sizes);
  check(weights.size() == weights_of(table), "weights");
  check(heads.size() == sizes.words, "heads");
  check_heads(selection, heads);
  check(scores.size() == sizes.words * static_cast<std::size_t>(table.width), "scores");
  nb::gil_scoped_release release;
  scoring::score_labels(table, weights.data(), scale, selection, heads.data(), scores.data());
}

void expand_labels(const RowTable& table, const Encoded& encoded, Ints sentences, Heads heads,
                   Floats d_scores, Gradient& gradient, int threads) {
  Sizes sizes;
  const Selection selection = select(encoded, sentences, threads, sizes);
  check(heads.size() == sizes.words, "heads");
  check_heads(selection, heads);
  check(d_scores.size() == sizes.words * static_cast<std::size_t>(table.width), "d_scores");
  check(gradient.weights() == weights_of(table) && gradient.shape() == table.shape(), "gradient");
  nb::gil_scoped_release release;
  scoring::expand_labels(table, selection, heads.data(), d_scores.data(), gradient);
}

void inner_products(const LinearModel& model, const Encoded& encoded, Ints sentences,
                    Floats d_scores, Index count, InOut<double> products, int threads) {
  Sizes sizes;
  const Selection selection = select(encoded, sentences, threads, sizes);
  const auto k = static_cast<std::size_t>(count);
  check(d_scores.size() == sizes.cells * static_cast<std::size_t>(model.width()) * k, "d_scores");
  check(count >= 1 && products.size() == sentences.size() * k * k, "products");
  nb::gil_scoped_release release;
  scoring::inner_products(model, selection, d_scores.data(), count, products.data());
}

using Row = std::tuple<std::string, std::vector<std::string>, unsigned, bool, double>;

template <class Weight>
std::vector<Row> explain(const LinearModel& model, Input<Weight> weights, const data::Block& block,
                         Index sentence, const FeatureSet& features,
                         const features::Clusters* clusters, Index head, Index modifier,
                         Index outcome) {
  check(weights.size() == model.weights(), "weights");
  if (sentence < 0 || sentence >= block.sentences()) throw nb::index_error("no such sentence");
  const Index n = block.words(sentence);
  if (head < 0 || head > n || modifier < 1 || modifier > n || head == modifier) {
    throw nb::index_error("no such arc");
  }
  if (outcome < 0 || outcome >= model.width()) throw nb::index_error("no such outcome");
  const features::NamedSentence named(block, sentence, features.columns, clusters);
  std::vector<Row> rows;
  for (auto& entry :
       scoring::explain_arc(model, weights.data(), named.view(), head, modifier, outcome)) {
    rows.emplace_back(std::move(entry.name), std::move(entry.atoms), entry.variant,
                      entry.of_outcome, entry.value);
  }
  return rows;
}

LinearModel make_model(const FeatureSet& features, int bits, std::optional<RowTable> rows,
                       bool arcs_beside) {
  check(bits >= 4 && bits <= kMaxBits, "bits");
  check(arcs_beside || rows, "rows");
  LinearModel model{{features, bits}, rows, arcs_beside};
  if (rows) model.rows->offset = model.arc_weights();
  // Slots are 32 bits wide.
  check(model.weights() < (std::size_t{1} << 32U), "the number of weights");
  return model;
}

RowTable make_rows(const FeatureSet& features, int outcomes, int bits, Index width, bool variants) {
  // A twin's row is the feature's own XOR a variant below 16.
  check(bits >= (variants ? 4 : 1) && bits <= kMaxBits && width >= 1, "bits");
  check(outcomes >= 0 && outcomes <= static_cast<int>(Outcomes::soft), "outcomes");
  check(static_cast<std::size_t>(width) < (std::size_t{1} << static_cast<unsigned>(32 - bits)),
        "the number of weights");
  return {features, static_cast<Outcomes>(outcomes), bits, width, 0, variants};
}

template <class Weight>
void bind_scores(nb::module_& module) {
  module.def("score", &score<Weight>, "model"_a, "weights"_a.noconvert(), "scale"_a, "filter"_a,
             "encoded"_a, "sentences"_a, "keep"_a, "scores"_a.noconvert(), "threads"_a);
  module.def("score_labels", &score_labels<Weight>, "table"_a, "weights"_a.noconvert(), "scale"_a,
             "encoded"_a, "sentences"_a, "heads"_a, "scores"_a.noconvert(), "threads"_a);
  module.def("explain", &explain<Weight>, "model"_a, "weights"_a.noconvert(), "block"_a,
             "sentence"_a, "features"_a, "clusters"_a.none(), "head"_a, "modifier"_a, "outcome"_a,
             "Template, atoms, variant, whether it is of the outcome, and contribution of every "
             "feature of an arc.");
}

}  // namespace

void bind_scoring(nb::module_& module) {
  nb::class_<RowTable>(module, "RowTable")
      .def_prop_ro("weights", &weights_of)
      .def_ro("width", &RowTable::width);
  module.def("make_rows", &make_rows, "features"_a, "outcomes"_a, "bits"_a, "width"_a,
             "variants"_a);
  nb::class_<LinearModel>(module, "LinearModel")
      .def_prop_ro("weights", &LinearModel::weights)
      .def_prop_ro("arc_weights", &LinearModel::arc_weights)
      .def_prop_ro("width", &LinearModel::width);
  module.def("make_model", &make_model, "features"_a, "bits"_a, "rows"_a.none(), "arcs_beside"_a);
  nb::class_<Gradient>(module, "Gradient",
                       "The gradient of a table of weights: only the entries that are not zero.")
      .def(
          "__init__",
          [](Gradient* self, const LinearModel& model) {
            new (self) Gradient(model.weights(), model.shape());
          },
          "model"_a)
      .def(
          "__init__",
          [](Gradient* self, const RowTable& table) {
            new (self) Gradient(weights_of(table), table.shape());
          },
          "table"_a)
      .def_prop_ro("weights", &Gradient::weights);
  bind_scores<float>(module);
  bind_scores<double>(module);
  module.def("expand", &expand, "model"_a, "encoded"_a, "sentences"_a, "d_scores"_a, "gradient"_a,
             "threads"_a);
  module.def("expand_labels", &expand_labels, "table"_a, "encoded"_a, "sentences"_a, "heads"_a,
             "d_scores"_a, "gradient"_a, "threads"_a);
  module.def("inner_products", &inner_products, "model"_a, "encoded"_a, "sentences"_a, "d_scores"_a,
             "count"_a, "products"_a.noconvert(), "threads"_a);
}

}  // namespace arbora::bindings
