#include "arbora/inference/second_order_batch.hpp"

#include <algorithm>
#include <vector>

#include "arbora/base/interruption.hpp"
#include "arbora/base/parallel.hpp"
#include "arbora/inference/best_tree.hpp"
#include "arbora/inference/hypergraph.hpp"
#include "arbora/inference/second_order.hpp"

namespace arbora::inference {
namespace {

// The memory of one thread, reused from sentence to sentence (fresh memory costs more than the
// sums) unless a long sentence made it large.
struct Scratch {
  SecondOrderWeights weights;
  Hypergraph graph;
  InsideSums sums;
  Tangents tangents;
  BestScores best;
  std::vector<double> log_weights, of_nodes, of_weights, direction;
  std::vector<Index> edges, arcs;
  std::int32_t goal = 0;
};
constexpr std::size_t kKept = std::size_t{1} << 24;  // bytes of edges

// A sentence with its hypergraph.
class Sentence {
 public:
  Sentence(const SecondOrderBatch& batch, Index i, Scratch& scratch)
      : parts_(batch.parts[i]), scores_(batch.scores.of(batch.parts.place(i))), s_(scratch) {
    s_.weights.lay_out(parts_);
    s_.goal = build_second_order(s_.weights, batch.root, s_.graph);
    if (!possible()) return;
    s_.log_weights.resize(at(s_.weights.size()));
    s_.weights.weigh(scores_, s_.log_weights.data());
  }

  bool possible() const { return s_.goal != 0; }
  Index n_words() const { return parts_.n_words(); }
  const double* log_weights() const { return s_.log_weights.data(); }

  double sum() {
    inside(s_.graph, log_weights(), s_.sums);
    return s_.sums.log_sum[at(s_.goal)];
  }
  const double* find_marginals() {
    s_.of_nodes.resize(at(s_.graph.n_nodes()));
    s_.of_weights.resize(at(s_.weights.size()));
    marginals(s_.graph, s_.sums, s_.goal, s_.of_nodes.data(), s_.of_weights.data(),
              s_.weights.size());
    return s_.of_weights.data();
  }
  // Overwrites the sentence's share of all kinds.
  void report(const double* of_weights, const PartValues<double>& values) const {
    const auto clear = [](double* first, Index count) {
      if (first != nullptr) std::fill(first, first + count, 0.0);
    };
    clear(values.arcs, (n_words() + 1) * (n_words() + 1));
    for_each_kind([&](PartKind kind) { clear(values[kind], parts_.count(kind)); });
    s_.weights.spread(of_weights, values);
  }
  void read_heads(const std::vector<Index>& edges, std::int32_t* heads) {
    if (s_.arcs.empty()) s_.weights.list_arcs(s_.arcs);
    for (const Index edge : edges) {
      const Index cell = s_.arcs[at(s_.graph.edge(edge).weight)];
      if (cell < 0) continue;
      heads[cell % (n_words() + 1) - 1] = static_cast<std::int32_t>(cell / (n_words() + 1));
    }
  }
  double score(const std::int32_t* heads) const { return score_of_tree(parts_, scores_, heads); }
  Scratch& scratch() { return s_; }

 private:
  const PartIndex& parts_;
  PartScores scores_;
  Scratch& s_;
};

// Runs job(sentence's number, sentence) for every sentence; the first that has no tree, or -1. The
// job returns whether there is one: kept arcs may also be forbidden by their scores.
template <class Job>
Index run(const SecondOrderBatch& batch, double factor, const Job& job) {
  const PartBatch& parts = batch.parts;
  std::vector<double> costs;
  for (Index i = 0; i < parts.size(); ++i) {
    costs.push_back(20.0 * factor * second_order_edges(parts[i]));
  }
  std::vector<std::uint8_t> impossible(at(parts.size()), 0);
  for_each_by_cost(costs, batch.threads, [&](Index i, Workspace&) {
    static thread_local Scratch scratch;
    scratch.arcs.clear();
    Sentence sentence(batch, i, scratch);
    if (!sentence.possible() || !job(i, sentence)) impossible[at(i)] = 1;
    if (scratch.graph.bytes() > kKept) scratch = Scratch{};
  });
  const auto found = std::find(impossible.begin(), impossible.end(), std::uint8_t{1});
  return found == impossible.end() ? -1 : found - impossible.begin();
}

}  // namespace

double second_order_largest(const PartBatch& parts) {
  double largest = 0.0;
  for (Index i = 0; i < parts.size(); ++i) {
    largest = std::max(largest, second_order_edges(parts[i]));
  }
  return largest;
}

Index second_order_sums(const SecondOrderBatch& batch, double* log_partition,
                        const PartValues<double>& marginals) {
  return run(batch, 1.0, [&](Index i, Sentence& sentence) {
    log_partition[i] = sentence.sum();
    if (marginals.arcs != nullptr) {
      sentence.report(sentence.find_marginals(), marginals.of(batch.parts.place(i)));
    }
    return log_partition[i] > kForbidden;
  });
}

Index second_order_entropy(const SecondOrderBatch& batch, double* answer) {
  return run(batch, 2.0, [&](Index i, Sentence& sentence) {
    if (sentence.sum() == kForbidden) return false;
    sentence.find_marginals();
    const Scratch& s = sentence.scratch();
    answer[i] = entropy(s.graph, s.sums, s.goal, s.of_nodes.data());
    return true;
  });
}

Index second_order_vjp(const SecondOrderBatch& batch, const PartScores& d_marginals,
                       const PartValues<double>& d_scores) {
  return run(batch, 2.0, [&](Index i, Sentence& sentence) {
    if (sentence.sum() == kForbidden) return false;
    sentence.find_marginals();
    Scratch& s = sentence.scratch();
    s.direction.resize(at(s.weights.size()));
    s.weights.weigh(d_marginals.of(batch.parts.place(i)), s.direction.data());
    tangents(s.graph, s.sums, s.goal, s.of_nodes.data(), s.direction.data(), s.tangents,
             s.of_weights.data(), s.weights.size());
    sentence.report(s.of_weights.data(), d_scores.of(batch.parts.place(i)));
    return true;
  });
}

Index second_order_argmax(const SecondOrderBatch& batch, std::int32_t* heads, double* score) {
  return run(batch, 1.0, [&](Index i, Sentence& sentence) {
    Scratch& s = sentence.scratch();
    std::int32_t* chosen = heads + batch.parts.place(i).words;
    best_scores(s.graph, sentence.log_weights(), s.best);
    if (s.best.edge[at(s.goal)] < 0) return false;
    best_derivation(s.graph, s.best, s.goal, s.edges);
    sentence.read_heads(s.edges, chosen);
    score[i] = sentence.score(chosen);
    return true;
  });
}

Index second_order_kbest(const SecondOrderBatch& batch, Index k,
                         std::vector<std::vector<RankedTree>>& trees) {
  trees.assign(at(batch.parts.size()), {});
  return run(batch, 2.0 + static_cast<double>(k), [&](Index i, Sentence& sentence) {
    const Scratch& s = sentence.scratch();
    Polling polling;
    double bound = kInfinity;  // where scores round differently, it keeps the list in order
    for (const auto& one : kbest_derivations(s.graph, sentence.log_weights(), s.goal, k)) {
      polling.after(20 * sentence.n_words() * sentence.n_words());
      RankedTree tree;
      tree.heads.resize(at(sentence.n_words()));
      sentence.read_heads(one.edges, tree.heads.data());
      tree.score = bound = std::min(bound, sentence.score(tree.heads.data()));
      trees[at(i)].push_back(std::move(tree));
    }
    return !trees[at(i)].empty();
  });
}

Index second_order_sample(const SecondOrderBatch& batch, std::uint64_t seed,
                          std::span<const std::int64_t> sentences, Index count,
                          std::int32_t* heads) {
  return run(batch, 1.0 + static_cast<double>(count), [&](Index i, Sentence& sentence) {
    if (sentence.sum() == kForbidden) return false;
    Scratch& s = sentence.scratch();
    const auto key = static_cast<std::uint64_t>(sentences[at(i)]);
    std::int32_t* drawn = heads + count * batch.parts.place(i).words;
    Polling polling;
    for (Index draw = 0; draw < count; ++draw) {
      RandomStream random(seed, key, static_cast<std::uint64_t>(draw));
      draw_derivation(s.graph, s.sums, s.goal, random, s.edges);
      polling.after(20 * static_cast<Index>(s.edges.size()));
      sentence.read_heads(s.edges, drawn + draw * sentence.n_words());
    }
    return true;
  });
}

Index second_order_margins(const SecondOrderBatch& batch, double* margins) {
  return run(batch, 2.0, [&](Index i, Sentence& sentence) {
    Scratch& s = sentence.scratch();
    const Index side = sentence.n_words() + 1;
    double* answer = margins + batch.parts.place(i).cells;
    best_scores(s.graph, sentence.log_weights(), s.best);
    s.of_weights.resize(at(s.weights.size()));
    best_with_weights(s.graph, sentence.log_weights(), s.best, s.goal, s.of_weights.data(),
                      s.weights.size());
    s.weights.list_arcs(s.arcs);
    std::fill(answer, answer + side * side, kForbidden);
    for (Index w = 1; w < s.weights.size(); ++w) {
      const Index cell = s.arcs[at(w)];
      if (cell >= 0) answer[cell] = std::max(answer[cell], s.of_weights[at(w)]);
    }
    subtract_best_without(answer, sentence.n_words());
    for (Index h = 0; h < side; ++h) answer[h * side] = answer[h * side + h] = 0.0;
    return s.best.edge[at(s.goal)] >= 0;
  });
}

}  // namespace arbora::inference
