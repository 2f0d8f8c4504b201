// Work that takes long and that Ctrl-C ends. Python hears of signals on its main thread only:
// either the work polls for them there, or it goes to another thread and the caller's waits for
// either.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <future>
#include <system_error>

#include "arbora/base/interruption.hpp"

namespace arbora::border {

// Calls job(stop) without the GIL; when an interrupt sets `stop`, the job is to return soon, and
// Python's exception is thrown. A job that does not take long is not worth a thread.
template <class Job>
void run_interruptibly(bool takes_long, const Job& job) {
  constexpr std::chrono::milliseconds kEvery{50};
  std::atomic<bool> stop{false};
  const nanobind::gil_scoped_release release;
  if (!takes_long) return job(stop);
  std::future<void> work;
  try {
    work = std::async(std::launch::async, [&] { job(stop); });
  } catch (const std::system_error&) {  // no thread to be had: then nothing can interrupt it
    return job(stop);
  }
  while (work.wait_for(kEvery) != std::future_status::ready) {
    const nanobind::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) continue;
    nanobind::python_error interrupt;
    stop = true;
    {
      const nanobind::gil_scoped_release while_it_ends;
      work.wait();
    }
    throw interrupt;
  }
  work.get();
}

// Calls job(interruption) without the GIL, for jobs that poll: no other thread is needed.
template <class Job>
auto run_polling(const Job& job) {
  try {
    const nanobind::gil_scoped_release release;
    Interruption interruption([] {
      const nanobind::gil_scoped_acquire acquire;
      return PyErr_CheckSignals() != 0;
    });
    return job(interruption);
  } catch (const Interrupted&) {
    throw nanobind::python_error();  // what the signal's handler raised
  }
}

}  // namespace arbora::border
