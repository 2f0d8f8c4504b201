// Flags of Python as the enumerations of the core.
#pragma once

#include "arbora/base/types.hpp"

namespace arbora::bindings {

inline Trees trees_of(bool projective) {
  return projective ? Trees::projective : Trees::nonprojective;
}
inline Root root_of(bool multi_root) { return multi_root ? Root::multi : Root::single; }

}  // namespace arbora::bindings
