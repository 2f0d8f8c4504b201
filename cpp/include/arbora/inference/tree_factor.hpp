// The hard factor of belief propagation that constrains the arcs that are on to form a tree: TREE
// over spanning trees, PTREE over projective ones (Smith & Eisner 2008; Gormley et al. 2015, 5.3).
//
// Incoming log-odds are arc scores; with their marginals mu,
//
//     out = log mu / (1 - mu) - in.
//
// 1 - mu is summed over the word's other heads; where one of the two is so small that rounding or
// underflow cost it digits, the odds come from logarithms of marginals, which are precise. The
// pullback turns d_out into a cotangent of the marginals, d_out / (mu (1 - mu)), and multiplies by
// their Jacobian. Arcs that are not among the variables are absent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/base/workspace.hpp"
#include "arbora/tree/arc_scores.hpp"

namespace arbora::inference {

class TreeFactor {
 public:
  // Variable i is the arc heads[i] -> modifiers[i].
  void set(Index n_words, std::span<const std::int32_t> heads,
           std::span<const std::int32_t> modifiers, Trees trees, Root root);

  Index size() const { return static_cast<Index>(cells_.size()); }
  // Whether there is a tree over the variables that are not -inf.
  bool possible(const double* incoming);

  // Clears the record of which arcs are in a tree; call it before messages in which other arcs are
  // forbidden.
  void forget() { possible_.clear(); }

  // log Z of the trees under the incoming log-odds, of which -inf forbids an arc. `marginals` and
  // `outgoing` have a number per variable, `outgoing` 0 where the arc is forbidden. `certain` is
  // the message to an arc that all trees have, or none.
  double messages(const double* incoming, double certain, double* marginals, double* outgoing);

  // The pullback of `messages`, given its marginals. The gradient of an almost certain arc takes a
  // separate sum, unless it is negligible.
  void pullback(const double* incoming, const double* marginals, const double* d_outgoing,
                double negligible, double* d_incoming);

 private:
  ArcScores scatter(const double* incoming);
  Index word_of(Index i) const { return cells_[static_cast<std::size_t>(i)] % (n_words_ + 1); }
  void sum_others();
  void recompute_doubtful(const double* incoming, const double* marginals, double doubtful,
                          double certain, double* outgoing);
  bool send_certain_messages(const double* incoming, const double* marginals, double doubtful,
                             double certain, double* outgoing);
  void find_possible(const double* marginals);
  bool exclude_cycles();
  void refine_possible();
  void count_trees();
  double log_sum_of_others(Index i);
  bool require_or_forbid(Index i, bool forbid);
  void add_to_others(Index i, double amount);
  void pull_alone(Index i, const double* marginals, double d_message, double* d_incoming);

  Index n_words_ = 0;
  Trees trees_ = Trees::nonprojective;
  Root root_ = Root::single;
  std::vector<Index> cells_;               // of each variable
  std::vector<Index> by_word_, first_of_;  // the variables of each word
  std::vector<double> scores_, dense_, others_, off_, d_dense_, answer_, column_shift_;
  std::vector<double> logs_;
  std::vector<char> possible_;     // whether a tree has the arc; empty if that is not known
  std::vector<Index> n_possible_;  // by word, arcs that a tree has
  std::vector<char> known_;        // by word: or some that are called possible are in no tree
  std::vector<Index> only_head_;   // by word, the head of its only possible arc, or -1
  std::vector<Index> alone_;       // variables whose messages or gradients need separate sums
  Workspace workspace_;
};

}  // namespace arbora::inference
