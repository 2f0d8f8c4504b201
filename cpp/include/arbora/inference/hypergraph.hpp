// Sums, best derivations and samples over an acyclic hypergraph (Gormley, Dredze & Eisner 2015,
// section 5.4; Klein & Manning 2001).
//
// A hyperedge builds its head node from at most two tails, at the price of a weight; a derivation
// of the goal chooses one edge for the goal, then one for each tail, and so on down to edges
// without tails. Its score is the sum of the log-weights of its edges.
//
// Nodes are numbered in topological order, tails before heads, and the edges of a node are
// contiguous. Node 0 is the empty node: it stands for a missing tail, and its inside sum is 1.
// Weight 0 stands for a missing weight, and its logarithm is 0. So loops need no branches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/base/random.hpp"
#include "arbora/base/types.hpp"

namespace arbora::inference {

struct Hyperedge {
  std::int32_t first = 0, second = 0;  // tails
  std::int32_t weight = 0;
};

class Hypergraph {
 public:
  Hypergraph() { clear(); }

  // Clears the graph but keeps its memory.
  void clear();
  void add_edge(Hyperedge edge) { edges_.push_back(edge); }
  // Makes a node of the edges that were added since the last one. Returns 0, the empty node, if
  // there are none.
  std::int32_t end_node();
  // The same also without edges: a node that has no derivation.
  std::int32_t force_node();

  Index n_nodes() const { return static_cast<Index>(first_.size()) - 1; }  // node 0 included
  Index n_edges() const { return static_cast<Index>(edges_.size()); }
  Index first_edge(Index node) const { return first_[static_cast<std::size_t>(node)]; }
  Index last_edge(Index node) const { return first_[static_cast<std::size_t>(node) + 1]; }
  Index n_edges_of(Index node) const { return last_edge(node) - first_edge(node); }
  const Hyperedge& edge(Index i) const { return edges_[static_cast<std::size_t>(i)]; }
  const Hyperedge* edges() const { return edges_.data(); }
  const Index* first_edges() const { return first_.data(); }
  std::size_t bytes() const;

 private:
  std::vector<Hyperedge> edges_;
  std::vector<Index> first_;  // of each node, and the end
};

// The result of the inside pass.
struct InsideSums {
  std::vector<double> log_sum;  // of each node: log of its inside sum (G15 Eq. 13)
  std::vector<double> local;    // p(edge | its head): the share of an edge in its node's sum
};

// Sums by log-sum-exp at every node, right at any scale and size; -inf is exact. `log_weights`
// begins with the 0 of edges without a weight.
void inside(const Hypergraph& graph, const double* log_weights, InsideSums& sums);

// P(node) for every node and P(weight), the expected number of uses of every weight.
// Downwards from the goal, P(edge) = P(head) p(edge | head): additions of non-negative numbers
// only, in place of the outside sums of G15 Eqs. 14-15. Both arrays are overwritten.
void marginals(const Hypergraph& graph, const InsideSums& sums, Index goal, double* of_nodes,
               double* of_weights, Index n_weights);

// The derivative of the marginals of the weights in the direction `d_weights` of the log-weights,
// by dual numbers: the tangents of the two sweeps. The Jacobian is the covariance matrix of the
// uses of the weights, so the answer is also the vector-Jacobian product.
struct Tangents {
  std::vector<double> log_sum, of_nodes;
};
void tangents(const Hypergraph& graph, const InsideSums& sums, Index goal, const double* of_nodes,
              const double* d_weights, Tangents& scratch, double* answer, Index n_weights);

// The entropy of the derivations: that of the local choices, weighted by P(node).
double entropy(const Hypergraph& graph, const InsideSums& sums, Index goal, const double* of_nodes);

// Best scores of nodes, and the edge that gives each: of equals, the first; -1 if there is none.
struct BestScores {
  std::vector<double> score;
  std::vector<Index> edge;
};
void best_scores(const Hypergraph& graph, const double* log_weights, BestScores& best);

// For every weight, the score of the best derivation that uses it; -inf if none does.
void best_with_weights(const Hypergraph& graph, const double* log_weights, const BestScores& best,
                       Index goal, double* of_weights, Index n_weights);

// Edges of derivations from the goal down, each node's edge before those of its tails, the first
// tail's before the second's.
void best_derivation(const Hypergraph& graph, const BestScores& best, Index goal,
                     std::vector<Index>& edges);
void draw_derivation(const Hypergraph& graph, const InsideSums& sums, Index goal,
                     RandomStream& random, std::vector<Index>& edges);

// Whether there is a derivation without an edge of weight -inf; log Z may overflow all the same.
bool is_derivable(const Hypergraph& graph, const double* log_weights, Index goal);

// Derivations that share nodes can be exponentially large: beyond this number of edges (half a
// gigabyte), std::bad_alloc.
inline constexpr std::size_t kMostEdges = std::size_t{1} << 26;

struct RankedDerivation {
  double score = 0.0;
  std::vector<Index> edges;
};

// The k best derivations, exact, distinct and in order (Huang & Chiang 2005, Algorithm 3): a node
// computes its next best derivation only when an edge needs it. Fewer than k if there are fewer.
std::vector<RankedDerivation> kbest_derivations(const Hypergraph& graph, const double* log_weights,
                                                Index goal, Index k);

}  // namespace arbora::inference
