// The extension module: one submodule per layer of the package, each imported by its layer alone.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace arbora::bindings {

void bind_automata(nb::module_& module);
void bind_data(nb::module_& module);
void bind_dual(nb::module_& module);
void bind_factors(nb::module_& module);
void bind_features(nb::module_& module);
void bind_hill_climbing(nb::module_& module);
void bind_hypergraph(nb::module_& module);
void bind_inference(nb::module_& module);
void bind_learning(nb::module_& module);
void bind_lemmas(nb::module_& module);
void bind_loopy(nb::module_& module);
void bind_part_scoring(nb::module_& module);
void bind_parts(nb::module_& module);
void bind_scoring(nb::module_& module);
void bind_second_order(nb::module_& module);
void bind_segmentation(nb::module_& module);
void bind_tagging(nb::module_& module);

}  // namespace arbora::bindings

using namespace arbora::bindings;

NB_MODULE(_core, module) {
  nb::set_leak_warnings(false);  // objects that live as long as the interpreter are no leak
  module.doc() = "Compiled kernels; not part of the public interface.";
  nb::module_ data = module.def_submodule("data", "Sentences of CoNLL-U and CoNLL-X files.");
  bind_data(data);
  nb::module_ scores = module.def_submodule("scores", "Positions of the scores of parts.");
  bind_parts(scores);
  nb::module_ inference = module.def_submodule("inference", "Sums, best trees, samples.");
  bind_inference(inference);
  bind_automata(inference);
  bind_dual(inference);
  bind_factors(inference);
  bind_hill_climbing(inference);
  bind_hypergraph(inference);
  bind_loopy(inference);
  bind_second_order(inference);
  nb::module_ features = module.def_submodule("features", "Sentences as the templates see them.");
  bind_features(features);
  nb::module_ scoring = module.def_submodule("scoring", "Linear scores and their gradients.");
  bind_scoring(scoring);
  bind_part_scoring(scoring);
  nb::module_ segmentation = module.def_submodule("segmentation", "Text to words.");
  bind_segmentation(segmentation);
  nb::module_ tagging = module.def_submodule("tagging", "Tags and lemmas.");
  bind_tagging(tagging);
  bind_lemmas(tagging);
  nb::module_ learning = module.def_submodule("learning", "Steps of online learners.");
  bind_learning(learning);
}
