// Huang & Chiang (2005), Algorithm 3, without recursion, so that long chains of nodes do not
// overflow the stack.
//
// The derivations of an edge form a grid: (i, j) combines the i-th best of its first tail with the
// j-th best of its second. Scores fall along both axes, so a node's candidates are the frontier of
// its edges' grids. From (i, j) the frontier moves to (i, j + 1), and to (i + 1, j) only where
// j = 0: every combination is reached in exactly one way, from a better one.
#include <queue>
#include <vector>

#include "arbora/base/interruption.hpp"
#include "arbora/inference/hypergraph.hpp"

namespace arbora::inference {
namespace {

struct Choice {
  double score;
  Index edge;
  Index first, second;  // which derivations of the tails
};

// For a heap with the best on top; of equals, the first edge and the earlier derivations.
struct Worse {
  bool operator()(const Choice& a, const Choice& b) const {
    if (a.score != b.score) return a.score < b.score;
    if (a.edge != b.edge) return a.edge > b.edge;
    return a.first != b.first ? a.first > b.first : a.second > b.second;
  }
};

struct NodeList {
  std::vector<Choice> found;  // best first
  std::priority_queue<Choice, std::vector<Choice>, Worse> frontier;
  int moves = 0;  // moves of the frontier that the last one found still has to make
  bool exhausted = false;
};

class Search {
 public:
  Search(const Hypergraph& graph, const double* log_weights, Index goal)
      : graph_(graph), weights_(log_weights), goal_(goal), lists_(at(graph.n_nodes())) {
    best_scores(graph, log_weights, best_);
  }

  // Whether the goal has a derivation number `rank`, from 0; those before must have been found.
  bool find(Index rank) {
    if (best_.edge[at(goal_)] < 0) return false;
    open_.assign(1, {goal_, rank});
    while (!open_.empty()) {
      polling_.after(100.0);
      const auto [node, wanted] = open_.back();
      NodeList& list = lists_[at(node)];
      if (list.found.empty()) start(node, list);
      if (static_cast<Index>(list.found.size()) > wanted || list.exhausted) {
        open_.pop_back();
      } else if (list.moves > 0) {
        if (move_frontier(list)) --list.moves;
      } else if (list.frontier.empty()) {
        list.exhausted = true;
      } else {
        take(list, list.frontier.top());
        list.frontier.pop();
      }
    }
    return static_cast<Index>(lists_[at(goal_)].found.size()) > rank;
  }

  RankedDerivation derivation(Index rank) {
    RankedDerivation answer{lists_[at(goal_)].found[at(rank)].score, {}};
    std::vector<Wanted> open{{goal_, rank}};
    while (!open.empty()) {
      polling_.after(20.0);
      const auto [node, number] = open.back();
      open.pop_back();
      const Choice choice = chosen(node, number);
      if (answer.edges.size() == kMostEdges) throw std::bad_alloc();
      answer.edges.push_back(choice.edge);
      const Hyperedge& edge = graph_.edge(choice.edge);
      if (edge.second != 0) open.push_back({edge.second, choice.second});
      if (edge.first != 0) open.push_back({edge.first, choice.first});
    }
    return answer;
  }

 private:
  struct Wanted {
    Index node, rank;
  };

  // The best derivation is known from the sweep; the best derivations of the other edges are
  // candidates.
  void start(Index node, NodeList& list) {
    const Index best = best_.edge[at(node)];
    polling_.after(50 * graph_.n_edges_of(node));
    for (Index i = graph_.first_edge(node); i < graph_.last_edge(node); ++i) {
      const double score = score_of(i, 0, 0);
      if (i != best && score > kForbidden) list.frontier.push({score, i, 0, 0});
    }
    take(list, {best_.score[at(node)], best, 0, 0});
  }

  void take(NodeList& list, Choice choice) {
    list.found.push_back(choice);
    list.moves = choice.second == 0 ? 2 : 1;
  }

  // Makes one move of the frontier from the last derivation found; false if a tail must first be
  // asked for a derivation.
  bool move_frontier(NodeList& list) {
    Choice next = list.found.back();
    const Hyperedge& edge = graph_.edge(next.edge);
    const bool second = list.moves == 1;
    const Index tail = second ? edge.second : edge.first;
    const Index rank = ++(second ? next.second : next.first);
    if (tail == 0) return true;
    const NodeList& of_tail = lists_[at(tail)];
    if (static_cast<Index>(of_tail.found.size()) <= rank) {
      if (of_tail.exhausted) return true;
      open_.push_back({tail, rank});
      return false;
    }
    next.score = score_of(next.edge, next.first, next.second);
    list.frontier.push(next);
    return true;
  }

  double score_of(Index i, Index first, Index second) const {
    const Hyperedge& edge = graph_.edge(i);
    return (weights_[edge.weight] + tail_score(edge.first, first)) +
           tail_score(edge.second, second);
  }
  double tail_score(Index node, Index rank) const {
    return rank == 0 ? best_.score[at(node)] : lists_[at(node)].found[at(rank)].score;
  }
  Choice chosen(Index node, Index rank) const {
    return rank == 0 ? Choice{best_.score[at(node)], best_.edge[at(node)], 0, 0}
                     : lists_[at(node)].found[at(rank)];
  }

  const Hypergraph& graph_;
  const double* weights_;
  Index goal_;
  BestScores best_;
  std::vector<NodeList> lists_;
  std::vector<Wanted> open_;
  Polling polling_;
};

}  // namespace

std::vector<RankedDerivation> kbest_derivations(const Hypergraph& graph, const double* log_weights,
                                                Index goal, Index k) {
  Search search(graph, log_weights, goal);
  std::vector<RankedDerivation> answers;
  for (Index rank = 0; rank < k && search.find(rank); ++rank) {
    answers.push_back(search.derivation(rank));
  }
  return answers;
}

}  // namespace arbora::inference
