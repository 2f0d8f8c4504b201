// The loops of pair_rows.hpp over rows of pairs, four pairs at a time.
#pragma once

#include "arbora/inference/pair_rows.hpp"

namespace arbora::inference {

// Numbers of the arcs of runs, and of those that rows have of their own: odds, or gradients.
struct Given {
  const double *runs, *own;
};
struct Totals {
  double *runs, *own;
};

// The messages of all pairs, multiplied into the products of the arcs that receive them.
void send_rows(const PairRow* rows, Index n_rows, Given odds, const double* weights,
               PairRows::Messages old, PairRows::Messages fresh, Totals products);

// The largest of old / fresh and fresh / old among all messages to arcs that can be on; 0 if there
// is no pair of such arcs.
double largest_ratio(const PairRow* rows, Index n_rows, Given odds, PairRows::Messages old,
                     PairRows::Messages fresh);

// P(both on) of every pair; returns the sum of the logarithms of the sums over the four states.
double believe_rows(const PairRow* rows, Index n_rows, Given odds, const double* weights,
                    PairRows::Messages last, double* both);

// Gradients of the two. All are added to, except that send_rows_back replaces those by messages.
void believe_rows_back(const PairRow* rows, Index n_rows, Given odds, const double* weights,
                       PairRows::Messages last, const double* d_both, PairRows::Messages d_messages,
                       Totals d_odds, double* d_scores);
void send_rows_back(const PairRow* rows, Index n_rows, Given odds, const double* weights,
                    PairRows::Messages old, Given d_sums, PairRows::Messages d_messages,
                    Totals d_odds, double* d_scores);

// Exponentials of numbers clipped to -bound..bound; a whole number of packs is written. Returns the
// largest magnitude before clipping.
double bounded_exponentials(const double* numbers, Index count, double bound, double* answer);

// Adds the logarithms of positive numbers to sums.
void add_logarithms(const double* positive, Index count, double* sums);

}  // namespace arbora::inference
