#include "arbora/inference/dual_decomposition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arbora::inference {
namespace {

// Adds an entry to a list unless it is there.
void mark(Index item, std::vector<Index>& list, std::vector<std::uint8_t>& is_listed) {
  if (is_listed[at(item)] != 0) return;
  is_listed[at(item)] = 1;
  list.push_back(item);
}

}  // namespace

bool is_closed(double bound, double score) {
  if (bound == kForbidden) return true;
  if (score == kForbidden) return false;
  return bound - score <= kClosedGap * std::max(1.0, std::abs(score));
}

DualDecomposition::DualDecomposition(const StepTables& steps, const double* arcs,
                                     const TreeQuestion& question)
    : steps_(&steps),
      parts_(&steps.parts()),
      question_(question),
      deadline_(question.seconds),
      order_(steps.parts()),
      grand_(steps.grand()),
      tree_search_(order_, question.trees, question.root),
      walk_search_(steps),
      theta_(at(order_.size())),
      multipliers_{std::vector<double>(theta_.size(), 0.0),
                   std::vector<double>(theta_.size(), 0.0)},
      forbidden_(theta_.size(), 0),
      for_walks_(theta_.size()),
      for_links_(theta_.size() + 1, 0.0),
      heads_(at(order_.n_words), -1),
      found_(heads_.size()),
      tree_arcs_(heads_.size()),
      y_(theta_.size(), 0),
      z_(theta_.size(), 0),
      walks_(at(order_.n_words + 1)),
      own_(walks_.size()),
      uses_(theta_.size(), 0),
      is_stale_(walks_.size(), 0),
      is_moved_(walks_.size(), 0) {
  stale_.reserve(walks_.size());
  moved_.reserve(walks_.size());
  disputed_.reserve(theta_.size());
  for (Index a = 0; a < order_.size(); ++a) {
    theta_[at(a)] = arcs[order_.cell(a)];
    set_weights(a);
  }
  walk_search_.forget();
  for (Index h = 0; h <= order_.n_words; ++h) {  // all heads are new, also those y leaves alone
    mark(h, stale_, is_stale_);
    mark(h, moved_, is_moved_);
  }
}

DualAnswer DualDecomposition::solve(std::int32_t* heads, Workspace& workspace,
                                    Interruption& interruption, DualTrace* trace) {
  DualAnswer best;
  Polling polling(interruption);
  double last = kInfinity, first_step = 0.0;
  Index increases = 0;
  for (Index k = 1; k <= question_.max_iterations; ++k) {
    if (!find_tree(workspace)) return best;
    const Index recomputed = run_automata(polling);
    const double dual = dual_value();
    best.iterations = k;
    best.bound = std::min(best.bound, dual);
    if (!moved_.empty()) score_tree();
    if (k == 1 || score_ > best.score) {  // with the full score, not with the dual's
      best.score = score_;
      std::copy(heads_.begin(), heads_.end(), heads);
    }
    if (trace != nullptr) {
      trace->recomputed.push_back(static_cast<std::int32_t>(recomputed));
      trace->duals.push_back(dual);
      trace->primals.push_back(best.score);
    }
    if (dual == kForbidden) return best;  // an automaton forbids everything
    find_disputes();
    if (disputed_.empty()) {  // Theorem 1: the dual value is this tree's score
      std::copy(heads_.begin(), heads_.end(), heads);
      best.score = best.bound = score_;
      best.certified = true;
      return best;
    }
    if (is_closed(best.bound, std::max(best.score, floor_)) || deadline_.is_over()) break;
    // Appendix A.1: the step shrinks with the number of times that the dual has increased.
    if (k == 1) first_step = first_step_size(dual);
    if (dual > last) ++increases;
    last = dual;
    take_step(first_step / static_cast<double>(1 + increases));
  }
  best.bound = std::max(best.bound, best.score);  // they may cross by rounding
  best.certified = is_closed(best.bound, best.score);
  return best;
}

// y: the best tree under the tree side's weights.
bool DualDecomposition::find_tree(Workspace& workspace) {
  const Index n = order_.n_words;
  if (!tree_search_.best(found_.data(), workspace)) return false;
  for (Index m = 1; m <= n; ++m) {
    const std::int32_t head = found_[at(m - 1)];
    std::int32_t& known = heads_[at(m - 1)];
    if (head == known) continue;
    const std::int32_t arc = order_(head, m);
    if (known >= 0) {
      y_[at(tree_arcs_[at(m - 1)])] = 0;
      mark(known, moved_, is_moved_);
    }
    mark(head, moved_, is_moved_);
    if (grand_) mark(m, moved_, is_moved_);
    y_[at(arc)] = 1;
    tree_arcs_[at(m - 1)] = arc;
    known = head;
  }
  for (const std::int32_t arc : tree_arcs_) ++uses_[at(arc)];
  return true;
}

// z: the best walks of the heads whose multipliers have changed; how many there were.
Index DualDecomposition::run_automata(Polling& polling) {
  if (!question_.lazy) {
    walk_search_.forget();
    for (Index h = 0; h <= order_.n_words; ++h) mark(h, stale_, is_stale_);
  }
  polling.after(static_cast<double>(order_.n_words * order_.n_words));
  for (const Index h : stale_) {
    const Index first = order_.first[at(h)];
    const double* links = grand_ ? for_links_.data() + parts_->first_link(h) : nullptr;
    walks_[at(h)] = walk_search_.best(h, for_walks_.data() + first, links, z_.data() + first);
    const auto k = static_cast<double>(order_.first[at(h + 1)] - first);
    polling.after(static_cast<double>(steps_->choices(h)) * (k * k + 8.0));
    is_stale_[at(h)] = 0;
  }
  const auto count = static_cast<Index>(stale_.size());
  stale_.clear();
  return count;
}

// The full score of y, from its score at each head. Only heads that lost or gained a modifier are
// scored again, and with grandparents the words whose grandparent changed.
void DualDecomposition::score_tree() {
  for (const Index h : moved_) {
    const Index first = order_.first[at(h)];
    const Index choice =
        grand_ && h > 0 ? order_.link[at(tree_arcs_[at(h - 1)])] - parts_->first_link(h) : 0;
    own_[at(h)] = score_of_walk(*steps_, h, choice, theta_.data() + first, y_.data() + first);
    is_moved_[at(h)] = 0;
  }
  moved_.clear();
  score_ = std::accumulate(own_.begin(), own_.end(), 0.0);
}

double DualDecomposition::dual_value() const {
  double value = 0.0;
  for (const std::int32_t arc : tree_arcs_) value += tree_search_.weight(arc);
  for (const Walk& walk : walks_) value += walk.value;
  return value;
}

// The arcs on which y and z differ, then those on which y and the automata's own heads do; the
// latter as numbers beyond the arcs.
void DualDecomposition::find_disputes() {
  disputed_.clear();
  for (Index a = 0; a < order_.size(); ++a) {
    if (y_[at(a)] != z_[at(a)]) disputed_.push_back(a);
  }
  if (!grand_) return;
  for (Index h = 1; h <= order_.n_words; ++h) {
    const std::int32_t chosen = order_.of_link[at(parts_->first_link(h) + walks_[at(h)].choice)];
    if (chosen != tree_arcs_[at(h - 1)]) disputed_.push_back(order_.size() + h);
  }
}

// delta = f(z) - f(y) of the first iteration (appendix A.1). With the arc scores split between the
// two sides it can come out a little below 0; the gap cannot. From good multipliers that
// step would be far too large: there, the step is that which would close the gap if the dual were
// linear.
double DualDecomposition::first_step_size(double dual) const {
  double gap = dual - std::max(score_, floor_);
  if (gap == kInfinity) gap = std::max(1.0, std::abs(dual));  // automata forbid y
  if (warm_) return gap / static_cast<double>(disputed_.size());
  double of_z = 0.0;
  for (const Walk& walk : walks_) of_z += walk.value;
  for (Index a = 0; a < order_.size(); ++a) {
    if (z_[at(a)] != 0) of_z += question_.tree_share * theta_[at(a)];
  }
  const double delta = of_z - score_;
  return delta > 0.0 && delta < kInfinity ? delta : gap;
}

// u += size (z - y), v += size (z_up - y).
void DualDecomposition::take_step(double size) {
  for (const Index number : disputed_) {
    if (number < order_.size()) {
      multipliers_.u[at(number)] += z_[at(number)] != 0 ? size : -size;
      set_weights(number);
      mark(order_.head[at(number)], stale_, is_stale_);
      continue;
    }
    const Index h = number - order_.size();
    const Index chosen = order_.of_link[at(parts_->first_link(h) + walks_[at(h)].choice)];
    const Index in_tree = tree_arcs_[at(h - 1)];
    multipliers_.v[at(chosen)] += size;
    multipliers_.v[at(in_tree)] -= size;
    set_weights(chosen);
    set_weights(in_tree);
    mark(h, stale_, is_stale_);
  }
}

// Both sides' weights come from the multipliers afresh, so that rounding errors do not accumulate.
void DualDecomposition::set_weights(Index arc) {
  const double theta = theta_[at(arc)];
  const double u = multipliers_.u[at(arc)], v = multipliers_.v[at(arc)];
  const bool gone = forbidden_[at(arc)] != 0;
  const double for_walk = gone ? kForbidden : (1.0 - question_.tree_share) * theta - u;
  const Index h = order_.head[at(arc)];
  if (for_walk != for_walks_[at(arc)]) {
    walk_search_.change(h, order_.modifier[at(arc)] > h ? 1 : 0, for_walk - for_walks_[at(arc)]);
    for_walks_[at(arc)] = for_walk;
  }
  for_links_[at(order_.link[at(arc)])] = gone ? kForbidden : -v;
  tree_search_.set_weight(arc, gone ? kForbidden : question_.tree_share * theta + u + v);
}

void DualDecomposition::restart(const Multipliers& multipliers,
                                const std::vector<std::uint8_t>& forbidden, double floor,
                                Index max_iterations) {
  multipliers_ = multipliers;
  forbidden_ = forbidden;
  floor_ = floor;
  warm_ = true;
  question_.max_iterations = max_iterations;
  std::fill(uses_.begin(), uses_.end(), 0);
  for (Index a = 0; a < order_.size(); ++a) set_weights(a);
  walk_search_.forget();
  for (Index h = 0; h <= order_.n_words; ++h) mark(h, stale_, is_stale_);
}

}  // namespace arbora::inference
