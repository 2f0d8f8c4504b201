// Grandparents, and grandparents with consecutive siblings.
#include "arbora/tree/part_kinds.hpp"

namespace arbora::tree {
namespace {

// The link of a grandparent and a head, or a PartFault.
Index link_number(const PartIndex& parts, std::int64_t grandparent, std::int64_t head) {
  if (!is_head(head, parts)) return fault(PartFault::range);
  if (head == 0) return grandparent == -1 ? 0 : fault(PartFault::range);
  if (!is_head(grandparent, parts) || grandparent == head) return fault(PartFault::range);
  const Index link = parts.link(grandparent, head);
  return link < 0 ? fault(PartFault::pruned) : link;
}

Index link_of_tree(const PartIndex& parts, const std::int32_t* heads, Index head) {
  return parts.link(head == 0 ? -1 : heads[head - 1], head);
}

Index modifier_number(const PartIndex& parts, Index head, Index modifier) {
  const auto left = static_cast<Index>(parts.modifiers(head, 0).size());
  return parts.place(head, modifier) + (modifier < head ? 0 : left);
}

Index grandparent_number(const PartIndex& parts, const std::int64_t* columns) {
  const Index link = link_number(parts, columns[0], columns[1]);
  if (link < 0) return link;
  const std::int64_t h = columns[1], m = columns[2];
  if (!is_word(m, parts) || m == h) return fault(PartFault::range);
  if (parts.place(h, m) < 0) return fault(PartFault::pruned);
  return parts.grandparents_at(link) + modifier_number(parts, h, m);
}

void list_grandparents(const PartIndex& parts, std::int64_t* columns) {
  for (Index h = 0; h <= parts.n_words(); ++h) {
    for (Index i = 0; i < parts.links_of(h); ++i) {
      const Index g = parts.grandparent(parts.first_link(h) + i);
      for (const int side : {0, 1}) {
        for (const std::int32_t m : parts.modifiers(h, side)) {
          for (const Index value : {g, h, Index{m}}) *columns++ = value;
        }
      }
    }
  }
}

void grandparents_of_tree(const PartIndex& parts, const std::int32_t* heads,
                          std::vector<Index>& numbers) {
  for (Index h = 0; h <= parts.n_words(); ++h) {
    const Index link = link_of_tree(parts, heads, h);
    for (const int side : {0, 1}) {
      for (const std::int32_t m : parts.modifiers(h, side)) {
        if (link < 0 || heads[m - 1] != h) continue;
        numbers.push_back(parts.grandparents_at(link) + modifier_number(parts, h, m));
      }
    }
  }
}

Index grandsibling_number(const PartIndex& parts, const std::int64_t* columns) {
  const Index link = link_number(parts, columns[0], columns[1]);
  if (link < 0) return link;
  const Index pair = pair_number(parts, columns + 1);
  if (pair < 0) return pair;
  return parts.grandsiblings_at(link, static_cast<int>(columns[2]), columns[1]) + pair;
}

void list_grandsiblings(const PartIndex& parts, std::int64_t* columns) {
  for (Index h = 0; h <= parts.n_words(); ++h) {
    for (Index i = 0; i < parts.links_of(h); ++i) {
      const Index g = parts.grandparent(parts.first_link(h) + i);
      for (const int side : {0, 1}) {
        for_each_pair(parts, h, side, [&](Index previous, Index next) {
          for (const Index value : {g, h, Index{side}, previous, next}) *columns++ = value;
        });
      }
    }
  }
}

void grandsiblings_of_tree(const PartIndex& parts, const std::int32_t* heads,
                           std::vector<Index>& numbers) {
  for (Index h = 0; h <= parts.n_words(); ++h) {
    const Index link = link_of_tree(parts, heads, h);
    for (const int side : {0, 1}) {
      if (link < 0) continue;
      const Index first = parts.grandsiblings_at(link, side, h);
      walk_side(parts, heads, h, side, [&](Index previous, Index next) {
        numbers.push_back(first + sibling_pair(previous, next));
      });
    }
  }
}

}  // namespace

const PartLayout kGrandparents{
    .columns = 3,
    .in_walks = true,
    .summable = true,
    .count = [](const PartIndex& parts) { return parts.grandparents_at(parts.n_links()); },
    .number = grandparent_number,
    .list = list_grandparents,
    .of_tree = grandparents_of_tree,
};

const PartLayout kGrandsiblings{
    .columns = 5,
    .in_walks = true,
    .summable = true,
    .count = [](const PartIndex& parts) { return parts.grandsiblings_at(parts.n_links(), 0, 0); },
    .number = grandsibling_number,
    .list = list_grandsiblings,
    .of_tree = grandsiblings_of_tree,
};

}  // namespace arbora::tree
