// A linear chain: the distribution over tag sequences whose score is the sum of a score for every
// word's tag and one for every pair of neighbouring tags (Lafferty, McCallum & Pereira 2001).
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/base/random.hpp"
#include "arbora/base/types.hpp"

namespace arbora::tagging {

// Scores of pairs of tags, (tags + 1)^2: the last row is the start, the last column the end.
class Transitions {
 public:
  Transitions() = default;
  Transitions(Index tags, const double* scores);

  Index tags() const { return tags_; }
  double score(Index from, Index to) const { return scores_[place(from, to)]; }
  // exp(score - largest()), as the scaled recursions use it.
  const double* weights(Index from) const { return weights_.data() + place(from, 0); }
  double largest() const { return largest_; }
  double spread() const { return spread_; }  // the largest score minus the smallest

 private:
  std::size_t place(Index from, Index to) const { return at(from * (tags_ + 1) + to); }

  Index tags_ = 0;
  std::vector<double> scores_, weights_;
  double largest_ = 0.0, spread_ = 0.0;
};

// The sums and best sequences of one sentence at a time; keeps its memory.
class Chain {
 public:
  // Forward and backward sums. `emissions` has a row of scores for every word, -inf for a tag that
  // a word cannot have. False if there is no sequence; then nothing else may be asked.
  bool sum(Index words, const double* emissions, const Transitions& transitions);

  double log_partition() const { return log_partition_; }
  Index words() const { return words_; }
  // p(tag of the word), a row for every word.
  const double* marginals() const { return marginals_.data(); }
  // Adds p(from, to) of all neighbouring pairs, start and end, to a matrix like the transitions.
  void add_pairs(double* expected) const;
  // An exact draw.
  void sample(RandomStream& random, std::int32_t* tags) const;

 private:
  void sum_scaled();
  void sum_in_logarithms();
  double score(Index word, Index tag) const { return emissions_[at(word * tags_ + tag)]; }
  std::size_t cell(Index word, Index tag) const { return at(word * tags_ + tag); }

  Index words_ = 0, tags_ = 0;
  const double* emissions_ = nullptr;
  const Transitions* transitions_ = nullptr;
  bool is_scaled_ = true;
  double log_partition_ = 0.0;
  // Scaled: exp of emissions minus their maximum, and sums that are divided by scales_. Otherwise
  // logarithms of the sums.
  std::vector<double> weights_, forward_, backward_, scales_, marginals_;
};

// The best sequence and its score; the lowest tag wins ties. -inf if there is no sequence.
double best_tags(Index words, const double* emissions, const Transitions& transitions,
                 std::int32_t* tags);

// log(sum(exp(values))) without overflow; -inf if all are.
double log_sum(const double* values, Index count);

// Draws a place in proportion to the weights, of which one at least is positive.
Index draw(RandomStream& random, const double* weights, Index count);

}  // namespace arbora::tagging
