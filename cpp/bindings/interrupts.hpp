// Long computations that Ctrl-C interrupts: they poll for signals, which Python handles on its main
// thread only.
#pragma once

#include <nanobind/nanobind.h>

#include <type_traits>

#include "arbora/base/interruption.hpp"

namespace arbora::bindings {

// Calls job(interruption), or job(), without the GIL; throws what the handler of a signal raises.
template <class Job>
auto run_polling(const Job& job) {
  try {
    const nanobind::gil_scoped_release release;
    Interruption interruption([] {
      const nanobind::gil_scoped_acquire acquire;
      return PyErr_CheckSignals() != 0;
    });
    if constexpr (std::is_invocable_v<Job, Interruption&>) {
      return job(interruption);
    } else {
      return job();
    }
  } catch (const Interrupted&) {
    throw nanobind::python_error();
  }
}

}  // namespace arbora::bindings
