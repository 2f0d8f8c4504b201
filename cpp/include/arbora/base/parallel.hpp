// Runs a job per sentence on several threads. One thread processes each sentence and writes to its
// own place, so the answers do not depend on the number of threads. Several threads may call at the
// same time, and so may a child process after a fork.
#pragma once

#include <functional>
#include <span>

#include "arbora/base/types.hpp"
#include "arbora/base/workspace.hpp"

namespace arbora::base {

using SentenceJob = std::function<void(Index sentence, Workspace& workspace)>;

// `work` is the cost of all jobs in floating-point operations, roughly: a call too small to pay for
// waking threads runs on the caller's. The interruption of the caller's thread cancels the jobs on
// all threads. It is polled between sentences, and while the caller's thread waits for the others.
void for_each_sentence(Index count, int threads, double work, const SentenceJob& job);

// The same where the cost of every sentence is known. A small batch is processed in order of
// decreasing cost, so that no long sentence starts last while the other threads are idle.
void for_each_by_cost(std::span<const double> costs, int threads, const SentenceJob& job);

}  // namespace arbora::base
