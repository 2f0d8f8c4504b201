// The only place that says what an array at the border looks like: C-contiguous, on the CPU.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>

namespace arbora::border {

namespace nb = nanobind;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// A new NumPy array that owns its memory, which is left as it comes.
template <class T>
struct Fresh {
  explicit Fresh(std::size_t count) : size(count), owner(new T[count]), data(owner.get()) {}

  Output<T> release() {
    nb::capsule guard(owner.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
    owner.release();
    return Output<T>(data, {size}, guard);
  }

  std::size_t size;
  std::unique_ptr<T[]> owner;
  T* data;
};

}  // namespace arbora::border
