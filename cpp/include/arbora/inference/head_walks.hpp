// All walks of one head's automaton under scores of its steps, its modifiers and its own head:
// log-partition, marginals, and derivatives of the marginals.
//
// A walk takes modifiers outwards on either side, from START to END, and with grandparents chooses
// a link to the head's own head, which decides the scores of the steps. For one choice and side,
//
//     F(next) = a(next) + log sum_{previous < next} exp(F(previous) + step(previous, next)),
//
// and p(previous | next), the share of each term, is all that is kept: marginals are products of
// shares and derivatives are shares of derivatives, so nothing under- or overflows and nothing is
// subtracted.
#pragma once

#include <vector>

#include "arbora/inference/head_automata.hpp"

namespace arbora::inference {

// The tables of steps of a head, one after the other for each choice: its left side, its right.
struct HeadSteps {
  const double* first = nullptr;
  Index left = 0, right = 0, choices = 1;

  Index modifiers() const { return left + right; }
  Index pairs() const { return sibling_pairs(left) + sibling_pairs(right); }
};
HeadSteps steps_of(const StepTables& steps, Index head);
// The same without the steps that skip a modifier, so that all walks take it; `room` holds them.
HeadSteps steps_taking(const HeadSteps& steps, Index modifier, std::vector<double>& room);

class HeadWalks {
 public:
  // log of the sum over all walks, -inf if there is none: then all probabilities are 0. `arcs`
  // holds the score of each modifier, the left ones outwards, then the right ones; `links` that of
  // each choice, null for none.
  double sum(const HeadSteps& steps, const double* arcs, const double* links);

  // Then: the probabilities that a modifier is taken and that it is not, and the same for choices.
  const double* taken() const { return taken_.data(); }
  const double* skipped() const { return skipped_.data(); }
  const double* chosen() const { return chosen_.data(); }
  const double* unchosen() const { return unchosen_.data(); }
  // log of the sum over the walks of each choice, without the score of its link.
  const double* log_walks() const { return log_walks_.data(); }

  // A direction in the scores; every pointer may be null, which is 0. `steps` has the layout of the
  // steps and is not read where those are -inf. A number for skipping a modifier is the same as its
  // negative for taking it; large numbers must belong to the less likely of the two, or they would
  // cancel.
  struct Direction {
    const double *steps = nullptr, *taken = nullptr, *skipped = nullptr, *chosen = nullptr;
    const double* masses = nullptr;  // not a score, but an amount to add to P(choice) itself
  };
  // Then: derivatives along it. Those of the choices leave the masses out.
  void differentiate(const Direction& direction);
  const double* d_taken() const { return d_taken_.data(); }
  const double* d_chosen() const { return d_chosen_.data(); }

  // Adds the probabilities of all steps, or their derivatives, to tables with the layout of the
  // steps.
  void add_steps(double* to) const;
  void add_step_derivatives(double* to) const;
  // The same as numbers of a head's parts.
  void add_parts(const StepTables& tables, Index head, const PartValues<double>& to) const;
  void add_part_derivatives(const StepTables& tables, Index head,
                            const PartValues<double>& to) const;

 private:
  struct Side;
  double sum_side(const Side& side, const double* arcs);
  void spread_side(const Side& side, double mass);
  double differentiate_side(const Side& side, const Direction& direction);
  void spread_derivatives(const Side& side, double d_mass);
  Side side_of(Index choice, int side) const;
  template <class Step>
  void visit(Index choice, const Step& step) const;
  void add_grandparents(const StepTables& tables, Index head, const std::vector<double>& reached,
                        double* to) const;
  template <class Value>
  void add_to(const StepTables& tables, Index head, const PartValues<double>& to,
              const Value& value) const;

  HeadSteps steps_;
  // By choice and pair: p(previous | next) and its derivative.
  std::vector<double> shares_, d_shares_;
  // By choice, side and next: the probability of coming there, END last, and its derivative.
  std::vector<double> reached_, d_reached_;
  std::vector<double> log_sums_, d_logs_;  // F, START first, and its derivative
  std::vector<double> taken_, skipped_, chosen_, unchosen_, log_walks_, d_taken_, d_chosen_;
};

}  // namespace arbora::inference
