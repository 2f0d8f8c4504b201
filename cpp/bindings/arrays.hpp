// Types of the arrays that cross the border to Python: C-contiguous, on the CPU.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arbora/base/types.hpp"

namespace arbora::bindings {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Floats = Input<double>;
using Ints = Input<std::int64_t>;
using Heads = Input<std::int32_t>;
using FloatAnswer = InOut<double>;
using IntAnswer = InOut<std::int32_t>;

inline void check_count(std::size_t size, std::size_t expected, const char* what) {
  if (size != expected) throw std::invalid_argument(std::string(what) + " has the wrong size");
}
inline void check_count(std::size_t size, Index expected, const char* what) {
  check_count(size, at(expected), what);
}

// A new NumPy array over the contents of a vector, for answers of unknown size.
template <class T>
using Output = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Output<T> to_array(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Output<T>(kept->data(), {kept->size()}, owner);
}

}  // namespace arbora::bindings
