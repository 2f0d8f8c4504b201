// Types and constants of all layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "arbora/layers.hpp"

namespace arbora::base {

using Index = std::int64_t;

// Index to a subscript of the standard containers.
constexpr std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// How many modifiers the root symbol takes: exactly one, or at least one.
enum class Root : int { single = 0, multi = 1 };

// Which trees: all spanning trees, or those without crossing arcs.
enum class Trees : int { nonprojective = 0, projective = 1 };

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A forbidden arc; exact, never an approximation by a large negative number.
inline constexpr double kForbidden = -kInfinity;

}  // namespace arbora::base
