// A head automaton with states (Koo et al. 2010, example 2): the score of taking a modifier depends
// on the current state and on the next one.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/base/types.hpp"

namespace arbora::inference {

// The automaton of one side of a head with k possible modifiers. Numbers are the scores of the
// initial states (S), of every modifier outwards from state s to state t (k x S x S), and of ending
// in a state (S). A walk scores its best sequence of states.
class Automaton {
 public:
  Automaton(Index n_states, Index n_modifiers, std::vector<double> numbers);

  Index n_states() const { return n_states_; }
  double initial(Index s) const { return number(s); }
  double step(Index modifier, Index s, Index t) const {
    return number(n_states_ * (1 + modifier * n_states_ + s) + t);
  }
  double final(Index s) const { return number(n_states_ * (1 + n_modifiers_ * n_states_) + s); }

  // The largest finite score in magnitude.
  double most() const;

  // The best walk, as best_side() of head automata finds it: `pairs` are scores of (previous, next)
  // and may be null, `arcs` of taking each modifier; from[j] is the place before modifier j of the
  // best walk, from[k] that before END. O(k S^2) without pairs, O(k^2 S^2) with them.
  double best(const double* pairs, const double* arcs, std::int32_t* from) const;

  // The score of given modifiers, without arcs and pairs.
  double score(const std::uint8_t* chosen) const;

 private:
  double number(Index i) const { return numbers_[static_cast<std::size_t>(i)]; }

  Index n_states_, n_modifiers_;
  std::vector<double> numbers_;
};

}  // namespace arbora::inference
