// The extension module: one submodule per layer of the package, each imported by its layer alone.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_data(nb::module_& module);
void bind_inference(nb::module_& module);

NB_MODULE(_core, module) {
  module.doc() = "Compiled kernels; not part of the public interface.";
  nb::module_ data = module.def_submodule("data", "Sentences of CoNLL-U and CoNLL-X files.");
  bind_data(data);
  nb::module_ inference = module.def_submodule("inference", "Sums, best trees, samples.");
  bind_inference(inference);
}
