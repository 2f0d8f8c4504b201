// Loopy belief propagation over the factor graphs of many sentences, and its exact gradients
// (Gormley, Dredze & Eisner 2015).
//
// One iteration sends messages from all pairs and walks to the arcs, from the arcs to the tree,
// from the tree to the arcs, and from these back to pairs and walks: the serial schedule of the
// paper's footnote 4, collapsed by kinds of factors, with one sum over trees. The number of
// iterations is fixed, the same in training and in parsing. In the parallel schedule the tree
// receives the same messages as the pairs.
#pragma once

#include <vector>

#include "arbora/base/interruption.hpp"
#include "arbora/inference/loopy_run.hpp"

namespace arbora::inference {

struct LoopyBatch {
  const PartBatch& parts;
  PartScores scores;
  LoopySettings settings;
  int threads;
  Interruption& interruption;
};

// Beliefs of arcs and parts, the Bethe approximation of log Z per sentence, and for every sentence
// and iteration the largest change of a message (`residuals`, 0 where there are only arcs and the
// tree, for which one iteration is exact). Returns the first sentence without a tree, or -1.
Index loopy_sums(const LoopyBatch& batch, double* log_partition, double* residuals,
                 const PartValues<double>& beliefs);

// The state of a run over each sentence, for the backward pass. It refers to the batch's parts and
// scores, which must outlive it.
using LoopyTape = std::vector<LoopyRun>;

// Beliefs of arcs alone; `tape` may be null, otherwise it records the run for the backward pass.
Index loopy_arcs(const LoopyBatch& batch, LoopyTape* tape, double* beliefs);

// The gradient of sum(d_beliefs * beliefs) by the scores of arcs and parts, by backpropagation
// through all iterations; tables of d_beliefs may be null. Without the tape of `loopy_arcs` on the
// same batch it makes its own, sentence by sentence.
Index loopy_vjp(const LoopyBatch& batch, LoopyTape* tape, const PartScores& d_beliefs,
                const PartValues<double>& d_scores);

}  // namespace arbora::inference
