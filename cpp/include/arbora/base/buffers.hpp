// Memory for large answers that is used again: a fresh page costs more than what is computed for
// it, and programs that ask for answers in a loop throw them away as fast as they ask.
#pragma once

#include <cstddef>

#include "arbora/layers.hpp"

namespace arbora::base {

// Uninitialised room for `count` doubles, kept from an earlier answer if one fits.
double* take_buffer(std::size_t count);

// Gives it back; at most 128 MB are kept for later.
void give_buffer(double* buffer) noexcept;

}  // namespace arbora::base
