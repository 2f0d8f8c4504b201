// Runs a job per sentence on several threads. Threads live only as long as the call, so nothing is
// left that a fork could break; each writes its own sentences, so the answers do not depend on how
// many there are.
#pragma once

#include <functional>

#include "arbora/base/types.hpp"
#include "arbora/base/workspace.hpp"

namespace arbora {

using SentenceJob = std::function<void(Index sentence, Workspace& workspace)>;

// `work` is the cost of the whole call in floating-point operations, roughly: a call too small to
// pay for starting threads stays on the caller's.
void for_each_sentence(Index count, int threads, double work, const SentenceJob& job);

}  // namespace arbora
