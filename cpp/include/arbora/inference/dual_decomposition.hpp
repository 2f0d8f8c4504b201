// Decoding of second-order scores by dual decomposition (Koo et al. 2010).
//
// The best tree under arc scores is easy, and so are the best modifiers of every head under scores
// of second order; the best tree under both is NP-hard. So two easy searches each get a copy of the
// arcs, y and z, and multipliers u (and v, for the arc to a head's own head) that penalise an
// arc in one copy and reward it in the other until the copies agree. The sum of the two optima is
// an upper bound at any multipliers, so agreement proves the tree best.
#pragma once

#include <span>
#include <vector>

#include "arbora/base/interruption.hpp"
#include "arbora/inference/arc_order.hpp"
#include "arbora/inference/head_automata.hpp"
#include "arbora/inference/tree_search.hpp"
#include "arbora/inference/walk_search.hpp"

namespace arbora::inference {

// A tree is certified if no bound exceeds its score by more than this, relatively.
inline constexpr double kClosedGap = 1e-9;

struct TreeQuestion {
  Trees trees = Trees::nonprojective;
  Root root = Root::single;
  Index max_iterations = 5000;
  bool lazy = true;  // re-run an automaton only when its multipliers have changed (section 7.4)
  double seconds = kInfinity;  // for each sentence; then the answer is the best one so far
  double tree_share = 0.001;   // of the arc scores, given to the tree to break ties (appendix A.2)
};

// The caller's array receives the tree itself. Without any tree the score is -inf.
struct DualAnswer {
  double score = kForbidden, bound = kInfinity;
  bool certified = false;
  Index iterations = 0;
};

// The course of the iterations, for plots.
struct DualTrace {
  std::vector<std::int32_t> recomputed;  // automata that were run
  std::vector<double> duals, primals;    // the dual value, and the best score so far
};

bool is_closed(double bound, double score);

struct Multipliers {
  std::vector<double> u, v;  // by arc
};

class DualDecomposition {
 public:
  // `arcs` are the scores of the cells of (n+1) x (n+1), best on one level (level_arcs.hpp). The
  // question's time begins now.
  DualDecomposition(const StepTables& steps, const double* arcs, const TreeQuestion& question);

  // The loop of Figures 1 and 2. May be called again, and continues from the last multipliers.
  DualAnswer solve(std::int32_t* heads, Workspace& workspace, Interruption& interruption,
                   DualTrace* trace = nullptr);

  // For branch and bound: a new start from other multipliers, without the arcs that are forbidden,
  // which ends as soon as no tree can beat the score `floor`.
  void restart(const Multipliers& multipliers, const std::vector<std::uint8_t>& forbidden,
               double floor, Index max_iterations);
  const ArcOrder& order() const { return order_; }
  const Multipliers& multipliers() const { return multipliers_; }
  // In how many iterations y had each arc.
  const std::vector<std::int32_t>& uses() const { return uses_; }

 private:
  bool find_tree(Workspace& workspace);
  Index run_automata(Polling& polling);
  void score_tree();
  void find_disputes();
  double dual_value() const;
  double first_step_size(double dual) const;
  void take_step(double size);
  void set_weights(Index arc);

  const StepTables* steps_;
  const PartIndex* parts_;
  TreeQuestion question_;
  Deadline deadline_;
  ArcOrder order_;
  bool grand_;
  TreeSearch tree_search_;
  WalkSearch walk_search_;

  std::vector<double> theta_;  // scores of arcs
  Multipliers multipliers_;
  std::vector<std::uint8_t> forbidden_;
  double floor_ = kForbidden;
  bool warm_ = false;
  std::vector<double> for_walks_, for_links_;  // the automata's scores, by arc and by link

  std::vector<std::int32_t> heads_, found_, tree_arcs_;  // y, by word
  std::vector<std::uint8_t> y_, z_;                      // by arc
  std::vector<Walk> walks_;                              // by head
  std::vector<double> own_;                              // the score of y at each head
  double score_ = kForbidden;                            // of y, in full

  std::vector<std::int32_t> uses_;

  std::vector<Index> stale_, moved_;  // heads to run, heads to score
  std::vector<Index> disputed_;       // arcs, and beyond them words
  std::vector<std::uint8_t> is_stale_, is_moved_;
};

}  // namespace arbora::inference
