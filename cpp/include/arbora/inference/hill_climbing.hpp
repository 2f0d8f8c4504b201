// Approximate best trees of second order by changing one head at a time.
//
// With all other heads fixed, the score of a tree is a constant plus the score of one word's
// head: its arc, the word's parts among its head's modifiers, and the grandparent parts of its own
// modifiers. So the gain of a new head is computed from the parts of two heads and of one word,
// without scoring a tree.
//
// Steepest ascent from one tree is McDonald & Pereira's (2006) approximate decoder; sweeps from
// trees drawn at random are the randomised greedy search of Zhang et al. (2014).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/base/workspace.hpp"
#include "arbora/tree/part_kinds.hpp"

namespace arbora::inference {

// A new head for a word; under Root::single, where no single change can move the root, also a new
// head for the word that was the root (or 0).
struct HeadChange {
  Index word = 0;
  std::int32_t head = 0;
  Index old_root = 0;
  std::int32_t root_head = 0;
  double gain = 0.0;
};

class HillClimber {
 public:
  HillClimber(const PartIndex& parts, const PartScores& scores, Trees trees, Root root);

  // A tree of the class over kept arcs.
  void start(const std::int32_t* heads) { heads_.assign(heads, heads + parts_.n_words()); }
  const std::vector<std::int32_t>& heads() const { return heads_; }

  // The score of a word's head, given all other heads.
  double choice(Index word, Index head) const;

  // Whether the tree stays one of its class if the word's head changes to another that is kept;
  // the number of roots is not checked.
  bool allows(Index word, Index head) const;

  // The best change of a word's head; its gain is 0 or less if none is better.
  HeadChange best_change(Index word);

  // Makes the best change of all until none is better.
  void climb();
  // Gives each word its best head, from the leaves up, until nothing changes.
  void sweep();

 private:
  double among_modifiers(Index head, Index modifier) const;
  double under(Index link, Index head) const;
  double sibling_scores(Index head, Index modifier) const;
  bool is_below(Index word, Index above) const;
  bool crosses(Index word, Index head) const;
  Index root_word() const;
  void consider_root(Index word, double gain, HeadChange& best);
  void apply(const HeadChange& change);
  std::vector<Index> from_leaves() const;

  std::int32_t head_of(Index word) const { return word == 0 ? -1 : heads_[at(word - 1)]; }
  const PartIndex& parts_;
  PartScores scores_;
  Trees trees_;
  Root root_;
  double least_gain_;  // less may be a rounding error, and the search would not end
  std::vector<std::int32_t> heads_;
};

struct ClimbOptions {
  Trees trees;
  Root root;
  Index restarts;  // trees drawn from the first-order model to start from, too
  Index patience;  // stop after this many restarts without a better tree
  std::uint64_t seed;
  int threads;
};

// For every sentence the best tree found. `heads` is n numbers per sentence; if `given`, it holds
// the trees to start from, otherwise the start is the best projective tree of the arc scores, or
// the best spanning tree where there is none. Sentences must be feasible.
void batch_climb(const PartBatch& parts, const PartScores& scores, const ClimbOptions& options,
                 bool given, std::int32_t* heads, double* score);

// For one sentence and tree, the gain of changing the head of m to h, [h, m]: kForbidden where the
// result is not an allowed tree, or no change.
void head_changes(const PartIndex& parts, const PartScores& scores, Trees trees, Root root,
                  const std::int32_t* heads, double* gains);

}  // namespace arbora::inference
