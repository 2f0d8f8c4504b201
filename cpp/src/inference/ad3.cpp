#include "arbora/inference/ad3.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/active_set.hpp"
#include "arbora/tree/part_kinds.hpp"

namespace arbora::inference {
namespace {

// Constants of the authors' implementation, except eta, which they start at 0.1 for any scores. The
// scores of different learners differ by orders of magnitude: eta is in units of the initial
// disagreement of the factors per word.
constexpr double kFirstEta = 5.0, kLeastEta = 0.05, kMostEta = 5000.0, kEtaFactor = 2.0;
constexpr double kResidual = 1e-6, kOpenGap = 1e-4;
constexpr Index kAdaptEvery = 10, kRefreshEvery = 50, kCheckEvery = 5;
constexpr int kActiveSetSteps = 10;

// A search over some of the arcs: the tree's, or that of a head's automaton, whose links are arcs
// into the head.
struct Factor {
  std::vector<Index> arcs;
  std::vector<double> lambda, scores;
  ActiveSet set;
  std::vector<std::uint8_t> best;
  bool settled = false;  // unchanged since it was last solved

  Factor(std::vector<Index> of, BestConfiguration oracle)
      : arcs(std::move(of)),
        lambda(arcs.size(), 0.0),
        scores(arcs.size()),
        set(static_cast<Index>(arcs.size()), std::move(oracle)),
        best(arcs.size()) {}
};

class Ad3 {
 public:
  Ad3(const StepTables& steps, const std::vector<PartFactor>& others, const ArcOrder& order,
      const double* arcs, const TreeQuestion& question, std::int32_t* heads, Workspace& workspace)
      : steps_(steps),
        others_(others),
        question_(question),
        order_(order),
        arcs_(arcs),
        heads_(heads),
        workspace_(workspace),
        theta_(at(order_.size())),
        p_(theta_.size(), 0.5),
        degree_(theta_.size(), 0.0),
        tree_search_(order_, question.trees, question.root),
        found_(at(order_.n_words)) {
    for (Index a = 0; a < order_.size(); ++a) theta_[at(a)] = arcs[order_.cell(a)];
    add_tree();
    const bool walks = in_walks(steps) || others.empty();
    for (Index h = 0; walks && h <= order_.n_words; ++h) add_automaton(h);
    for (const PartFactor& other : others) factors_.emplace_back(other.arcs, other.best);
    for (const Factor& factor : factors_) {
      for (const Index a : factor.arcs) degree_[at(a)] += 1.0;
    }
  }

  DualAnswer solve(Interruption& interruption) {
    Polling polling(interruption);
    const Deadline deadline(question_.seconds);
    if (!round(theta_)) return best_;
    best_.iterations = 1;
    check();
    set_eta();
    for (Index k = 1; k <= question_.max_iterations && !is_closed(best_.bound, best_.score); ++k) {
      best_.iterations = k;
      if (question_.lazy == false || k % kRefreshEvery == 0) unsettle();
      for (Factor& factor : factors_) {
        if (!factor.settled) solve_factor(factor, polling);
      }
      const Residuals residuals = update();
      const bool converged = residuals.primal < kResidual && residuals.dual < kResidual;
      const bool late = deadline.is_over();
      if (k % kCheckEvery == 0 || k == 1 || converged || late) {
        check();
        // The relaxation's optimum is no tree; where it is one, the gap soon closes.
        const double gap = best_.bound - best_.score;
        if (late || (converged && gap > kOpenGap * std::max(1.0, std::abs(best_.score)))) break;
      }
      if (k % kAdaptEvery == 0) adapt(residuals);
    }
    best_.bound = std::max(best_.bound, best_.score);
    best_.certified = is_closed(best_.bound, best_.score);
    return best_;
  }

 private:
  // Whether any automaton scores more than arcs.
  static bool in_walks(const StepTables& steps) {
    bool found = steps.has_automata();
    for_each_kind([&](PartKind kind) {
      found = found || (steps.parts().kinds().has(kind) && layout_of(kind).in_walks);
    });
    return found;
  }

  struct Residuals {
    double primal, dual;
  };

  void set_eta() {
    double gap = best_.bound - best_.score;
    if (!(gap < kInfinity)) gap = std::max(1.0, std::abs(best_.bound));  // automata refuse the tree
    unit_ = std::max(gap / static_cast<double>(order_.n_words), kStill);
    eta_ = kFirstEta * unit_;
  }

  void add_tree() {
    std::vector<Index> all(theta_.size());
    for (Index a = 0; a < order_.size(); ++a) all[at(a)] = a;
    factors_.emplace_back(std::move(all), [this](const double* scores, std::uint8_t* x) {
      for (Index a = 0; a < order_.size(); ++a) tree_search_.set_weight(a, scores[a]);
      find_tree();
      std::fill(x, x + order_.size(), std::uint8_t{0});
      for (Index m = 1; m <= order_.n_words; ++m) x[order_(found_[at(m - 1)], m)] = 1;
      return 0.0;
    });
  }

  void add_automaton(Index h) {
    std::vector<Index> arcs;
    const Index first = order_.first[at(h)], count = order_.first[at(h + 1)] - first;
    for (Index a = first; a < first + count; ++a) arcs.push_back(a);
    const bool links = steps_.grand() && h > 0;
    const Index first_link = steps_.parts().first_link(h);
    if (links) {
      for (Index i = 0; i < steps_.choices(h); ++i)
        arcs.push_back(order_.of_link[at(first_link + i)]);
    }
    factors_.emplace_back(std::move(arcs), [this, h, count, links](const double* scores,
                                                                   std::uint8_t* x) {
      const Walk walk = best_walk(steps_, h, scores, links ? scores + count : nullptr, x, scratch_);
      double own = walk.value;
      for (Index i = 0; i < count; ++i) own -= x[i] != 0 ? scores[i] : 0.0;
      if (links) {
        std::fill(x + count, x + count + steps_.choices(h), std::uint8_t{0});
        x[count + walk.choice] = 1;
        own -= scores[count + walk.choice];
      }
      return own;
    });
  }

  bool find_tree() { return tree_search_.best(found_.data(), workspace_); }

  // q: the factor's part of the arc scores, its multipliers, and the pull of the averages p.
  void solve_factor(Factor& factor, Polling& polling) {
    for (std::size_t i = 0; i < factor.arcs.size(); ++i) {
      const std::size_t a = at(factor.arcs[i]);
      factor.scores[i] = theta_[a] / degree_[a] + factor.lambda[i] + eta_ * p_[a];
    }
    factor.set.solve(factor.scores.data(), eta_, kActiveSetSteps, polling);
  }

  // p: the mean of the factors' q; lambda -= eta (q - p).
  Residuals update() {
    std::vector<double> mean(p_.size(), 0.0);
    for (const Factor& factor : factors_) {
      for (std::size_t i = 0; i < factor.arcs.size(); ++i) {
        const std::size_t a = at(factor.arcs[i]);
        mean[a] += factor.set.q()[i] / degree_[a];
      }
    }
    double primal = 0.0, dual = 0.0, count = 0.0;
    for (Factor& factor : factors_) {
      factor.settled = true;
      for (std::size_t i = 0; i < factor.arcs.size(); ++i) {
        const std::size_t a = at(factor.arcs[i]);
        const double apart = factor.set.q()[i] - mean[a], moved = mean[a] - p_[a];
        factor.lambda[i] -= eta_ * apart;
        primal += apart * apart;
        dual += moved * moved;
        count += 1.0;
        if (std::abs(apart) > kStill || std::abs(moved) > kStill) factor.settled = false;
      }
    }
    p_ = std::move(mean);
    return {std::sqrt(primal / count), std::sqrt(dual / count)};
  }

  void unsettle() {
    for (Factor& factor : factors_) factor.settled = false;
  }

  // The dual value at the multipliers, and the trees that they and the averages suggest.
  void check() {
    double value = 0.0;
    for (Factor& factor : factors_) {
      for (std::size_t i = 0; i < factor.arcs.size(); ++i) {
        const std::size_t a = at(factor.arcs[i]);
        factor.scores[i] = theta_[a] / degree_[a] + factor.lambda[i];
      }
      value += factor.set.best(factor.scores.data(), factor.best.data());
      if (&factor == &factors_.front()) keep_if_best();
    }
    best_.bound = std::min(best_.bound, value);
    round(p_);
  }

  bool round(const std::vector<double>& by) {
    for (Index a = 0; a < order_.size(); ++a) tree_search_.set_weight(a, by[at(a)]);
    if (!find_tree()) return false;
    keep_if_best();
    return true;
  }

  void keep_if_best() {
    const double score =
        score_of_tree(steps_, arcs_, found_.data()) + score_of_factors(others_, found_.data());
    if (best_.iterations > 0 && score <= best_.score) return;
    best_.score = score;
    std::copy(found_.begin(), found_.end(), heads_);
  }

  void adapt(const Residuals& residuals) {
    double eta = eta_;
    if (residuals.primal > 100.0 * residuals.dual) eta *= kEtaFactor;
    if (residuals.dual > 10.0 * residuals.primal) eta /= kEtaFactor;
    eta = std::clamp(eta, kLeastEta * unit_, kMostEta * unit_);
    if (eta != eta_) unsettle();
    eta_ = eta;
  }

  static constexpr double kStill = 1e-12;

  const StepTables& steps_;
  const std::vector<PartFactor>& others_;
  TreeQuestion question_;
  const ArcOrder& order_;
  const double* arcs_;
  std::int32_t* heads_;
  Workspace& workspace_;
  std::vector<double> theta_, p_, degree_;
  TreeSearch tree_search_;
  std::vector<std::int32_t> found_;
  std::vector<Factor> factors_;
  WalkScratch scratch_;
  double eta_ = kFirstEta, unit_ = 1.0;
  DualAnswer best_;
};

}  // namespace

DualAnswer solve_ad3(const StepTables& steps, const std::vector<PartFactor>& others,
                     const ArcOrder& order, const double* arcs, const TreeQuestion& question,
                     std::int32_t* heads, Workspace& workspace, Interruption& interruption) {
  return Ad3(steps, others, order, arcs, question, heads, workspace).solve(interruption);
}

}  // namespace arbora::inference
