#include "arbora/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "arbora/base/interruption.hpp"

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

namespace arbora::base {
namespace {

// Waking a helper costs about as much as this many floating-point operations.
constexpr double kWorkPerThread = 2e5;
constexpr double kWorkPerRun = 1e5;

// Larger batches end at about the same time on all threads in any order.
constexpr Index kSmallBatch = 128;

// How long a thread spins before it sleeps. The next call often comes within this time, and the
// last sentences of a call end within it; sleeping and waking takes almost as long.
constexpr std::chrono::microseconds kSpinTime{100};

constexpr std::chrono::milliseconds kIdleInterval{20};

int process_id() {
#ifdef _WIN32
  return _getpid();
#else
  return static_cast<int>(getpid());
#endif
}

// A thread pool. Its threads spin between calls, then sleep: starting a thread takes longer than a
// short call.
class Helpers {
 public:
  // The helpers of this process. A fork copies the object but not its threads, so a child process
  // makes a new one, without touching a lock that may have been held at the fork. The helpers are
  // never joined: they end with the process.
  static Helpers& of_this_process() {
    static std::atomic<Helpers*> current{nullptr};
    Helpers* mine = current.load();
    while (mine == nullptr || mine->process_ != process_id()) {
      Helpers* fresh = new Helpers;
      if (current.compare_exchange_strong(mine, fresh)) return *fresh;
      delete fresh;
    }
    return *mine;
  }

  // Runs the job on `count` helpers and on the caller's thread, and returns when all are done. If
  // another thread is using the helpers, the caller runs the job alone. `idle` must not throw.
  void run(int count, const std::function<void()>& job, const std::function<void()>& idle) {
    const std::unique_lock<std::mutex> turn(in_use_, std::try_to_lock);
    if (!turn.owns_lock()) return job();
    start_threads(count);
    {
      const std::lock_guard<std::mutex> guard(lock_);
      job_ = &job;
      running_ = std::min(count, started_);
      wanted_ = running_.load();
    }
    wake_.notify_all();
    job();
    {
      const std::lock_guard<std::mutex> guard(lock_);
      // Helpers that are not awake by now are no longer needed.
      running_ -= wanted_;
      wanted_ = 0;
    }
    await(done_, [&] { return running_ == 0; }, idle);
  }

 private:
  Helpers() : process_(process_id()) {}

  void start_threads(int count) {
    try {
      for (; started_ < count; ++started_) std::thread([this] { work(); }).detach();
    } catch (const std::system_error&) {
      // The system has no more threads: those that started, and the caller, do the work.
    }
  }

  void work() {
    for (;;) {
      std::unique_lock<std::mutex> guard = await(wake_, [&] { return wanted_ > 0; });
      --wanted_;
      const std::function<void()>* job = job_;
      guard.unlock();
      (*job)();
      guard.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  // Waits for a condition that another thread makes true; returns with the lock held.
  template <class Condition>
  std::unique_lock<std::mutex> await(std::condition_variable& signal, const Condition& condition,
                                     const std::function<void()>& idle = {}) {
    using Clock = std::chrono::steady_clock;
    const auto sleep_time = Clock::now() + kSpinTime;
    while (!condition() && Clock::now() < sleep_time) std::this_thread::yield();
    std::unique_lock<std::mutex> guard(lock_);
    while (idle && !signal.wait_for(guard, kIdleInterval, condition)) {
      guard.unlock();
      idle();
      guard.lock();
    }
    signal.wait(guard, condition);
    return guard;
  }

  const int process_;
  std::mutex in_use_, lock_;
  std::condition_variable wake_, done_;
  const std::function<void()>* job_ = nullptr;
  int started_ = 0;
  std::atomic<int> wanted_{0}, running_{0};  // changed under the lock, read at any time
};

}  // namespace

void for_each_sentence(Index count, int threads, double work, const SentenceJob& job) {
  if (count == 0) return;
  const double worthwhile = std::max(1.0, work / kWorkPerThread);
  const auto workers = std::max(
      1, static_cast<int>(
             std::min({static_cast<double>(threads), static_cast<double>(count), worthwhile})));

  // Sentences are handed out in runs: long enough to amortise the shared counter, short enough for
  // all threads to end at about the same time.
  const double worth = kWorkPerRun * static_cast<double>(count) / std::max(work, 1.0);
  const Index run = std::clamp(static_cast<Index>(std::min(worth, 1e6)), Index{1},
                               std::max(Index{1}, count / (8 * workers)));
  std::atomic<Index> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  const auto guarded = [&](const auto& action) {
    try {
      action();
    } catch (...) {
      const std::lock_guard<std::mutex> guard(failure_lock);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  Interruption* const interruption = InterruptionScope::current();
  const auto poll = [&] {
    if (interruption != nullptr) interruption->poll();
  };
  const auto drain = [&] {
    const InterruptionScope scope(interruption);
    Workspace workspace;
    guarded([&] {
      for (Index first = next.fetch_add(run); first < count; first = next.fetch_add(run)) {
        for (Index i = first; i < std::min(first + run, count); ++i) {
          workspace.reset();
          job(i, workspace);
        }
        poll();
      }
    });
  };
  if (workers > 1) {
    std::function<void()> waiting;
    if (interruption != nullptr) waiting = [&] { guarded(poll); };
    Helpers::of_this_process().run(workers - 1, drain, waiting);
  } else {
    drain();
  }
  if (failure) std::rethrow_exception(failure);
}

void for_each_by_cost(std::span<const double> costs, int threads, const SentenceJob& job) {
  const auto count = static_cast<Index>(costs.size());
  const double work = std::accumulate(costs.begin(), costs.end(), 0.0);
  if (threads == 1 || count > kSmallBatch) return for_each_sentence(count, threads, work, job);
  std::vector<Index> order(costs.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return costs[static_cast<std::size_t>(a)] > costs[static_cast<std::size_t>(b)];
  });
  const SentenceJob in_order = [&](Index i, Workspace& workspace) {
    job(order[static_cast<std::size_t>(i)], workspace);
  };
  for_each_sentence(count, threads, work, in_order);
}

}  // namespace arbora::base
