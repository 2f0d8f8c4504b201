// Cancellation of long computations.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "arbora/base/multiversion.hpp"
#include "arbora/base/types.hpp"

namespace arbora::base {

// Thrown by a computation that its caller cancelled.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

class Interruption;

// Installs an interruption for all computations of this thread while the object lives.
class InterruptionScope {
 public:
  explicit InterruptionScope(Interruption* interruption) : outer_(current_) {
    current_ = interruption;
  }
  ~InterruptionScope() { current_ = outer_; }
  InterruptionScope(const InterruptionScope&) = delete;
  InterruptionScope& operator=(const InterruptionScope&) = delete;

  // Null if there is none.
  static Interruption* current() { return current_; }

 private:
  static inline constinit thread_local Interruption* current_ = nullptr;
  Interruption* outer_;
};

// A cancellation flag, polled by computations on any thread. The question (has a signal arrived,
// has time run out) is asked on the caller's thread only, at most every 20 ms. The flag covers
// everything that the caller's thread computes while the object lives, including the helper threads
// of for_each_sentence (base/parallel.hpp).
class Interruption {
 public:
  using Question = std::function<bool()>;

  explicit Interruption(Question question) : question_(std::move(question)) {}

  // Throws Interrupted if the computation is cancelled.
  void poll() {
    if (wanted_.load(std::memory_order_relaxed)) throw Interrupted();
    if (std::this_thread::get_id() != caller_) return;
    const auto now = Clock::now();
    if (now < next_) return;
    if (question_()) {
      wanted_ = true;
      throw Interrupted();
    }
    next_ = Clock::now() + kPause;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{20};

  Question question_;
  std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + kPause;
  std::atomic<bool> wanted_{false};
  InterruptionScope scope_{this};
};

// The time at which an iterative computation stops and returns its best answer.
class Deadline {
 public:
  // In this many seconds; may be infinite.
  explicit Deadline(double seconds) : seconds_(seconds) {}

  bool is_over() const { return seconds_ < kNever && left() <= 0.0; }
  double left() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
    return seconds_ - passed.count();
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  double seconds_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// Polls once per fixed amount of work, so that polling is prompt and its cost negligible. Every
// loop that can run long has one.
class Polling {
 public:
  // Polls the interruption of the thread, if there is one.
  Polling() : interruption_(InterruptionScope::current()) {}
  explicit Polling(Interruption& interruption) : interruption_(&interruption) {}

  // `work` is the number of floating-point operations since the last call, roughly.
  void after(Index work) {
    left_ -= work;
    if (left_ > 0) [[likely]]
      return;
    left_ = kWorkPerPoll;
    poll(interruption_);
  }
  void after(double work) { after(static_cast<Index>(work)); }

 private:
  static constexpr Index kWorkPerPoll = 100'000;  // about 50 microseconds

  // Static, so that the object need not be in memory: left_ stays in a register.
  ARBORA_COLD static void poll(Interruption* interruption) {
    if (interruption != nullptr) interruption->poll();
  }

  Interruption* interruption_;
  Index left_ = kWorkPerPoll;
};

// In place of Polling, for short computations: no cost.
struct NoPolling {
  void after(Index) {}
};

// Sums and charts poll within sentences of more words than this. Shorter ones take a few
// milliseconds, in wide numbers too, and are polled for between sentences.
inline constexpr Index kLongestUnpolled = 128;

}  // namespace arbora::base
