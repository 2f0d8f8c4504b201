// The parts of sentences and their positions. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>
#include <vector>

#include "arbora/tree/feasibility.hpp"
#include "arbora/tree/part_kinds.hpp"
#include "arrays.hpp"

namespace arbora::bindings {

namespace {

// The sentence, or an error instead of memory that is not ours.
const PartIndex& sentence_of(const PartBatch& parts, Index sentence) {
  if (sentence < 0 || sentence >= parts.size()) throw nb::index_error("no such sentence");
  return parts[sentence];
}

PartKind kind_of(std::size_t kind) {
  if (kind >= kPartKinds) throw nb::index_error("no such kind of parts");
  return static_cast<PartKind>(kind);
}

Index first_of(const PartBatch& parts, std::size_t kind, Index sentence) {
  if (sentence < 0 || sentence > parts.size()) throw nb::index_error("no such sentence");
  return parts.place(sentence)[kind_of(kind)];
}

Output<std::int64_t> numbers(const PartBatch& parts, std::size_t kind, Index sentence,
                             Input<std::int64_t> columns) {
  const PartIndex& index = sentence_of(parts, sentence);
  const PartLayout& layout = layout_of(kind_of(kind));
  const auto width = static_cast<std::size_t>(layout.columns);
  std::vector<std::int64_t> found(columns.size() / width);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = layout.number(index, columns.data() + i * width);
  }
  return to_array(std::move(found));
}

Output<std::int64_t> listed(const PartBatch& parts, std::size_t kind, Index sentence) {
  const PartIndex& index = sentence_of(parts, sentence);
  const Index rows = first_of(parts, kind, sentence + 1) - first_of(parts, kind, sentence);
  const PartLayout& layout = layout_of(kind_of(kind));
  std::vector<std::int64_t> columns(static_cast<std::size_t>(rows * layout.columns));
  if (rows > 0) layout.list(index, columns.data());
  return to_array(std::move(columns));
}

Output<std::int64_t> of_tree(const PartBatch& parts, std::size_t kind, Index sentence,
                             Input<std::int32_t> heads) {
  const PartIndex& index = sentence_of(parts, sentence);
  if (static_cast<Index>(heads.size()) != index.n_words()) {
    throw std::invalid_argument("heads has the wrong size");
  }
  std::vector<Index> found;
  if (!parts_of_tree(index, kind_of(kind), heads.data(), found)) {
    throw std::invalid_argument("an arc of the tree is not kept");
  }
  return to_array(std::vector<std::int64_t>(found.begin(), found.end()));
}

PartBatch part_batch(Input<std::uint8_t> kept, Input<std::int64_t> n_words,
                     const std::vector<std::size_t>& kinds, int threads) {
  std::size_t cells = 0;
  for (std::size_t i = 0; i < n_words.size(); ++i) {
    const auto side = static_cast<std::size_t>(n_words.data()[i] + 1);
    cells += side * side;
  }
  if (kept.size() != cells) throw std::invalid_argument("kept has the wrong size");
  PartKinds given;
  for (const std::size_t kind : kinds) given.given[kind_of(kind)] = true;
  nb::gil_scoped_release release;
  return PartBatch(kept.data(), {n_words.data(), n_words.size()}, given, threads);
}

// Why there is no tree of any class, and which word shows it; (0, 0) if there is one.
std::tuple<int, Index> problem(Input<double> arcs, Index n_words) {
  if (static_cast<Index>(arcs.size()) != (n_words + 1) * (n_words + 1)) {
    throw std::invalid_argument("arcs has the wrong size");
  }
  const Verdict verdict = feasibility({arcs.data(), n_words}, Trees::nonprojective, Root::multi);
  return {static_cast<int>(verdict.problem), verdict.word};
}

}  // namespace

void bind_parts(nb::module_& module) {
  module.attr("LARGEST_SCORE") = kLargestScore;
  nb::class_<PartBatch>(module, "PartBatch", "The parts of second order of many sentences.")
      .def("__len__", &PartBatch::size)
      .def("first", &first_of, "kind"_a, "sentence"_a,
           "Where a sentence's parts of a kind begin; for the sentence after the last, the end.")
      .def("numbers", &numbers, "kind"_a, "sentence"_a, "columns"_a,
           "The number of each part in its kind's table, or what is wrong with it.")
      .def("listed", &listed, "kind"_a, "sentence"_a, "All parts of a kind, as columns.")
      .def("of_tree", &of_tree, "kind"_a, "sentence"_a, "heads"_a,
           "The numbers of the parts that a tree has.");
  module.def("part_batch", &part_batch, "kept"_a, "n_words"_a, "kinds"_a, "threads"_a,
             "All parts of the given kinds over the kept arcs.");
  module.def("problem", &problem, "arcs"_a, "n_words"_a,
             "Why the arcs hold no tree, and the word that shows it.");
}

}  // namespace arbora::bindings
