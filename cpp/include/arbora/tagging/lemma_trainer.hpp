// Learns the lemmatiser from a treebank: conditional log-likelihood of the lemmas. As in the
// tagger's training, memory and known lemmas of a word come from the other folds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "arbora/tagging/lemma_model.hpp"
#include "arbora/tagging/row_learner.hpp"

namespace arbora::tagging {

// The rules of a treebank by frequency, keys of rules with parts of speech, and what was seen.
struct LearntRules {
  std::vector<LemmaRule> rules;
  std::vector<std::uint32_t> pairs, known;  // sorted keys
  Lexicon memory;
};

class LemmaTrainer {
 public:
  // Words without a lemma (`_`, unless the form is `_`) are left out.
  LemmaTrainer(const Block& block, Index folds, int bits);

  // The different words with their lemmas, fold by fold.
  Index examples() const { return static_cast<Index>(examples_.size()); }
  const LearntRules& learnt() const { return learnt_; }
  RowLearner& learner() { return learner_; }

  double pass(std::span<const std::int64_t> order, Index batch, const LearningStep& step);
  // The loss of some examples; its gradient is gathered by the learner.
  double add(std::span<const std::int64_t> examples);

 private:
  struct Example {
    std::string form, upos, xpos, feats, lemma;
    Index fold;
    double weight;
  };

  RuleSet rules_;
  LearntRules learnt_;
  std::vector<LemmaKnowledge> folds_;
  std::vector<Example> examples_;
  RowLearner learner_;
  int bits_;
};

}  // namespace arbora::tagging
