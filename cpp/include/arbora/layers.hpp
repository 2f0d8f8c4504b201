// Which layer sees which. Every folder of the core is a namespace, and a namespace sees the layers
// below it without qualification (tests/test_layers.py checks the includes in the same order):
//
//   learning -> scoring | inference | segmentation | tagging -> features -> tree -> data -> base
//
// A layer that names something of a higher layer, or of its sibling, does not compile.
#pragma once

namespace arbora {

namespace base {}

namespace data {
using namespace base;
}  // namespace data

namespace tree {
using namespace base;
using namespace data;
}  // namespace tree

namespace features {
using namespace base;
using namespace data;
using namespace tree;
}  // namespace features

namespace scoring {
using namespace base;
using namespace data;
using namespace tree;
using namespace features;
}  // namespace scoring

namespace inference {
using namespace base;
using namespace data;
using namespace tree;
using namespace features;
}  // namespace inference

namespace segmentation {
using namespace base;
using namespace data;
using namespace tree;
using namespace features;
}  // namespace segmentation

namespace tagging {
using namespace base;
using namespace data;
using namespace tree;
using namespace features;
}  // namespace tagging

namespace learning {
using namespace base;
using namespace data;
using namespace tree;
using namespace features;
using namespace scoring;
using namespace inference;
using namespace segmentation;
using namespace tagging;
}  // namespace learning

// Above the core: they see every layer.
namespace bindings {
using namespace base;
using namespace data;
using namespace tree;
using namespace features;
using namespace scoring;
using namespace inference;
using namespace segmentation;
using namespace tagging;
using namespace learning;
}  // namespace bindings

namespace tests {
using namespace base;
using namespace data;
using namespace tree;
using namespace features;
using namespace scoring;
using namespace inference;
using namespace segmentation;
using namespace tagging;
using namespace learning;
}  // namespace tests

}  // namespace arbora
