#include "arbora/tagging/analyses.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/tagging/chain.hpp"

namespace arbora::tagging {

Index AnalysisSet::widest() const {
  return widths.empty() ? 0 : *std::max_element(widths.begin(), widths.end());
}

Index AnalysisSet::most() const {
  Index answer = 0;
  for (Index tag = 0; tag < tags; ++tag) answer = std::max(answer, count(tag));
  return answer;
}

void remember(const AnalysisSet& set, Index tag, const WordType& type, std::int8_t* memories) {
  const std::int32_t begin = set.first[at(tag)], end = set.first[at(tag) + 1];
  std::uint32_t all = 0;
  for (const LexiconEntry& entry : type.entries) {
    if (entry.analysis >= begin && entry.analysis < end) all += entry.count;
  }
  const auto base = static_cast<std::int8_t>(type.is_known ? 0 : kMemories / 2);
  const auto others = static_cast<std::int8_t>(base + 3);
  std::fill(memories, memories + (end - begin), all == 0 ? kNoMemory : others);
  bool is_first = true;
  for (const LexiconEntry& entry : type.entries) {
    if (entry.analysis < begin || entry.analysis >= end) continue;
    const int rank = is_first ? 0 : entry.count * 10U >= all ? 1 : 2;
    memories[entry.analysis - begin] = static_cast<std::int8_t>(base + rank);
    is_first = false;
  }
}

void score_analyses(const AnalysisSet& set, Index tag, const double* outputs,
                    const std::int8_t* memories, const double* memory_weights, double* scores) {
  const Index first = set.first[at(tag)], count = set.count(tag);
  for (Index i = 0; i < count; ++i) {
    double score = memories[i] == kNoMemory ? 0.0 : memory_weights[tag * kMemories + memories[i]];
    for (const std::int32_t output : set.outputs_of(first + i)) score += outputs[output];
    scores[i] = score;
  }
}

void pull_back(const AnalysisSet& set, Index tag, const std::int8_t* memories,
               const double* d_scores, double* d_outputs, double* d_memory_weights) {
  const Index first = set.first[at(tag)], count = set.count(tag);
  for (Index i = 0; i < count; ++i) {
    if (memories[i] != kNoMemory) d_memory_weights[tag * kMemories + memories[i]] += d_scores[i];
    for (const std::int32_t output : set.outputs_of(first + i)) d_outputs[output] += d_scores[i];
  }
}

double normalise_scores(double* scores, Index count) {
  const double all = log_sum(scores, count);
  double sum = 0.0;
  for (Index i = 0; i < count; ++i) {
    scores[i] = std::exp(scores[i] - all);
    sum += scores[i];
  }
  for (Index i = 0; i < count; ++i) scores[i] /= sum;
  return all;
}

}  // namespace arbora::tagging
