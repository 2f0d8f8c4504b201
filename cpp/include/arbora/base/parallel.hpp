// Runs a job per sentence on several threads. Each sentence is worked on by one thread and has its
// own place for the answer, so the answers do not depend on how many threads there are. Calls may
// come from several threads at once, and from a child process after a fork.
#pragma once

#include <functional>
#include <span>

#include "arbora/base/types.hpp"
#include "arbora/base/workspace.hpp"

namespace arbora {

using SentenceJob = std::function<void(Index sentence, Workspace& workspace)>;

// `work` is the cost of the whole call in floating-point operations, roughly: a call too small to
// pay for waking threads stays on the caller's.
// `idle`, if given, is called every now and then on the caller's thread while that has nothing to
// do but to wait for the others; if it throws, so does the call, once the others are done.
void for_each_sentence(Index count, int threads, double work, const SentenceJob& job,
                       const std::function<void()>& idle = {});

// The same where the cost of every sentence is known. In a small batch the dearest sentences come
// first: one that came last would keep a single thread busy while the others wait.
void for_each_by_cost(std::span<const double> costs, int threads, const SentenceJob& job,
                      const std::function<void()>& idle = {});

}  // namespace arbora
