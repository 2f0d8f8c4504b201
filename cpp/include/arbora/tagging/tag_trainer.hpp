// Learns the tagger from a treebank: conditional log-likelihood of the parts of speech (a linear
// chain), and of the analyses given the parts of speech.
//
// What the lexicon says of a word in training comes from the other folds of the treebank only, so
// that unknown words look as they will later.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arbora/tagging/analyses.hpp"
#include "arbora/tagging/chain.hpp"
#include "arbora/tagging/row_learner.hpp"

namespace arbora::tagging {

// The rows of each word's features, as one list of the form and one of the word in its context.
struct FeatureLists {
  std::vector<std::int32_t> rows;
  std::vector<std::size_t> ends{0};        // list i is rows[ends[i]], ..., rows[ends[i + 1] - 1]
  std::vector<std::int32_t> own, context;  // the lists of each word

  template <class Take>
  void for_each(std::size_t word, const Take& take) const {
    for (const std::int32_t list : {own[word], context[word]}) {
      for (std::size_t i = ends[at(list)]; i < ends[at(list) + 1]; ++i) take(rows[i]);
    }
  }
};

// One of the two models while it is learnt; row i has the key keys[i] and belongs to tags[i].
struct LearntPart {
  FeatureLists lists;
  std::vector<std::uint32_t> keys;
  std::vector<std::uint8_t> tags;
  RowLearner learner;
};

class TagTrainer {
 public:
  // `analyses` are the gold analyses of all words. A feature needs `cutoff` occurrences.
  TagTrainer(const Block& block, AnalysisSet set, const std::vector<std::string>& upos,
             std::vector<std::int32_t> analyses, Index folds, Index cutoff,
             std::shared_ptr<const Clusters> clusters);

  Index sentences() const { return words_.sentences(); }
  LearntPart& upos() { return upos_; }
  LearntPart& analyses() { return analyses_; }

  // One pass over the sentences in this order; returns the sum of the losses at the time.
  double pass_upos(std::span<const std::int64_t> order, Index batch, const LearningStep& step,
                   int threads);
  double pass_analyses(std::span<const std::int64_t> order, Index batch, const LearningStep& step,
                       int threads);
  // The loss of some sentences; its gradient is gathered by the learner.
  double add_upos(std::span<const std::int64_t> sentences, int threads);
  double add_analyses(std::span<const std::int64_t> sentences, int threads);

 private:
  struct Work {  // of one sentence
    Chain chain;
    std::vector<double> scores, pairs;
    std::vector<std::size_t> first;
    double loss = 0.0;
  };

  void collect_upos(Index cutoff);
  void collect_analyses(const std::vector<std::uint64_t>& atoms, Index cutoff);
  void work_upos(Index sentence, const Transitions& transitions, Work& work) const;
  void work_analyses(Index sentence, Work& work) const;

  AnalysisSet set_;
  std::vector<Lexicon> lexicons_;  // of each fold, without it
  std::shared_ptr<const Clusters> clusters_;
  TypedWords words_;
  std::vector<std::int32_t> gold_, gold_tags_;
  LearntPart upos_, analyses_;
  std::vector<Work> works_;
};

}  // namespace arbora::tagging
