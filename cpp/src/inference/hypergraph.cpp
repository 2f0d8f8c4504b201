#include "arbora/inference/hypergraph.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "arbora/base/interruption.hpp"
#include "arbora/base/pack.hpp"

namespace arbora::inference {
namespace {

ARBORA_INLINE double score_of(const Hyperedge& e, const double* weights, const double* nodes) {
  return (weights[e.weight] + nodes[e.first]) + nodes[e.second];
}

// log-sum-exp over the `count` scores in `local`, which become shares. Full packs are read and
// written: the numbers behind the last score belong to the next node, which is computed later.
ARBORA_INLINE double share_out(double* local, Index count, double top) {
  for (Index i = 0; i < count; i += kPackWidth) {
    store_pack(local + i, exp_nonpositive(load_pack(local + i) - splat(top)));
  }
  double sum = 0.0;
  for (Index i = 0; i < count; ++i) sum += local[i];
  const Pack inverse = splat(1.0 / sum);
  for (Index i = 0; i < count; i += kPackWidth) {
    store_pack(local + i, load_pack(local + i) * inverse);
  }
  return top + std::log(sum);
}

ARBORA_MULTIVERSION
void sweep_up(const Hyperedge* edges, const Index* first, Index first_node, Index end_node,
              const double* weights, double* log_sum, double* local) {
  for (Index node = first_node; node < end_node; ++node) {
    const Index begin = first[node], count = first[node + 1] - begin;
    double top = kForbidden;
    for (Index i = begin; i < begin + count; ++i) {
      local[i] = score_of(edges[i], weights, log_sum);
      top = local[i] > top ? local[i] : top;
    }
    if (top == kForbidden || count == 1) {
      const double share = top == kForbidden ? 0.0 : 1.0;
      for (Index i = begin; i < begin + count; ++i) local[i] = share;
      log_sum[node] = top;
    } else {
      log_sum[node] = share_out(local + begin, count, top);
    }
  }
}

// Calls visit(node) for the nodes first..last in their order, or in reverse order, and polls.
constexpr Index kNodesPerPoll = 512;
constexpr Index kWorkPerEdge = 20;

template <class Visit>
ARBORA_INLINE void visit_up(const Hypergraph& graph, Index first, Index last, const Visit& visit) {
  Polling polling;
  while (first <= last) {
    const Index end = std::min(first + kNodesPerPoll, last + 1);
    polling.after(kWorkPerEdge * (graph.first_edge(end) - graph.first_edge(first)));
    for (; first < end; ++first) visit(first);
  }
}

template <class Visit>
ARBORA_INLINE void visit_down(const Hypergraph& graph, Index first, Index last,
                              const Visit& visit) {
  Polling polling;
  while (first <= last) {
    const Index end = std::max(last - kNodesPerPoll, first - 1);
    polling.after(kWorkPerEdge * (graph.last_edge(last) - graph.last_edge(end)));
    for (; last > end; --last) visit(last);
  }
}

// Calls visit(edge) from the goal down; choose(node) returns the edge.
template <class Choose>
void walk(const Hypergraph& graph, Index goal, const Choose& choose, std::vector<Index>& edges) {
  edges.clear();
  std::vector<Index> open{goal};
  Polling polling;
  while (!open.empty()) {
    polling.after(20.0);
    const Index chosen = choose(open.back());
    open.pop_back();
    if (edges.size() == kMostEdges) throw std::bad_alloc();
    edges.push_back(chosen);
    const Hyperedge& edge = graph.edge(chosen);
    if (edge.second != 0) open.push_back(edge.second);
    if (edge.first != 0) open.push_back(edge.first);
  }
}

}  // namespace

void Hypergraph::clear() {
  edges_.clear();
  first_.assign(2, 0);
}

std::int32_t Hypergraph::end_node() { return n_edges() == first_.back() ? 0 : force_node(); }

std::int32_t Hypergraph::force_node() {
  if (n_nodes() >= INT32_MAX) throw std::bad_alloc();
  first_.push_back(n_edges());
  return static_cast<std::int32_t>(n_nodes() - 1);
}

std::size_t Hypergraph::bytes() const {
  return edges_.capacity() * sizeof(Hyperedge) + first_.capacity() * sizeof(Index);
}

void inside(const Hypergraph& graph, const double* log_weights, InsideSums& sums) {
  sums.log_sum.resize(at(graph.n_nodes()));
  sums.local.resize(at(graph.n_edges() + kPackWidth));
  sums.log_sum[0] = 0.0;
  Polling polling;
  for (Index node = 1; node < graph.n_nodes(); node += kNodesPerPoll) {
    const Index end = std::min(node + kNodesPerPoll, graph.n_nodes());
    polling.after(kWorkPerEdge * (graph.first_edge(end) - graph.first_edge(node)));
    sweep_up(graph.edges(), graph.first_edges(), node, end, log_weights, sums.log_sum.data(),
             sums.local.data());
  }
}

void marginals(const Hypergraph& graph, const InsideSums& sums, Index goal, double* of_nodes,
               double* of_weights, Index n_weights) {
  std::fill(of_nodes, of_nodes + graph.n_nodes(), 0.0);
  std::fill(of_weights, of_weights + n_weights, 0.0);
  of_nodes[goal] = sums.log_sum[at(goal)] == kForbidden ? 0.0 : 1.0;
  const Hyperedge* edges = graph.edges();
  visit_down(graph, 1, goal, [&](Index node) {
    const double mass = of_nodes[node];
    if (mass == 0.0) return;
    for (Index i = graph.first_edge(node); i < graph.last_edge(node); ++i) {
      const double share = mass * sums.local[at(i)];
      of_weights[edges[i].weight] += share;
      of_nodes[edges[i].first] += share;
      of_nodes[edges[i].second] += share;
    }
  });
  of_nodes[0] = of_weights[0] = 0.0;  // written by edges without a tail or a weight
}

void tangents(const Hypergraph& graph, const InsideSums& sums, Index goal, const double* of_nodes,
              const double* d_weights, Tangents& scratch, double* answer, Index n_weights) {
  scratch.log_sum.assign(at(graph.n_nodes()), 0.0);
  scratch.of_nodes.assign(at(graph.n_nodes()), 0.0);
  std::fill(answer, answer + n_weights, 0.0);
  double *up = scratch.log_sum.data(), *down = scratch.of_nodes.data();
  const Hyperedge* edges = graph.edges();
  const double* local = sums.local.data();
  visit_up(graph, 1, goal, [&](Index node) {
    double sum = 0.0;
    for (Index i = graph.first_edge(node); i < graph.last_edge(node); ++i) {
      sum += local[i] * score_of(edges[i], d_weights, up);
    }
    up[node] = sum;
  });
  visit_down(graph, 1, goal, [&](Index node) {
    const double mass = of_nodes[node], moved = down[node];
    if (mass == 0.0 && moved == 0.0) return;
    for (Index i = graph.first_edge(node); i < graph.last_edge(node); ++i) {
      const double centred = score_of(edges[i], d_weights, up) - up[node];
      const double share = local[i] * (moved + mass * centred);
      answer[edges[i].weight] += share;
      down[edges[i].first] += share;
      down[edges[i].second] += share;
    }
  });
  answer[0] = 0.0;
}

double entropy(const Hypergraph& graph, const InsideSums& sums, Index goal,
               const double* of_nodes) {
  double total = 0.0;
  visit_down(graph, 1, goal, [&](Index node) {
    if (of_nodes[node] == 0.0) return;
    double surprise = 0.0;
    for (Index i = graph.first_edge(node); i < graph.last_edge(node); ++i) {
      const double p = sums.local[at(i)];
      if (p > 0.0) surprise -= p * std::log(p);
    }
    total += of_nodes[node] * std::max(0.0, surprise);
  });
  return total;
}

void best_scores(const Hypergraph& graph, const double* log_weights, BestScores& best) {
  best.score.assign(at(graph.n_nodes()), kForbidden);
  best.edge.assign(at(graph.n_nodes()), -1);
  double* const score = best.score.data();
  Index* const edge = best.edge.data();
  const Hyperedge* const edges = graph.edges();
  const Index* const first = graph.first_edges();
  score[0] = 0.0;
  visit_up(graph, 1, graph.n_nodes() - 1, [=](Index node) {
    double top = kForbidden;
    for (Index i = first[node]; i < first[node + 1]; ++i) {
      const double candidate = score_of(edges[i], log_weights, score);
      if (candidate <= top) continue;
      top = candidate;
      edge[node] = i;
    }
    score[node] = top;
  });
}

void best_with_weights(const Hypergraph& graph, const double* log_weights, const BestScores& best,
                       Index goal, double* of_weights, Index n_weights) {
  const auto raise = [](double& old, double score) { old = std::max(old, score); };
  std::vector<double> around(at(graph.n_nodes()), kForbidden);  // the best without the node itself
  std::fill(of_weights, of_weights + n_weights, kForbidden);
  around[at(goal)] = 0.0;
  visit_down(graph, 1, goal, [&](Index node) {
    const double outer = around[at(node)];
    if (outer == kForbidden) return;
    for (Index i = graph.first_edge(node); i < graph.last_edge(node); ++i) {
      const Hyperedge& e = graph.edge(i);
      const double first = best.score[at(e.first)], second = best.score[at(e.second)];
      const double alone = outer + log_weights[e.weight];
      raise(of_weights[e.weight], alone + first + second);
      raise(around[at(e.first)], alone + second);
      raise(around[at(e.second)], alone + first);
    }
  });
}

void best_derivation(const Hypergraph& graph, const BestScores& best, Index goal,
                     std::vector<Index>& edges) {
  walk(graph, goal, [&](Index node) { return best.edge[at(node)]; }, edges);
}

void draw_derivation(const Hypergraph& graph, const InsideSums& sums, Index goal,
                     RandomStream& random, std::vector<Index>& edges) {
  const auto draw = [&](Index node) {
    const double target = random.uniform();
    double sum = 0.0;
    Index chosen = graph.first_edge(node);
    for (Index i = chosen; i < graph.last_edge(node); ++i) {
      if (sums.local[at(i)] == 0.0) continue;
      chosen = i;
      sum += sums.local[at(i)];
      if (sum > target) break;
    }
    return chosen;
  };
  walk(graph, goal, draw, edges);
}

bool is_derivable(const Hypergraph& graph, const double* log_weights, Index goal) {
  std::vector<char> derivable(at(goal + 1), 0);
  derivable[0] = 1;
  visit_up(graph, 1, goal, [&](Index node) {
    for (Index i = graph.first_edge(node); i < graph.last_edge(node); ++i) {
      const Hyperedge& edge = graph.edge(i);
      if (log_weights[edge.weight] == kForbidden || derivable[at(edge.first)] == 0) continue;
      if (derivable[at(edge.second)] != 0) derivable[at(node)] = 1;
    }
  });
  return derivable[at(goal)] != 0;
}

}  // namespace arbora::inference
