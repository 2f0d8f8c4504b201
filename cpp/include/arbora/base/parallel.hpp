// Runs a job per sentence on several threads. Each sentence is worked on by one thread and has its
// own place for the answer, so the answers do not depend on how many threads there are. Calls may
// come from several threads at once, and from a child process after a fork.
#pragma once

#include <functional>
#include <span>

#include "arbora/base/types.hpp"
#include "arbora/base/workspace.hpp"

namespace arbora::base {

using SentenceJob = std::function<void(Index sentence, Workspace& workspace)>;

// `work` is the cost of the whole call in floating-point operations, roughly: a call too small to
// pay for waking threads stays on the caller's.
// The interruption that the caller's thread obeys ends the jobs on all threads. It is polled
// between sentences, and while the caller's thread has nothing to do but to wait for the others.
void for_each_sentence(Index count, int threads, double work, const SentenceJob& job);

// The same where the cost of every sentence is known. In a small batch the dearest sentences come
// first: one that came last would keep a single thread busy while the others wait.
void for_each_by_cost(std::span<const double> costs, int threads, const SentenceJob& job);

}  // namespace arbora::base
