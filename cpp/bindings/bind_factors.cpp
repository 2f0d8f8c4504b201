// Single factors of belief propagation. No arithmetic here.
#include <nanobind/nanobind.h>

#include "arbora/inference/factors.hpp"
#include "arrays.hpp"
#include "flags.hpp"
#include "part_arrays.hpp"

namespace arbora::bindings {
namespace {

void check(const Factor& factor, const Input<double>& scores, const Input<double>& incoming) {
  check_count(scores.size(), factor.n_scores(), "scores");
  check_count(incoming.size(), factor.n_variables(), "incoming");
}

double log_partition(Factor& factor, Input<double> scores, Input<double> incoming) {
  check(factor, scores, incoming);
  return factor.log_partition(scores.data(), incoming.data());
}

void messages(Factor& factor, Input<double> scores, Input<double> incoming,
              InOut<double> outgoing) {
  check(factor, scores, incoming);
  check_count(outgoing.size(), factor.n_variables(), "outgoing");
  factor.messages(scores.data(), incoming.data(), outgoing.data());
}

void pullback(Factor& factor, Input<double> scores, Input<double> incoming,
              Input<double> d_outgoing, InOut<double> d_incoming, InOut<double> d_scores) {
  check(factor, scores, incoming);
  check_count(d_outgoing.size(), factor.n_variables(), "d_outgoing");
  check_count(d_incoming.size(), factor.n_variables(), "d_incoming");
  check_count(d_scores.size(), factor.n_scores(), "d_scores");
  factor.pullback(scores.data(), incoming.data(), d_outgoing.data(), d_incoming.data(),
                  d_scores.data());
}

void make_tree(TreeFactorOfGraph* place, Index n_words, Input<std::int32_t> heads,
               Input<std::int32_t> modifiers, bool projective, bool multi_root) {
  check_count(modifiers.size(), static_cast<Index>(heads.size()), "modifiers");
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const bool inside = heads.data()[i] >= 0 && heads.data()[i] <= n_words &&
                        modifiers.data()[i] >= 1 && modifiers.data()[i] <= n_words;
    if (!inside) throw nb::index_error("no such arc");
  }
  new (place)
      TreeFactorOfGraph(n_words, {heads.data(), heads.size()}, {modifiers.data(), modifiers.size()},
                        trees_of(projective), root_of(multi_root));
}

}  // namespace

void bind_factors(nb::module_& module) {
  nb::class_<Factor>(module, "Factor")
      .def_prop_ro("n_variables", &Factor::n_variables)
      .def_prop_ro("n_scores", &Factor::n_scores)
      .def("log_partition", &log_partition, "scores"_a, "incoming"_a)
      .def("messages", &messages, "scores"_a, "incoming"_a, "outgoing"_a.noconvert())
      .def("pullback", &pullback, "scores"_a, "incoming"_a, "d_outgoing"_a,
           "d_incoming"_a.noconvert(), "d_scores"_a.noconvert());
  nb::class_<TableFactor, Factor>(module, "TableFactor").def(nb::init<Index>(), "n_variables"_a);
  nb::class_<PairFactor, Factor>(module, "PairFactor").def(nb::init<>());
  nb::class_<OneFactor, Factor>(module, "OneFactor")
      .def(nb::init<Index, bool>(), "n_variables"_a, "at_most"_a);
  nb::class_<WalkFactor, Factor>(module, "WalkFactor")
      .def(nb::init<Index, Index, Index>(), "left"_a, "right"_a, "links"_a);
  nb::class_<TreeFactorOfGraph, Factor>(module, "TreeFactor")
      .def("__init__", &make_tree, "n_words"_a, "heads"_a, "modifiers"_a, "projective"_a,
           "multi_root"_a);
}

}  // namespace arbora::bindings
