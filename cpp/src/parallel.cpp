#include "arbora/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace arbora {
namespace {

// Starting a thread costs about as much as this many floating-point operations.
constexpr double kWorkPerThread = 2e5;

}  // namespace

void for_each_sentence(Index count, int threads, double work, const SentenceJob& job) {
  const double worthwhile = std::max(1.0, work / kWorkPerThread);
  const auto workers = static_cast<int>(
      std::min({static_cast<double>(threads), static_cast<double>(count), worthwhile}));

  std::atomic<Index> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto drain = [&] {
    Workspace workspace;
    try {
      for (Index i = next++; i < count; i = next++) {
        workspace.reset();
        job(i, workspace);
      }
    } catch (...) {
      const std::lock_guard<std::mutex> guard(failure_lock);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };

  std::vector<std::thread> helpers;
  try {
    for (int i = 1; i < workers; ++i) helpers.emplace_back(drain);
  } catch (const std::system_error&) {
    // No more threads to be had: those that started, and this one, do the work.
  }
  drain();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace arbora
