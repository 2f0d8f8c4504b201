// Which features made the score of an arc: every feature with its name, its atoms and what it adds.
// The twin of score_sentences for one arc, slow and talkative; the contributions sum to the score.
#pragma once

#include <string>
#include <vector>

#include "arbora/features/words.hpp"
#include "arbora/scoring/linear_model.hpp"

namespace arbora::scoring {

struct Contribution {
  std::string_view name;  // of the template
  std::vector<std::string> atoms;
  unsigned variant;  // kAnyVariant, or the arc's direction and distance
  bool of_outcome;   // a weight of the arc's outcome, not of the arc
  double value;      // of the feature, times its weight
};

// `outcome` is the label or cluster whose score is explained; without rows it is not looked at.
template <class Weight>
std::vector<Contribution> explain_arc(const LinearModel& model, const Weight* weights,
                                      const features::Sentence<features::NamedAtom>& sentence,
                                      Index head, Index modifier, Index outcome);

}  // namespace arbora::scoring
