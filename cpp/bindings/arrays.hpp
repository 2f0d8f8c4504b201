// The only place that says what an array at the border looks like: C-contiguous, on the CPU.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "arbora/layers.hpp"

namespace arbora::bindings {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A new NumPy array over the contents of a vector, for answers whose size is not known before.
template <class T>
using Output = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Output<T> to_array(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Output<T>(kept->data(), {kept->size()}, owner);
}

}  // namespace arbora::bindings
