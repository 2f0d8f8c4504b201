#include "arbora/inference/branch_and_bound.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

namespace arbora::inference {
namespace {

// Iterations for each bound: it need not be tight, dividing again is cheap.
constexpr Index kIterations = 100;

TreeQuestion limited(TreeQuestion question) {
  question.max_iterations = std::min(question.max_iterations, kIterations);
  return question;
}

struct Node {
  double bound;
  Index depth;
  Multipliers multipliers;
  std::vector<std::uint8_t> forbidden;  // by arc

  // The queue's top: the highest bound, of equals the deepest.
  bool operator<(const Node& other) const {
    return bound != other.bound ? bound < other.bound : depth < other.depth;
  }
};

class Search {
 public:
  Search(const StepTables& steps, const double* arcs, const TreeQuestion& question, bool to_the_end,
         std::int32_t* heads, Workspace& workspace, Interruption& interruption)
      : steps_(steps),
        arcs_(arcs),
        question_(question),
        deadline_(question.seconds),
        dual_(steps, arcs, limited(question)),
        to_the_end_(to_the_end),
        compared_(question.max_iterations <= kIterations),  // the root node was the whole of it
        heads_(heads),
        found_(at(steps.parts().n_words())),
        workspace_(workspace),
        interruption_(interruption),
        force_(force_of(steps, arcs)) {}

  DualAnswer solve() {
    best_ = dual_.solve(heads_, workspace_, interruption_);
    if (best_.certified || best_.iterations == 0) return best_;
    queue_.push({best_.bound, 0, dual_.multipliers(),
                 std::vector<std::uint8_t>(at(dual_.order().size()), 0)});
    divide(queue_.top());
    queue_.pop();
    while (!queue_.empty() && !is_closed(bound(), best_.score)) {
      const bool at_limit = best_.iterations >= question_.max_iterations;
      if (deadline_.is_over() || (at_limit && compared_ && !to_the_end_)) {
        best_.bound = bound();
        return best_;
      }
      if (at_limit && !compared_) {
        compare_with_subgradient();
        continue;
      }
      const Node node = queue_.top();
      queue_.pop();
      visit(node);
    }
    best_.bound = best_.score;
    best_.certified = best_.score != kForbidden;
    return best_;
  }

 private:
  double bound() const { return std::min(queue_.top().bound, bound_of_all_); }

  // What dual decomposition of all trees finds in as many iterations, so that the answer is never
  // worse than its answer.
  void compare_with_subgradient() {
    compared_ = true;
    question_.seconds = deadline_.left();
    DualDecomposition whole(steps_, arcs_, question_);
    const DualAnswer answer = whole.solve(found_.data(), workspace_, interruption_);
    best_.iterations += answer.iterations;
    bound_of_all_ = answer.bound;
    keep_if_best(answer);
  }

  void keep_if_best(const DualAnswer& answer) {
    if (answer.score <= best_.score) return;
    best_.score = answer.score;
    std::copy(found_.begin(), found_.end(), heads_);
  }

  // A multiplier that makes an automaton take an arc whatever else it scores.
  static double force_of(const StepTables& steps, const double* arcs) {
    const PartIndex& parts = steps.parts();
    double all = 1.0;
    for (Index h = 0; h <= parts.n_words(); ++h) {
      for (const int side : {0, 1}) {
        const auto modifiers = parts.modifiers(h, side);
        double most = steps.automaton(h, side) == nullptr ? 0.0 : steps.automaton(h, side)->most();
        for (Index choice = 0; choice < steps.choices(h); ++choice) {
          const double* table = steps.side(h, choice, side);
          for (Index i = 0; i < sibling_pairs(static_cast<Index>(modifiers.size())); ++i) {
            if (table[i] != kForbidden) most = std::max(most, std::abs(table[i]));
          }
        }
        all += 4.0 * most * static_cast<double>(modifiers.size() + 1);
        for (const std::int32_t m : modifiers) {
          all += 2.0 * std::abs(arcs[h * (parts.n_words() + 1) + m]);
        }
      }
    }
    return all;
  }

  void visit(const Node& node) {
    interruption_.poll();
    const Index left = question_.max_iterations - best_.iterations;
    dual_.restart(node.multipliers, node.forbidden, best_.score,
                  left > 0 ? std::min(kIterations, left) : kIterations);
    const DualAnswer answer = dual_.solve(found_.data(), workspace_, interruption_);
    best_.iterations += answer.iterations;
    if (answer.iterations == 0) return;  // no tree is left here
    keep_if_best(answer);
    const double bound = std::min(node.bound, answer.bound);
    if (!answer.certified && !is_closed(bound, best_.score)) {
      divide({bound, node.depth, dual_.multipliers(), node.forbidden});
    }
  }

  // Puts both halves of a node into the queue; a node that holds a single tree has none.
  void divide(const Node& node) {
    const Index arc = least_certain(node);
    if (arc < 0) return;
    Node without = node, with = node;
    without.depth = with.depth = node.depth + 1;
    without.forbidden[at(arc)] = 1;
    const ArcOrder& order = dual_.order();
    for (Index a = 0; a < order.size(); ++a) {
      if (a != arc && order.modifier[at(a)] == order.modifier[at(arc)]) with.forbidden[at(a)] = 1;
    }
    force_only_arcs(with);
    force_only_arcs(without);
    queue_.push(std::move(with));
    queue_.push(std::move(without));
  }

  // The arc, of the words that have a choice, whose share of the trees is nearest to one half.
  Index least_certain(const Node& node) const {
    const ArcOrder& order = dual_.order();
    const std::vector<Index> choices = choices_of_words(node);
    const auto& uses = dual_.uses();
    double iterations = 0.0;  // every y has one arc into word 1
    for (Index a = 0; a < order.size(); ++a) {
      if (order.modifier[at(a)] == 1) iterations += uses[at(a)];
    }
    Index chosen = -1;
    double least = kInfinity;
    for (Index a = 0; a < order.size(); ++a) {
      if (node.forbidden[at(a)] != 0 || choices[at(order.modifier[at(a)])] < 2) continue;
      const double certainty = std::abs(uses[at(a)] / std::max(iterations, 1.0) - 0.5);
      if (certainty < least) {
        least = certainty;
        chosen = a;
      }
    }
    return chosen;
  }

  std::vector<Index> choices_of_words(const Node& node) const {
    const ArcOrder& order = dual_.order();
    std::vector<Index> choices(at(order.n_words + 1), 0);
    for (Index a = 0; a < order.size(); ++a) {
      if (node.forbidden[at(a)] == 0) ++choices[at(order.modifier[at(a)])];
    }
    return choices;
  }

  // A word's only arc is in every tree, so its multiplier may be anything: one that makes the head
  // take it makes the bound tight at once.
  void force_only_arcs(Node& node) const {
    const ArcOrder& order = dual_.order();
    const std::vector<Index> choices = choices_of_words(node);
    for (Index a = 0; a < order.size(); ++a) {
      if (node.forbidden[at(a)] == 0 && choices[at(order.modifier[at(a)])] == 1) {
        node.multipliers.u[at(a)] = -force_;
      }
    }
  }

  const StepTables& steps_;
  const double* arcs_;
  TreeQuestion question_;
  Deadline deadline_;
  DualDecomposition dual_;
  bool to_the_end_;
  bool compared_;
  double bound_of_all_ = kInfinity;
  std::int32_t* heads_;
  std::vector<std::int32_t> found_;
  Workspace& workspace_;
  Interruption& interruption_;
  double force_;
  DualAnswer best_;
  std::priority_queue<Node> queue_;
};

}  // namespace

DualAnswer branch_and_bound(const StepTables& steps, const double* arcs,
                            const TreeQuestion& question, bool to_the_end, std::int32_t* heads,
                            Workspace& workspace, Interruption& interruption) {
  return Search(steps, arcs, question, to_the_end, heads, workspace, interruption).solve();
}

}  // namespace arbora::inference
