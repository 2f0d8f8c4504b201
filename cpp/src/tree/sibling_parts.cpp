// Consecutive siblings, and any two siblings.
#include "arbora/tree/part_kinds.hpp"

namespace arbora::tree {
namespace {

Index pair_count(Index modifiers) { return modifiers * (modifiers - 1) / 2; }

// A head's modifiers from left to right.
std::vector<std::int32_t> in_order(const PartIndex& parts, Index head) {
  const auto left = parts.modifiers(head, 0), right = parts.modifiers(head, 1);
  std::vector<std::int32_t> all(left.rbegin(), left.rend());
  all.insert(all.end(), right.begin(), right.end());
  return all;
}

// The place of a modifier among its head's, from left to right.
Index rank(const PartIndex& parts, Index head, Index modifier) {
  const Index place = parts.place(head, modifier);
  const auto left = static_cast<Index>(parts.modifiers(head, 0).size());
  return modifier < head ? left - 1 - place : left + place;
}

Index consecutive_number(const PartIndex& parts, const std::int64_t* columns) {
  const Index pair = pair_number(parts, columns);
  return pair < 0 ? pair : parts.consecutive_at(columns[0], static_cast<int>(columns[1])) + pair;
}

void list_consecutive(const PartIndex& parts, std::int64_t* columns) {
  for (Index h = 0; h <= parts.n_words(); ++h) {
    for (const int side : {0, 1}) {
      for_each_pair(parts, h, side, [&](Index previous, Index next) {
        for (const Index value : {h, Index{side}, previous, next}) *columns++ = value;
      });
    }
  }
}

void consecutive_of_tree(const PartIndex& parts, const std::int32_t* heads,
                         std::vector<Index>& numbers) {
  for (Index h = 0; h <= parts.n_words(); ++h) {
    for (const int side : {0, 1}) {
      const Index first = parts.consecutive_at(h, side);
      walk_side(parts, heads, h, side, [&](Index previous, Index next) {
        numbers.push_back(first + sibling_pair(previous, next));
      });
    }
  }
}

Index sibling_number(const PartIndex& parts, const std::int64_t* columns) {
  const std::int64_t h = columns[0], s = columns[1], m = columns[2];
  if (!is_head(h, parts) || !is_word(s, parts) || !is_word(m, parts) || s == h || m == h) {
    return fault(PartFault::range);
  }
  if (s >= m) return fault(PartFault::order);
  if (parts.place(h, s) < 0 || parts.place(h, m) < 0) return fault(PartFault::pruned);
  return parts.siblings_at(h) + pair_count(rank(parts, h, m)) + rank(parts, h, s);
}

void list_siblings(const PartIndex& parts, std::int64_t* columns) {
  for (Index h = 0; h <= parts.n_words(); ++h) {
    const auto modifiers = in_order(parts, h);
    for (std::size_t j = 1; j < modifiers.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        for (const Index value : {h, Index{modifiers[i]}, Index{modifiers[j]}}) *columns++ = value;
      }
    }
  }
}

void siblings_of_tree(const PartIndex& parts, const std::int32_t* heads,
                      std::vector<Index>& numbers) {
  for (Index h = 0; h <= parts.n_words(); ++h) {
    const auto modifiers = in_order(parts, h);
    for (Index j = 1; j < static_cast<Index>(modifiers.size()); ++j) {
      if (heads[modifiers[at(j)] - 1] != h) continue;
      for (Index i = 0; i < j; ++i) {
        if (heads[modifiers[at(i)] - 1] == h) {
          numbers.push_back(parts.siblings_at(h) + pair_count(j) + i);
        }
      }
    }
  }
}

}  // namespace

Index pair_number(const PartIndex& parts, const std::int64_t* columns) {
  const std::int64_t h = columns[0], side = columns[1], previous = columns[2], next = columns[3];
  if (!is_head(h, parts) || side < 0 || side > 1) return fault(PartFault::range);
  for (const std::int64_t m : {previous, next}) {
    if (m == -1) continue;
    if (!is_word(m, parts) || m == h) return fault(PartFault::range);
    if ((m > h) != (side == 1)) return fault(PartFault::order);
    if (parts.place(h, m) < 0) return fault(PartFault::pruned);
  }
  const auto k = static_cast<Index>(parts.modifiers(h, static_cast<int>(side)).size());
  const Index from = previous == -1 ? 0 : parts.place(h, previous) + 1;
  const Index to = next == -1 ? k : parts.place(h, next);
  return from <= to ? sibling_pair(from, to) : fault(PartFault::order);
}

const PartLayout kConsecutiveSiblings{
    .columns = 4,
    .in_walks = true,
    .summable = true,
    .count = [](const PartIndex& parts) { return parts.consecutive_at(parts.n_words() + 1, 0); },
    .number = consecutive_number,
    .list = list_consecutive,
    .of_tree = consecutive_of_tree,
};

const PartLayout kSiblings{
    .columns = 3,
    .in_walks = false,
    .summable = false,
    .count = [](const PartIndex& parts) { return parts.siblings_at(parts.n_words() + 1); },
    .number = sibling_number,
    .list = list_siblings,
    .of_tree = siblings_of_tree,
};

}  // namespace arbora::tree
