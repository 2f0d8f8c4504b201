// The analyses of each part of speech (XPOS and FEATS together), and their distribution: a softmax
// over the analyses that a part of speech had in training. The score of an analysis is the sum of
// the scores of its outputs (one for every attribute=value, one for its XPOS, one for the whole),
// plus a weight that depends on whether the form had this analysis in training.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/base/types.hpp"
#include "arbora/tagging/word_types.hpp"

namespace arbora::tagging {

struct AnalysisSet {
  Index tags = 0;
  std::vector<std::int32_t> first;        // of each tag, and the end
  std::vector<std::int32_t> ends;         // of the outputs of each analysis
  std::vector<std::int32_t> outputs;      // numbers within the tag's rows
  std::vector<std::int32_t> widths;       // outputs of each tag
  std::vector<std::int32_t> xpos, feats;  // of each analysis: numbers of names

  Index count(Index tag) const { return first[at(tag) + 1] - first[at(tag)]; }
  // Whether there is anything to decide.
  bool is_trivial() const { return first.empty() || first.back() == tags; }
  Index widest() const;
  Index most() const;
  std::span<const std::int32_t> outputs_of(Index analysis) const {
    const std::int32_t begin = analysis == 0 ? 0 : ends[at(analysis - 1)];
    return {outputs.data() + begin, at(ends[at(analysis)] - begin)};
  }
};

// What is known of an analysis of a form: the form's most frequent one of this tag, one of at least
// a tenth, a rarer one, or none of its own; the same once more for forms that are known in lower
// case only. Forms that never had the tag have no such weight.
inline constexpr Index kMemories = 8;
inline constexpr std::int8_t kNoMemory = -1;

// One entry for every analysis of the tag.
void remember(const AnalysisSet& set, Index tag, const WordType& type, std::int8_t* memories);

// Scores of all analyses of a tag; `memory_weights` has kMemories for each tag.
void score_analyses(const AnalysisSet& set, Index tag, const double* outputs,
                    const std::int8_t* memories, const double* memory_weights, double* scores);
// The derivatives of the scores' arguments, given those of the scores.
void pull_back(const AnalysisSet& set, Index tag, const std::int8_t* memories,
               const double* d_scores, double* d_outputs, double* d_memory_weights);

// Turns scores into probabilities; -inf is exactly 0. Returns the logarithm of the sum.
double normalise_scores(double* scores, Index count);

}  // namespace arbora::tagging
