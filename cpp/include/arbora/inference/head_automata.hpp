// Head automata: the best modifiers of each head, independent of other heads (Koo et al. 2010,
// sections 3 and 5).
//
// A head's automaton walks outwards on either side, from START over the chosen modifiers to END,
// and scores every step; with grandparents it also chooses the head's own head, which changes the
// scores of the steps. One head's best walk takes O(k^2) for k possible modifiers and each possible
// grandparent.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "arbora/inference/automaton.hpp"
#include "arbora/tree/part_kinds.hpp"

namespace arbora::inference {

// The scores of all steps of all automata of a sentence, arcs left out: for every link (or head,
// without grandparents) and side a table of pairs (previous, next) as in PartIndex. A step over the
// grandparent itself would close a cycle and is forbidden.
class StepTables {
 public:
  StepTables(const PartIndex& parts, const PartScores& scores)
      : StepTables(parts, scores, parts.kinds().grand()) {}
  // Without `grand`, walks do not choose the head's own head, and parts with grandparents are
  // not scored here. With Cycles::ignored, steps over the grandparent are not forbidden.
  enum class Cycles { forbidden, ignored };
  StepTables(const PartIndex& parts, const PartScores& scores, bool grand,
             Cycles cycles = Cycles::forbidden);

  const PartIndex& parts() const { return *parts_; }
  bool grand() const { return grand_; }
  // The links that an automaton chooses from: one without grandparents.
  Index choices(Index head) const { return grand_ ? parts_->links_of(head) : 1; }
  const double* side(Index head, Index choice, int side) const {
    const Index first =
        grand_ ? parts_->grandsiblings_at(parts_->first_link(head) + choice, side, head)
               : parts_->consecutive_at(head, side);
    return steps_.data() + first;
  }

  // Lets an automaton with states score a side of a head as well.
  void add(Index head, int side, Automaton automaton);
  bool has_automata() const { return !automata_.empty(); }
  // That automaton, or null.
  const Automaton* automaton(Index head, int side) const {
    if (automata_.empty()) return nullptr;
    const auto& found = automata_[static_cast<std::size_t>(2 * head + side)];
    return found ? &*found : nullptr;
  }

 private:
  const PartIndex* parts_;
  bool grand_;
  std::vector<double> steps_;
  std::vector<std::optional<Automaton>> automata_;  // by 2 head + side; empty if there are none
};

// What an automaton chose besides its modifiers.
struct Walk {
  double value = kForbidden;
  Index choice = -1;  // of the head's links; 0 without grandparents
};

// Memory that searches reuse.
struct WalkScratch {
  std::vector<double> best;
  std::vector<std::int32_t> from, kept;
};

// The best walk of a head. `arcs` holds the score of taking each modifier (the left ones outwards,
// then the right), `links` that of each possible grandparent, or is null. Of equally good walks the
// one with nearer previous siblings and the leftmost grandparent is taken. `chosen` is 1 for each
// modifier that was taken. The value is -inf if every walk is forbidden.
Walk best_walk(const StepTables& steps, Index head, const double* arcs, const double* links,
               std::uint8_t* chosen, WalkScratch& scratch);

// Its two halves: the best way through one side under one choice of a link, with room for k + 1
// numbers in `best`, where from[j] is the step before modifier j and from[k] that before END; and
// the modifiers on that way.
double best_of_side(const StepTables& steps, Index head, Index choice, int side, const double* arcs,
                    double* best, std::int32_t* from);
inline void mark_walk(const std::int32_t* from, Index k, std::uint8_t* chosen) {
  for (Index j = from[k]; j > 0; j = from[j - 1]) chosen[j - 1] = 1;
}

// The score of the walk over the given modifiers.
double score_of_walk(const StepTables& steps, Index head, Index choice, const double* arcs,
                     const std::uint8_t* chosen);

// The score of a tree over kept arcs: those of all heads' walks, automata with states included.
// `arcs` are the scores of the cells of (n+1) x (n+1).
double score_of_tree(const StepTables& steps, const double* arcs, const std::int32_t* heads);

// For many sentences: adds 1 to every part that the independent best walks of all heads have
// (Z-inference, section 6). values[i] is the sum of the walks' values.
void batch_best_walks(const PartBatch& parts, const PartScores& scores,
                      const PartValues<double>& indicators, double* values, int threads);

// The same where every word also chooses its own head, so that heads compete for it: with
// grandparents as part of its walk, else by arc scores alone. The arcs of these choices are added
// and scored as well, so a tree has every arc twice. batch_walk_sums sums over the same choices.
void batch_best_choices(const PartBatch& parts, const PartScores& scores,
                        const PartValues<double>& indicators, double* values, int threads);

// For many sentences: the sums over all walks of every head instead of the best ones. values[i] is
// the logarithm of the product over heads; expected counts of arcs and parts are added to
// `expected`. Automata with states are not included.
void batch_walk_sums(const PartBatch& parts, const PartScores& scores,
                     const PartValues<double>& expected, double* values, int threads);

// Trees of many sentences: counts[i] of sentence i, their heads flat, tree after tree, and a number
// for each tree.
struct TreeLists {
  const std::int32_t* heads;
  const std::int64_t* counts;
  const double* amounts;
};

// Adds its amount to every part that a tree has; values[t] is the score of tree t, -inf if one of
// its arcs is not kept.
void batch_tree_parts(const PartBatch& parts, const PartScores& scores, const TreeLists& trees,
                      const PartValues<double>& indicators, double* values, int threads);

}  // namespace arbora::inference
