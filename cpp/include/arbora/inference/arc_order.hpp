// The kept arcs of a sentence in the order of the head automata: head by head, the left modifiers
// outwards, then the right ones.
#pragma once

#include <cstdint>
#include <vector>

#include "arbora/tree/part_index.hpp"

namespace arbora::inference {

struct ArcOrder {
  ArcOrder() = default;
  explicit ArcOrder(const PartIndex& parts) { set(parts); }

  void set(const PartIndex& parts) {
    n_words = parts.n_words();
    const auto arcs = static_cast<std::size_t>(parts.n_arcs());
    arc_at.assign(static_cast<std::size_t>((n_words + 1) * (n_words + 1)), -1);
    head.resize(arcs);
    modifier.resize(arcs);
    first.resize(static_cast<std::size_t>(n_words + 2));
    std::size_t arc = 0;
    for (Index h = 0; h <= n_words; ++h) {
      first[static_cast<std::size_t>(h)] = static_cast<Index>(arc);
      std::int32_t* row = arc_at.data() + h * (n_words + 1);
      for (const int side : {0, 1}) {
        for (const std::int32_t m : parts.modifiers(h, side)) {
          row[m] = static_cast<std::int32_t>(arc);
          head[arc] = static_cast<std::int32_t>(h);
          modifier[arc++] = m;
        }
      }
    }
    first.back() = static_cast<Index>(arc);
    link.resize(arcs);
    of_link.resize(arcs + 1);
    of_link[0] = -1;
    for (Index m = 1; m <= n_words; ++m) {
      Index number = parts.first_link(m);
      for (const std::int32_t h : parts.heads(m)) {
        const std::int32_t above = (*this)(h, m);
        link[static_cast<std::size_t>(above)] = static_cast<std::int32_t>(number);
        of_link[static_cast<std::size_t>(number++)] = above;
      }
    }
  }

  Index size() const { return static_cast<Index>(head.size()); }
  // The number of an arc, or -1 if it is not kept.
  std::int32_t operator()(Index h, Index m) const {
    return arc_at[static_cast<std::size_t>(h * (n_words + 1) + m)];
  }
  Index cell(Index arc) const {
    const auto a = static_cast<std::size_t>(arc);
    return head[a] * (n_words + 1) + modifier[a];
  }

  Index n_words = 0;
  std::vector<std::int32_t> arc_at;  // by cell of (n+1) x (n+1)
  std::vector<std::int32_t> head, modifier;
  std::vector<Index> first;                 // of each head, and the end
  std::vector<std::int32_t> link, of_link;  // PartIndex's numbers of arcs as links, and back
};

}  // namespace arbora::inference
