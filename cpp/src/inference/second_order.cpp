#include "arbora/inference/second_order.hpp"

#include <algorithm>
#include <new>

#include "arbora/base/interruption.hpp"

namespace arbora::inference {
namespace {

constexpr Index kContextsPerPoll = 64;

// Builds items by width, narrow before wide. h is a head, m a modifier and s one before it. C[h, e]
// is a half of h that reaches to e, I[h, m] an open item, S[s, m] two neighbours whose halves meet.
class Builder {
 public:
  Builder(const SecondOrderWeights& weights, Root root, Hypergraph& graph)
      : weights_(weights),
        parts_(weights.parts()),
        contexts_(weights.contexts()),
        n_words_(parts_.n_words()),
        single_(root == Root::single),
        graph_(graph),
        complete_(contexts_.size() * at(2 * (n_words_ + 1)), 0),
        open_(at(contexts_.back().open + parts_.n_modifiers(n_words_)), 0),
        reached_(at(2 * (n_words_ + 1)), 0) {
    if (weights.siblings() && !weights.grand()) {
      between_.assign(at((n_words_ + 1) * (n_words_ + 1)), kUnknown);
    }
    find_inner_contexts();
  }

  std::int32_t run() {
    Polling polling;
    add_bases();
    for (Index width = 1; width <= n_words_; ++width) {
      for (Index h = 0; h <= n_words_; ++h) {
        for (const int side : {0, 1}) add_arc(h, side, width);
        polling.after(20 * weights_.contexts_of(h) * width);
      }
      add_halves(width);
      polling.after(10 * static_cast<Index>(contexts_.size()) * width);
    }
    const std::int32_t left = complete(0, 0, 0), right = complete(0, 1, n_words_);
    if (left == 0 || right == 0) return 0;
    graph_.add_edge({left, right, 0});
    return graph_.end_node();
  }

 private:
  static constexpr std::int32_t kUnknown = -1;

  std::int32_t& complete(Index context, int side, Index width) {
    return complete_[at((2 * context + side) * (n_words_ + 1) + width)];
  }
  std::int32_t& open(const HeadContext& c, int side, Index place) {
    const auto left = static_cast<Index>(parts_.modifiers(c.head, 0).size());
    return open_[at(c.open + (side == 0 ? 0 : left) + place)];
  }
  Index arc(Index h, int side, Index place) const {
    return parts_.modifiers(h, side).data() - parts_.modifiers(0, 0).data() + place;
  }
  // The context of a modifier under its head.
  Index inner(Index h, int side, Index place) const { return inner_[at(arc(h, side, place))]; }

  void find_inner_contexts() {
    inner_.resize(at(parts_.n_arcs()));
    for (Index h = 0; h <= n_words_; ++h) {
      for (const int side : {0, 1}) {
        const auto modifiers = parts_.modifiers(h, side);
        for (Index j = 0; j < static_cast<Index>(modifiers.size()); ++j) {
          const Index m = modifiers[at(j)];
          inner_[at(arc(h, side, j))] = weights_.grand() ? parts_.link(h, m) : m;
        }
      }
    }
  }

  // C[h, h]: a half without modifiers, which START meets END in.
  void add_bases() {
    for (Index c = 0; c < static_cast<Index>(contexts_.size()); ++c) {
      const HeadContext& context = contexts_[at(c)];
      for (const int side : {0, 1}) {
        const auto end = static_cast<Index>(parts_.modifiers(context.head, side).size());
        graph_.add_edge({0, 0, weights_.siblings() ? weights_.of_pair(context, side, 0, end) : 0});
        complete(c, side, 0) = graph_.end_node();
      }
    }
  }

  // The open items of the modifier at this distance, if the arc is kept.
  void add_arc(Index h, int side, Index width) {
    const auto modifiers = parts_.modifiers(h, side);
    Index& place = reached_[at(2 * h + side)];
    const Index m = side == 0 ? h - width : h + width;
    if (place == static_cast<Index>(modifiers.size()) || modifiers[at(place)] != m) return;
    const Index j = place++;
    if (weights_.siblings()) find_between(h, side, j);
    const Index first = weights_.first_context(h);
    for (Index c = first; c < first + weights_.contexts_of(h); ++c) {
      const HeadContext& context = contexts_[at(c)];
      if (m < context.low || m > context.high) continue;
      if (weights_.siblings()) {
        add_edges_after_sibling(context, side, j, width);
      } else {
        add_edges_of_splits(c, side, j, width);
      }
      open(context, side, j) = graph_.end_node();
    }
  }

  // S[s, m] for every modifier s before m = the j-th: halves of both that meet.
  void find_between(Index h, int side, Index j) {
    pairs_.assign(at(j), 0);
    if (single_ && h == 0) return;  // the root symbol has one modifier
    const auto modifiers = parts_.modifiers(h, side);
    const Index m = modifiers[at(j)], outer = inner(h, side, j);
    for (Index i = 0; i < j; ++i) {
      const Index s = modifiers[at(i)];
      if (between_.empty()) {
        pairs_[at(i)] = add_between(inner(h, side, i), outer, side, m > s ? m - s : s - m);
      } else {
        std::int32_t& known = between_[at(s * (n_words_ + 1) + m)];
        if (known == kUnknown) {
          known = add_between(inner(h, side, i), outer, side, m > s ? m - s : s - m);
          between_[at(m * (n_words_ + 1) + s)] = known;
        }
        pairs_[at(i)] = known;
      }
    }
  }

  std::int32_t add_between(Index nearer, Index outer, int side, Index distance) {
    for (Index k = 0; k < distance; ++k) {
      const std::int32_t a = complete(nearer, side, k);
      const std::int32_t b = complete(outer, 1 - side, distance - 1 - k);
      if (a != 0 && b != 0) graph_.add_edge({a, b, 0});
    }
    return graph_.end_node();
  }

  // I[h, m] with siblings: m is the first modifier, or follows s.
  void add_edges_after_sibling(const HeadContext& context, int side, Index j, Index width) {
    const std::int32_t half = complete(inner(context.head, side, j), 1 - side, width - 1);
    if (half != 0) graph_.add_edge({half, 0, weights_.of_pair(context, side, 0, j)});
    for (Index i = 0; i < j; ++i) {
      const std::int32_t before = open(context, side, i), between = pairs_[at(i)];
      if (before == 0 || between == 0) continue;
      graph_.add_edge({before, between, weights_.of_pair(context, side, i + 1, j)});
    }
  }

  // I[h, m] without siblings: halves of h and m that meet. A single root has no modifier before.
  void add_edges_of_splits(Index c, int side, Index j, Index width) {
    const HeadContext& context = contexts_[at(c)];
    const Index m = inner(context.head, side, j);
    const Index last = single_ && context.head == 0 ? 1 : width;
    for (Index k = 0; k < last; ++k) {
      const std::int32_t a = complete(c, side, k), b = complete(m, 1 - side, width - 1 - k);
      if (a != 0 && b != 0) graph_.add_edge({a, b, weights_.of_arc(context, side, j)});
    }
  }

  // C[h, e] for all halves of this width.
  void add_halves(Index width) {
    for (Index c = 0; c < static_cast<Index>(contexts_.size()); ++c) {
      const HeadContext& context = contexts_[at(c)];
      if (context.head - width >= context.low) add_half(c, 0, width);
      const Index end = context.head + width;
      // Halves of the root symbol that do not reach the end are used by its next modifier only.
      const bool whole = context.head == 0 && (weights_.siblings() || single_);
      if (end <= context.high && (!whole || end == n_words_)) add_half(c, 1, width);
    }
  }

  void add_half(Index c, int side, Index width) {
    const HeadContext& context = contexts_[at(c)];
    const Index h = context.head;
    const auto modifiers = parts_.modifiers(h, side);
    const auto end = static_cast<Index>(modifiers.size());
    for (Index j = 0; j < reached_[at(2 * h + side)]; ++j) {
      const std::int32_t arc_item = open(context, side, j);
      if (arc_item == 0) continue;
      const Index m = modifiers[at(j)];
      const Index rest = width - (side == 0 ? h - m : m - h);
      const std::int32_t half = complete(inner(h, side, j), side, rest);
      if (half == 0) continue;
      const std::int32_t weight =
          weights_.siblings() ? weights_.of_pair(context, side, j + 1, end) : 0;
      graph_.add_edge({arc_item, half, weight});
    }
    complete(c, side, width) = graph_.end_node();
  }

  const SecondOrderWeights& weights_;
  const PartIndex& parts_;
  const std::vector<HeadContext>& contexts_;
  Index n_words_;
  bool single_;
  Hypergraph& graph_;
  std::vector<std::int32_t> complete_, open_;  // items; 0 if they cannot be built
  std::vector<Index> reached_;                 // modifiers of each side that are near enough so far
  std::vector<Index> inner_;
  std::vector<std::int32_t> pairs_;    // S of the modifier at hand with each one before it
  std::vector<std::int32_t> between_;  // S of any two words, where it does not depend on h
};

}  // namespace

void SecondOrderWeights::lay_out(const PartIndex& parts) {
  parts_ = &parts;
  const PartKinds kinds = parts.kinds();
  siblings_ = kinds.has(PartKind::consecutive) || kinds.has(PartKind::grandsiblings);
  grand_ = kinds.grand();
  size_ = 1;
  contexts_.clear();
  Index open = 0;
  const auto n = static_cast<std::int32_t>(parts.n_words());
  for (std::int32_t h = 0; h <= n; ++h) {
    for (Index i = 0; i < contexts_of(h); ++i) {
      const std::int32_t g = grand_ ? parts.grandparent(first_context(h) + i) : -1;
      HeadContext context{h, g, h == 0 ? 0 : 1, n, {0, 0}, open};
      if (g >= 0) (g < h ? context.low : context.high) = g < h ? g + 1 : g - 1;
      for (const int side : {0, 1}) {
        const auto modifiers = static_cast<Index>(parts.modifiers(h, side).size());
        context.weights[side] = size_;
        size_ += siblings_ ? sibling_pairs(modifiers) : modifiers;
        open += modifiers;
      }
      contexts_.push_back(context);
    }
  }
  if (size_ > INT32_MAX) throw std::bad_alloc();
}

// Calls see(weight, arc's cell, consecutive, grandparents, grandsiblings), the last four as places
// in the tables of their kinds; arc and grandparents are -1 for END.
template <class Visit>
void SecondOrderWeights::visit_side(const HeadContext& context, Index number, int side,
                                    const Visit& see) const {
  const auto modifiers = parts_->modifiers(context.head, side);
  const auto end = static_cast<Index>(modifiers.size());
  const Index row = context.head * (parts_->n_words() + 1);
  const Index left = side == 0 ? 0 : static_cast<Index>(parts_->modifiers(context.head, 0).size());
  const Index grandparents = grand_ ? parts_->grandparents_at(number) + left : 0;
  const Index grandsiblings = grand_ ? parts_->grandsiblings_at(number, side, context.head) : 0;
  const Index consecutive = parts_->consecutive_at(context.head, side);
  for (Index next = 0; next < end; ++next) {
    const Index cell = row + modifiers[at(next)];
    if (!siblings_) {
      see(context.weights[side] + next, cell, Index{-1}, grandparents + next, Index{-1});
      continue;
    }
    for (Index pair = sibling_pair(0, next); pair <= sibling_pair(next, next); ++pair) {
      see(context.weights[side] + pair, cell, consecutive + pair, grandparents + next,
          grandsiblings + pair);
    }
  }
  if (!siblings_) return;
  for (Index pair = sibling_pair(0, end); pair <= sibling_pair(end, end); ++pair) {
    see(context.weights[side] + pair, Index{-1}, consecutive + pair, Index{-1},
        grandsiblings + pair);
  }
}

template <class Visit>
void SecondOrderWeights::visit(const Visit& see) const {
  Polling polling;
  for (Index c = 0; c < static_cast<Index>(contexts_.size()); ++c) {
    if (c % kContextsPerPoll == 0) polling.after(5 * kContextsPerPoll * parts_->n_words());
    for (const int side : {0, 1}) visit_side(contexts_[at(c)], c, side, see);
  }
}

void SecondOrderWeights::weigh(const PartScores& scores, double* weights) const {
  weights[0] = 0.0;
  visit([&](Index w, Index cell, Index consecutive, Index grandparent, Index grandsibling) {
    double sum = cell >= 0 ? scores.arcs[cell] : 0.0;
    if (scores[PartKind::consecutive] != nullptr) sum += scores[PartKind::consecutive][consecutive];
    if (scores[PartKind::grandparents] != nullptr && cell >= 0)
      sum += scores[PartKind::grandparents][grandparent];
    if (scores[PartKind::grandsiblings] != nullptr)
      sum += scores[PartKind::grandsiblings][grandsibling];
    weights[w] = sum;
  });
}

void SecondOrderWeights::spread(const double* weights, const PartValues<double>& values) const {
  visit([&](Index w, Index cell, Index consecutive, Index grandparent, Index grandsibling) {
    const double value = weights[w];
    if (cell >= 0) values.arcs[cell] += value;
    if (values[PartKind::consecutive] != nullptr)
      values[PartKind::consecutive][consecutive] += value;
    if (values[PartKind::grandparents] != nullptr && cell >= 0)
      values[PartKind::grandparents][grandparent] += value;
    if (values[PartKind::grandsiblings] != nullptr)
      values[PartKind::grandsiblings][grandsibling] += value;
  });
}

void SecondOrderWeights::list_arcs(std::vector<Index>& arcs) const {
  arcs.assign(at(size_), -1);
  visit([&](Index w, Index cell, Index, Index, Index) { arcs[at(w)] = cell; });
}

double second_order_edges(const PartIndex& parts) {
  const PartKinds kinds = parts.kinds();
  const bool siblings = kinds.has(PartKind::consecutive) || kinds.has(PartKind::grandsiblings);
  const auto n = static_cast<double>(parts.n_words());
  double halves = 0.0, open = 0.0, between = 0.0;
  for (Index h = 0; h <= parts.n_words(); ++h) {
    const double contexts = kinds.grand() ? static_cast<double>(parts.links_of(h)) : 1.0;
    for (const int side : {0, 1}) {
      const auto k = static_cast<double>(parts.modifiers(h, side).size());
      const double reach = side == 0 ? static_cast<double>(h) : n - static_cast<double>(h);
      halves += contexts * k * reach / 2;
      open += contexts * k * (siblings ? k : reach) / 2;
      between += siblings ? k * k * reach / 6 : 0.0;
    }
  }
  return halves + open + (kinds.grand() ? between : std::min(between, n * n * n / 6));
}

std::int32_t build_second_order(const SecondOrderWeights& weights, Root root, Hypergraph& graph) {
  graph.clear();
  return Builder(weights, root, graph).run();
}

}  // namespace arbora::inference
