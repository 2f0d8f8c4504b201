// Projective trees of second order as a hypergraph over the kept arcs: derivations are trees.
//
// Items are those of Eisner (1996): a complete half of a head extends to one side up to an end,
// an open item spans an arc. Their further state depends on the parts:
//
//   consecutive siblings  McDonald & Pereira (2006): a side is built modifier by modifier, with an
//                         item for two neighbours that share a head; O(n^3)
//   grandparents          Koo & Collins (2010), Model 0: items carry the head's own head; O(n^4)
//   grandsiblings         Koo & Collins (2010), Model 1: both; O(n^4)
//
// Every weight is a part of the largest kind that the recursion knows: a pair (previous, next) of
// consecutive siblings, or an arc, in each context of its head. A context is a head with its own
// head, or the head alone where no part has a grandparent. The weight is the sum of everything that
// is decided together: the arc to `next` and the parts that end there. START and END are scored
// once per side: START with the first modifier or with END, END when a side is closed.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/inference/hypergraph.hpp"
#include "arbora/tree/part_kinds.hpp"

namespace arbora::inference {

// A head with its own head, or alone.
struct HeadContext {
  std::int32_t head, grandparent;
  std::int32_t low, high;  // how far its halves may reach without crossing the arc to its head
  Index weights[2];        // where the weights of its sides begin
  Index open;              // where its open items begin
};

// The weights of a sentence's hypergraph, and the parts that each scores.
class SecondOrderWeights {
 public:
  // Parts of any two siblings are not read.
  void lay_out(const PartIndex& parts);

  const PartIndex& parts() const { return *parts_; }
  bool siblings() const { return siblings_; }
  bool grand() const { return grand_; }
  Index size() const { return size_; }  // that of edges without a weight included
  const std::vector<HeadContext>& contexts() const { return contexts_; }
  Index first_context(Index head) const { return grand_ ? parts_->first_link(head) : head; }
  Index contexts_of(Index head) const { return grand_ ? parts_->links_of(head) : 1; }

  // The weight of a pair of neighbours, numbered as in part_index.hpp, and that of an arc where
  // neighbours do not matter.
  std::int32_t of_pair(const HeadContext& c, int side, Index previous, Index next) const {
    return static_cast<std::int32_t>(c.weights[side] + sibling_pair(previous, next));
  }
  std::int32_t of_arc(const HeadContext& c, int side, Index place) const {
    return static_cast<std::int32_t>(c.weights[side] + place);
  }

  // Log-weights from the scores of parts; or directions from directions.
  void weigh(const PartScores& scores, double* weights) const;
  // Adds numbers of weights to all parts that the weights score: weigh() transposed.
  void spread(const double* weights, const PartValues<double>& values) const;
  // The cell of the arc that each weight scores, or -1.
  void list_arcs(std::vector<Index>& arcs) const;

 private:
  template <class Visit>
  void visit(const Visit& see) const;
  template <class Visit>
  void visit_side(const HeadContext& context, Index number, int side, const Visit& see) const;

  const PartIndex* parts_ = nullptr;
  bool siblings_ = false, grand_ = false;
  Index size_ = 1;
  std::vector<HeadContext> contexts_;
};

// Roughly how many edges the hypergraph has; more where pruned arcs leave items without use.
double second_order_edges(const PartIndex& parts);

// Adds the items of a sentence to an empty graph; the goal, or 0 if there is no tree.
std::int32_t build_second_order(const SecondOrderWeights& weights, Root root, Hypergraph& graph);

}  // namespace arbora::inference
