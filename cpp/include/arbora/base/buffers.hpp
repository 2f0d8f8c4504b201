// A pool of memory for large answers. Touching a fresh page costs more than computing its contents,
// and programs often compute answers of the same size in a loop.
#pragma once

#include <cstddef>

#include "arbora/layers.hpp"

namespace arbora::base {

// Uninitialised memory for `count` doubles, from the pool if a block fits.
double* acquire_buffer(std::size_t count);

// Returns it to the pool, which keeps at most 128 MB.
void release_buffer(double* buffer) noexcept;

}  // namespace arbora::base
