// The factors of pair_factors.hpp in plain numbers: odds instead of log-odds, so that a message
// takes neither an exponential nor a logarithm. With odds b_i of the two arcs of a pair, w = e^s,
// and the pair's previous messages r_i to them,
//
//     to first = (r_2 + b_2 w) / (r_2 + b_2)
//
// because the second arc's message is b_2 / r_2. Nothing overflows if scores are moderate, which
// `set` checks; otherwise pair_factors.hpp is used. A message is between 1 and w, and odds beyond
// e^±150 have the same effect as e^±150 on a pair whose score is at most 50.
//
// Pairs are not listed. All pairs of siblings i < j of one j, and all pairs of one grandparent's
// arc, form a row: its own arc against a run of adjacent arcs, in the order of the tables of
// `PartIndex`. Messages, probabilities and gradients of pairs are stored in that order too, those
// of siblings before those of grandparents.
#pragma once

#include <vector>

#include "arbora/base/pack.hpp"
#include "arbora/inference/arc_order.hpp"

namespace arbora::inference {

struct PairRow {
  Index own;  // the arc that all pairs of the row have
  Index run;  // the first of the others, each with a pair, and how many they are
  Index count;
  Index place;  // of the first pair
};

class PairRows {
 public:
  static constexpr double kLargestLogOdds = 150.0;

  // False if the scores are too large for plain numbers. Pairs that no tree has are skipped: those
  // that close a cycle and, in projective trees, those whose grandparent is between head and
  // modifier.
  bool set(const PartIndex& parts, const ArcOrder& order, const PartScores& scores, bool siblings,
           bool grandparents, Trees trees);
  void clear();

  // The number of messages in each direction, padding included.
  Index size() const { return size_; }
  // The number of pairs of an arc, and a bound on the magnitude of the sum of their messages to it.
  Index n_pairs(Index arc) const {
    return n_pairs_.empty() ? 0 : n_pairs_[static_cast<std::size_t>(arc)];
  }
  double most(Index arc) const { return static_cast<double>(n_pairs(arc)) * largest_; }

  // From every pair to either of its arcs; null before the first iteration.
  struct Messages {
    double *to_run, *to_own;
  };
  // Sets the messages in gaps between pairs to 1; all others are sent later.
  void silence_gaps(Messages messages) const;

  // The messages of all pairs, given the log-odds of all arcs and the previous messages. The
  // logarithms of all messages to an arc are added to its sum.
  void send(const double* log_odds, Messages old, Messages fresh, double* sums);
  // After `send`, the largest difference between the logarithms of messages; -inf if there is no
  // pair of arcs that both can be on.
  double largest_change(Messages old, Messages fresh);

  // P(both on) of all pairs; returns the sum of the logarithms of their sums over four states.
  double beliefs(const double* log_odds, Messages last, double* both);

  // Gradients by the logarithms of messages, by log-odds, and by scores; all are added to.
  struct Gradients {
    Messages messages;
    double *log_odds, *scores;
  };
  // The pullback of `beliefs`.
  void beliefs_back(const double* log_odds, Messages last, const double* d_both,
                    const Gradients& gradients);
  // The pullback of `send`: the gradients by fresh messages become those by old ones.
  void send_back(const double* log_odds, Messages old, const double* d_sums,
                 const Gradients& gradients);

  // From the tables of the model, 0 for those that are null, and back.
  void read(const PartScores& tables, double* pairs) const;
  void write(double* pairs, const PartValues<double>& tables) const;

 private:
  void list_siblings(const PartIndex& parts, const ArcOrder& order);
  void list_grandparents(const PartIndex& parts, const ArcOrder& order, Trees trees);
  void set_odds(const double* log_odds);
  void to_seats(const double* by_arc, double* by_seat) const;
  template <class Visit>
  void visit_rows(const Visit& visit);
  template <class Visit>
  void back(const Visit& visit, double* d_log_odds);

  Index n_arcs_ = 0, n_siblings_ = 0, of_root_ = 0, size_ = 0;
  double largest_ = 0.0;  // size of a score
  std::vector<PairRow> siblings_, grandparents_;
  // Runs of siblings go from left to right, others in the order of arcs: the arc in each seat.
  std::vector<Index> seats_;
  std::vector<Index> skipped_;   // places of pairs that no tree has
  std::vector<Index> n_pairs_;   // by arc
  std::vector<double> weights_;  // e^s
  // By arc and by seat, with room for a pack behind: odds, messages to arcs, gradients.
  std::vector<double> odds_, seated_odds_, of_arcs_, of_seats_, d_sums_, d_seats_;
};

}  // namespace arbora::inference
