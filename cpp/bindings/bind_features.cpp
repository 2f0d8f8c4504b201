// Sentences turned into atoms; the filter of arcs. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "arbora/features/arc_filter.hpp"
#include "arbora/features/arc_templates.hpp"
#include "arbora/features/feature_counts.hpp"
#include "arrays.hpp"

namespace arbora::bindings {
namespace {

Clusters make_clusters(const std::vector<std::tuple<std::string, std::string, float>>& rows,
                       bool any_case) {
  Clusters clusters;
  clusters.any_case = any_case;
  for (const auto& [form, cluster, share] : rows)
    clusters.add(form, clusters.number_of(cluster), share);
  clusters.finish();
  return clusters;
}

// Lines of a cluster and its forms, separated by tabs.
Clusters read_clusters(const nb::bytes& given, bool any_case) {
  Clusters clusters;
  clusters.any_case = any_case;
  std::string_view text(given.c_str(), given.size());
  const auto next = [](std::string_view& rest, char end) {
    const std::string_view part = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    return part;
  };
  while (!text.empty()) {
    std::string_view line = next(text, '\n');
    const std::uint32_t cluster = clusters.number_of(next(line, '\t'));
    while (!line.empty()) clusters.add(next(line, '\t'), cluster, 1.0F);
  }
  clusters.finish();
  return clusters;
}

Output<std::int64_t> n_words(const Encoded& encoded) {
  std::vector<std::int64_t> counts;
  for (Index i = 0; i < encoded.sentences(); ++i) counts.push_back(encoded.words(i));
  return to_array(std::move(counts));
}

void learn_filter(const Encoded& encoded, Input<std::int32_t> heads, InOut<std::uint16_t> lengths) {
  check_count(lengths.size(), ArcFilter::kSize, "lengths");
  std::size_t first = 0;
  for (Index i = 0; i < encoded.sentences(); ++i) {
    const auto n = static_cast<std::size_t>(encoded.words(i));
    if (first + n > heads.size()) throw std::invalid_argument("heads: wrong size");
    for (std::size_t m = first; m < first + n; ++m) {
      const std::int32_t head = heads.data()[m];
      if (head < -1 || head > static_cast<std::int32_t>(n)) {
        throw std::invalid_argument("a head is out of range");
      }
    }
    ArcFilter::learn(encoded[i], heads.data() + first, {lengths.data(), lengths.size()});
    first += n;
  }
  if (first != heads.size()) throw std::invalid_argument("heads: wrong size");
}

std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> count_features(
    const FeatureSet& features, const Encoded& encoded, Input<std::int32_t> heads,
    std::int64_t sample) {
  std::size_t words = 0;
  for (Index i = 0; i < encoded.sentences(); ++i)
    words += static_cast<std::size_t>(encoded.words(i));
  if (heads.size() != 0 && heads.size() != words) throw std::invalid_argument("heads: wrong size");
  if (sample < 1) throw std::invalid_argument("sample: at least 1");
  std::vector<features::FeatureCount> counts;
  {
    nb::gil_scoped_release release;
    counts = features::count_features(features, encoded, heads.size() == 0 ? nullptr : heads.data(),
                                      static_cast<std::uint64_t>(sample));
  }
  std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> rows;
  for (const auto& count : counts) rows.emplace_back(count.name, count.plain, count.twins);
  return rows;
}

}  // namespace

void bind_features(nb::module_& module) {
  module.attr("FILTER_SIZE") = ArcFilter::kSize;

  nb::class_<Clusters>(module, "Clusters");
  module.def("make_clusters", &make_clusters, "rows"_a, "any_case"_a);
  module.def("read_clusters", &read_clusters, "text"_a, "any_case"_a,
             "Clusters from lines of a cluster and its forms, separated by tabs.");

  nb::class_<FeatureSet>(module, "FeatureSet")
      .def(
          "__init__",
          [](FeatureSet* self, int templates, bool lemma, bool upos, bool xpos, bool feats,
             bool wide_clusters) {
            if (templates < 0 || templates >= features::kTemplateSets) {
              throw std::invalid_argument("no such templates");
            }
            new (self) FeatureSet{
                static_cast<TemplateSet>(templates), {lemma, upos, xpos, feats}, wide_clusters};
          },
          "templates"_a, "lemma"_a, "upos"_a, "xpos"_a, "feats"_a, "wide_clusters"_a);

  nb::class_<Encoded>(module, "Encoded")
      .def(
          "__init__",
          [](Encoded* self, const Block& block, Input<std::int64_t> sentences,
             const FeatureSet& features, const Clusters* clusters) {
            for (std::size_t i = 0; i < sentences.size(); ++i) {
              if (sentences.data()[i] < 0 || sentences.data()[i] >= block.sentences()) {
                throw nb::index_error("no such sentence");
              }
            }
            nb::gil_scoped_release release;
            new (self)
                Encoded(block, {sentences.data(), sentences.size()}, features.columns, clusters);
          },
          "block"_a, "sentences"_a, "features"_a, "clusters"_a.none())
      .def("n_words", &n_words)
      .def("hiding", &Encoded::hiding, "amount"_a, "seed"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def("__len__", &Encoded::sentences);

  module.def("learn_filter", &learn_filter, "encoded"_a, "heads"_a, "lengths"_a.noconvert(),
             "Widens the lengths of an arc filter so that the given trees pass.");
  module.def("count_features", &count_features, "features"_a, "encoded"_a, "heads"_a, "sample"_a,
             "Template, number of features, number of twins with direction and distance.");
}

}  // namespace arbora::bindings
