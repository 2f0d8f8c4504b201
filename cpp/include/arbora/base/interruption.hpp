// Lets a caller end a long computation before its time.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

namespace arbora {

// Thrown by a computation whose caller wants no answer any more.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

// The caller's wish, which a computation looks at now and then, on any thread. The question itself
// is the caller's affair (a signal, a clock); it is asked on the caller's thread only, and seldom.
class Interruption {
 public:
  using Question = std::function<bool()>;

  explicit Interruption(Question question) : question_(std::move(question)) {}

  // Throws Interrupted if the caller wants to end.
  void poll() {
    if (wanted_.load(std::memory_order_relaxed)) throw Interrupted();
    if (std::this_thread::get_id() != caller_) return;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + kPause;
    if (!question_()) return;
    wanted_ = true;
    throw Interrupted();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{20};

  Question question_;
  std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + kPause;
  std::atomic<bool> wanted_{false};
};

// The moment at which a computation is to come to its end with what it has.
class Deadline {
 public:
  // So many seconds from now; may be infinite.
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

// One thread's share of the looking: often enough to be prompt, too seldom to be felt.
class Polling {
 public:
  explicit Polling(Interruption& interruption) : interruption_(&interruption) {}

  // `work` is what was done since the last call, in floating-point operations, roughly.
  void after(double work) {
    work_ += work;
    if (work_ < kWorkPerPoll) return;
    work_ = 0.0;
    interruption_->poll();
  }

 private:
  static constexpr double kWorkPerPoll = 1e5;  // some 50 microseconds

  Interruption* interruption_;
  double work_ = 0.0;
};

}  // namespace arbora
