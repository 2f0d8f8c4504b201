// Hypergraphs: arrays in, arrays out. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "arbora/inference/hypergraph.hpp"
#include "arrays.hpp"
#include "interrupts.hpp"

namespace arbora::bindings {
namespace {

void require(bool truth, const char* what) {
  if (!truth) throw std::invalid_argument(what);
}

// A graph from the number of edges of each node; tails and weights are numbered from 1, 0 is none.
std::shared_ptr<const Hypergraph> make_graph(Input<std::int64_t> counts, Input<std::int32_t> first,
                                             Input<std::int32_t> second,
                                             Input<std::int32_t> weights) {
  auto graph = std::make_shared<Hypergraph>();
  std::size_t edge = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto node = static_cast<std::int32_t>(i + 1);
    for (std::int64_t j = 0; j < counts.data()[i]; ++j, ++edge) {
      require(edge < first.size() && edge < second.size() && edge < weights.size(),
              "too few edges");
      const std::int32_t a = first.data()[edge], b = second.data()[edge];
      require(a >= 0 && a < node && b >= 0 && b < node, "tails come before their heads");
      require(weights.data()[edge] >= 0, "no such weight");
      graph->add_edge({a, b, weights.data()[edge]});
    }
    graph->force_node();
  }
  return graph;
}

// A graph with weights: the inside pass runs once.
class Derivations {
 public:
  Derivations(std::shared_ptr<const Hypergraph> graph, Input<double> log_weights, Index goal)
      : graph_(std::move(graph)),
        log_weights_(log_weights.data(), log_weights.data() + log_weights.size()),
        goal_(goal) {
    require(goal > 0 && goal < graph_->n_nodes(), "no such goal");
    require(!log_weights_.empty() && log_weights_[0] == 0.0, "the first log-weight is 0");
    for (Index i = 0; i < graph_->n_edges(); ++i) {
      require(graph_->edge(i).weight < n_weights(), "no such weight");
    }
    run_polling([&] {
      inference::inside(*graph_, log_weights_.data(), sums_);
      of_nodes_.resize(static_cast<std::size_t>(graph_->n_nodes()));
      of_weights_.resize(log_weights_.size());
      inference::marginals(*graph_, sums_, goal_, of_nodes_.data(), of_weights_.data(),
                           n_weights());
    });
  }

  double log_partition() const { return sums_.log_sum[static_cast<std::size_t>(goal_)]; }
  Output<double> log_sums() const { return to_array(std::vector<double>(sums_.log_sum)); }
  Output<double> marginals() const { return to_array(std::vector<double>(of_weights_)); }
  Output<double> node_marginals() const { return to_array(std::vector<double>(of_nodes_)); }
  Output<double> local() const {
    return to_array(
        std::vector<double>(sums_.local.begin(), sums_.local.begin() + graph_->n_edges()));
  }
  bool is_possible() const { return inference::is_derivable(*graph_, log_weights_.data(), goal_); }
  double entropy() const { return inference::entropy(*graph_, sums_, goal_, of_nodes_.data()); }

  Output<double> vjp(Input<double> d_marginals) const {
    require(d_marginals.size() == log_weights_.size(), "d_marginals has the wrong size");
    require(d_marginals.data()[0] == 0.0, "the first direction is 0");
    std::vector<double> answer(log_weights_.size());
    run_polling([&] {
      Tangents scratch;
      inference::tangents(*graph_, sums_, goal_, of_nodes_.data(), d_marginals.data(), scratch,
                          answer.data(), n_weights());
    });
    return to_array(std::move(answer));
  }

  std::tuple<Output<std::int64_t>, double> argmax() const {
    possible();
    std::vector<Index> edges;
    BestScores best;
    run_polling([&] {
      inference::best_scores(*graph_, log_weights_.data(), best);
      inference::best_derivation(*graph_, best, goal_, edges);
    });
    return {to_array(std::vector<std::int64_t>(edges.begin(), edges.end())),
            best.score[static_cast<std::size_t>(goal_)]};
  }

  Output<double> best_with() const {
    std::vector<double> answer(log_weights_.size());
    run_polling([&] {
      BestScores best;
      inference::best_scores(*graph_, log_weights_.data(), best);
      inference::best_with_weights(*graph_, log_weights_.data(), best, goal_, answer.data(),
                                   n_weights());
    });
    return to_array(std::move(answer));
  }

  // The edges of all derivations one after the other, how many each has, and the scores.
  std::tuple<Output<std::int64_t>, Output<std::int64_t>, Output<double>> kbest(Index k) const {
    std::vector<std::int64_t> edges, counts;
    std::vector<double> scores;
    run_polling([&] {
      for (const auto& one : inference::kbest_derivations(*graph_, log_weights_.data(), goal_, k)) {
        edges.insert(edges.end(), one.edges.begin(), one.edges.end());
        counts.push_back(static_cast<std::int64_t>(one.edges.size()));
        scores.push_back(one.score);
      }
    });
    return {to_array(std::move(edges)), to_array(std::move(counts)), to_array(std::move(scores))};
  }

  std::tuple<Output<std::int64_t>, Output<std::int64_t>> sample(Index count,
                                                                std::uint64_t seed) const {
    possible();
    std::vector<std::int64_t> edges, counts;
    run_polling([&] {
      std::vector<Index> drawn;
      Polling polling;
      for (Index draw = 0; draw < count; ++draw) {
        RandomStream random(seed, 0, static_cast<std::uint64_t>(draw));
        inference::draw_derivation(*graph_, sums_, goal_, random, drawn);
        polling.after(20 * static_cast<Index>(drawn.size()));
        edges.insert(edges.end(), drawn.begin(), drawn.end());
        counts.push_back(static_cast<std::int64_t>(drawn.size()));
      }
    });
    return {to_array(std::move(edges)), to_array(std::move(counts))};
  }

 private:
  Index n_weights() const { return static_cast<Index>(log_weights_.size()); }
  void possible() const { require(is_possible(), "no derivation"); }

  std::shared_ptr<const Hypergraph> graph_;
  std::vector<double> log_weights_;
  Index goal_;
  InsideSums sums_;
  std::vector<double> of_nodes_, of_weights_;
};

struct GraphHandle {
  std::shared_ptr<const Hypergraph> graph;
};

}  // namespace

void bind_hypergraph(nb::module_& module) {
  nb::class_<GraphHandle>(module, "Hypergraph", "Nodes in topological order and their edges.")
      .def(
          "__init__",
          [](GraphHandle* self, Input<std::int64_t> counts, Input<std::int32_t> first,
             Input<std::int32_t> second, Input<std::int32_t> weights) {
            new (self) GraphHandle{make_graph(counts, first, second, weights)};
          },
          "counts"_a, "first"_a, "second"_a, "weights"_a)
      .def(
          "weighted",
          [](const GraphHandle& self, Input<double> log_weights, Index goal) {
            return Derivations(self.graph, log_weights, goal);
          },
          "log_weights"_a, "goal"_a, "The derivations of a node under log-weights.");
  nb::class_<Derivations>(module, "Derivations", "A distribution over derivations.")
      .def_prop_ro("log_partition", &Derivations::log_partition)
      .def("log_sums", &Derivations::log_sums)
      .def("marginals", &Derivations::marginals)
      .def("node_marginals", &Derivations::node_marginals)
      .def("local", &Derivations::local)
      .def("entropy", &Derivations::entropy)
      .def("is_possible", &Derivations::is_possible)
      .def("vjp", &Derivations::vjp, "d_marginals"_a)
      .def("argmax", &Derivations::argmax)
      .def("best_with", &Derivations::best_with)
      .def("kbest", &Derivations::kbest, "k"_a)
      .def("sample", &Derivations::sample, "count"_a, "seed"_a);
}

}  // namespace arbora::bindings
