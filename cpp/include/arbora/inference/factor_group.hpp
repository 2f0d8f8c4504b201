// A factor group: all factors of one kind in a sentence's graph. Belief propagation uses this
// interface only (loopy_run.hpp): it gives each group a slice of the tape for its messages and
// loops over the groups. To add a group, write it in its own file and add a line to the table in
// factor_groups.cpp.
//
// The tree factor forbids cycles and other non-trees. A group that forbids them as well would count
// the same evidence twice.
#pragma once

#include <memory>
#include <vector>

#include "arbora/inference/arc_variables.hpp"

namespace arbora::inference {

struct LoopySettings {
  Trees trees = Trees::nonprojective;
  Root root = Root::single;
  Index iterations = 4;
  double damping = 0.0;
  bool parallel = false;               // all factors at once, instead of the tree last
  bool grandparents_in_walks = false;  // instead of one factor for each
};

// The messages from arcs to factors in an iteration, before each factor's own message is subtracted
// (G15, Eq. 4).
struct Incoming {
  const double* totals;     // by arc: the log-odds of its score and of all messages to it
  const double* from_tree;  // by arc: the tree's message among them
  bool first;               // there are no messages yet: totals are scores
};

// Damping: a share of the old messages is mixed into fresh ones.
struct Mixing {
  double share_of_old;
  bool measured;  // whether the largest change is wanted
};

// Gradients with respect to the group's messages, to the totals of arcs, and to the scores of
// parts; all are added to.
struct GroupGradients {
  double *messages, *totals;
  PartValues<double> scores;
};

class FactorGroup {
 public:
  FactorGroup() = default;
  FactorGroup(const FactorGroup&) = delete;
  FactorGroup& operator=(const FactorGroup&) = delete;
  virtual ~FactorGroup() = default;

  // Takes a sentence's scores; false if the model has no such factors. `arcs` and `scores` must
  // outlive the group's use.
  virtual bool set(const ArcVariables& arcs, const PartScores& scores,
                   const LoopySettings& settings) = 0;
  // Adds, for every arc, a bound on the magnitude of the sum of the group's messages to it.
  virtual void add_bounds(double* sizes) const = 0;
  virtual Index n_messages() const = 0;
  // Fills the places of a slice that `send` does not write; by default there are none.
  virtual void prepare(double*) const {}
  // Messages before the first iteration: log-odds of 0.
  virtual void silence(double* messages) const;

  // The messages to arcs, added to `sums` as log-odds. Returns their largest change, if it is to be
  // measured; -inf if there are none.
  virtual double send(const Incoming& in, const double* old, const Mixing& mixing, double* fresh,
                      double* sums) = 0;
  // The gradients by fresh messages become those by old ones; `d_sums` are those by the sums.
  virtual void send_back(const Incoming& in, const double* old, double share_of_old,
                         const double* d_sums, const GroupGradients& gradients) = 0;

  // Beliefs of the group's parts; returns its term of the Bethe approximation of log Z: the sums of
  // log Z over its factors, less the log-sums of their variables.
  virtual double beliefs(const Incoming& in, const double* last,
                         const PartValues<double>& answer) = 0;
  virtual void beliefs_back(const Incoming& in, const double* last, const PartScores& d_beliefs,
                            const GroupGradients& gradients) = 0;

  // Before the first and after the last call of a backward pass.
  virtual void start_backward() {}
  virtual void finish_backward(const PartValues<double>&) {}

  // Some parts consist of a single arc: their scores are added to those of arcs, and their beliefs
  // and gradients are those of arcs.
  virtual void add_to_arcs(const PartScores&, double*) const {}
  virtual void copy_from_arcs(const double*, const PartValues<double>&) const {}

 protected:
  // Mixes a share of old log-odds into fresh ones; returns the largest change.
  static double mix(Index count, const double* old, const Mixing& mixing, double* fresh);
};

// One group of each kind.
std::vector<std::unique_ptr<FactorGroup>> make_factor_groups();

}  // namespace arbora::inference
