// First-order inference for batches of sentences: the calls of the bindings.
//
// The scores of all sentences are stored one after the other, (n+1) x (n+1) x n_labels each;
// answers of the same shape have the same layout. Sentences are processed in parallel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/inference/kbest.hpp"
#include "arbora/tree/feasibility.hpp"

namespace arbora::inference {

struct Batch {
  const double* scores;
  std::span<const std::int64_t> n_words;
  Index n_labels;  // 1 without labels
  Trees trees;
  Root root;
  int threads;
};

// Invalid scores of a sentence.
enum class Cell : int { fine = 0, nan = 1, positive_infinity = 2, too_large = 3 };
struct Fault {
  Index sentence = 0;
  Cell cell = Cell::fine;
  Index head = 0, modifier = 0, label = 0;
  Verdict verdict;
};

// Copies batch.scores to scores (which may be the same), puts kForbidden into column 0 and onto the
// diagonal, and reports the sentences that are impossible.
std::vector<Fault> copy_and_check(const Batch& batch, double* scores);
// The same for scores in separate arrays, one pointer per sentence; batch.scores is not read.
std::vector<Fault> copy_and_check(const Batch& batch, std::span<const double* const> sources,
                                  double* scores);

// log_partition and relative: one number per sentence; column_shift: n + 1 numbers each;
// marginals: like the scores, or null.
void batch_sums(const Batch& batch, double* log_partition, double* relative, double* column_shift,
                double* marginals);
void batch_vjp(const Batch& batch, const double* marginals, const double* d_marginals,
               double* d_scores);

// heads, labels: n numbers per sentence.
void batch_argmax(const Batch& batch, std::int32_t* heads, std::int32_t* labels, double* score);
std::vector<std::vector<RankedTree>> batch_kbest(const Batch& batch, Index k);

// heads, labels: count x n numbers per sentence; labels may be null without labels. Sentence i is
// keyed as sentences[i].
void batch_sample(const Batch& batch, std::uint64_t seed, std::span<const std::int64_t> sentences,
                  Index count, std::int32_t* heads, std::int32_t* labels);

// Like the scores, 0 in column 0 and on the diagonal; needs n_labels = 1.
void batch_margins(const Batch& batch, double* margins);

}  // namespace arbora::inference
