// A chain over the words of a sentence, each of which takes one of its possible heads: heads score,
// and so do the heads of neighbouring words together. Best choices by Viterbi's algorithm, sums by
// the forward-backward algorithm, in logarithms throughout.
//
// A state is a link of PartIndex (a word with one of its heads), numbered from 0: those of a word
// follow each other. Pairs are stored as in src/tree/head_bigrams.cpp.
#pragma once

#include <vector>

#include "arbora/tree/part_index.hpp"

namespace arbora::inference {

class HeadChain {
 public:
  void set(const PartIndex& parts);

  Index n_words() const { return static_cast<Index>(first_.size()) - 1; }
  Index n_states() const { return first_.back(); }
  // The states of word m, counted from 0: first_state(m) to first_state(m + 1).
  Index first_state(Index word) const { return first_[static_cast<std::size_t>(word)]; }
  // Forbids the pairs in which two neighbours are each other's head.
  void forbid_cycles(double* pairs) const {
    for (const Index pair : cycles_) pairs[pair] = kForbidden;
  }

  // The best choice of heads: one state for each word. Returns its score.
  double best(const double* states, const double* pairs, Index* chosen);

  // log of the sum over all choices; states and pairs of -inf are never chosen.
  double sum(const double* states, const double* pairs);
  // Then: for every state, log of the sum over the choices of the words before it, and of those
  // after it, their pairs with the state included, the state's own score left out.
  const double* before() const { return before_.data(); }
  const double* after() const { return after_.data(); }
  // Whether any choice of the other words goes with a state.
  bool is_possible(Index state) const {
    const auto s = static_cast<std::size_t>(state);
    return before_[s] != kForbidden && after_[s] != kForbidden;
  }
  // And the probabilities of all pairs.
  void pair_probabilities(double* answer) const;

  // Gradients of an objective by the logarithms that `sum` gave. `before` and `after` are read and
  // used as room.
  struct Gradients {
    std::vector<double> before, after;
    double log_partition = 0.0;
  };
  // Adds its gradients by states and by pairs.
  void pullback(Gradients& gradients, double* d_states, double* d_pairs);
  // The gradients for an objective sum(d * probabilities of pairs); adds to those by states and
  // pairs what does not go through the logarithms.
  void start_from_pairs(const double* d, Gradients& gradients, double* d_states,
                        double* d_pairs) const;

 private:
  // Calls use(state of the word before, state, pair) for all pairs of a word, counted from 1 on.
  template <class Use>
  void for_each_pair(Index word, const Use& use) const;
  double log_probability(Index left, Index right, Index pair) const;

  const double *states_ = nullptr, *pairs_ = nullptr;
  std::vector<Index> first_, table_;
  std::vector<Index> cycles_;
  std::vector<double> before_, after_, top_;
  std::vector<Index> from_;
  double log_partition_ = 0.0;
};

}  // namespace arbora::inference
