// Which features made the score of an arc: every feature with its name, its atoms and what it adds.
// The twin of score_arcs for one arc, slow and talkative; the contributions sum to the score.
#pragma once

#include <string>
#include <vector>

#include "arbora/features/words.hpp"
#include "arbora/scoring/arc_table.hpp"

namespace arbora::scoring {

struct Contribution {
  std::string_view name;  // of the template
  std::vector<std::string> atoms;
  unsigned variant;  // kAnyVariant, or the arc's direction and distance
  double value;      // of the feature, times its weight
};

template <class Weight>
std::vector<Contribution> explain_arc(const ArcTable& table, const Weight* weights,
                                      const features::Sentence<features::NamedAtom>& sentence,
                                      Index head, Index modifier);

}  // namespace arbora::scoring
