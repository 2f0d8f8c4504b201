// The kinds of parts: a table with a row for each, which defines the number of a sentence's parts
// and the position of each in the kind's flat array. To add a kind, write its layout in its own
// file and add a row (part_kinds.cpp).
//
//   consecutive siblings  (h, side, s, m)     s and m follow each other outwards from h
//   siblings              (h, s, m)           any two modifiers of h
//   grandparents          (g, h, m)           the head of h and a modifier of h
//   grandsiblings         (g, h, side, s, m)  a grandparent with consecutive siblings
//   head bigrams          (m, k, h)           the head k of word m - 1 and the head h of word m
#pragma once

#include "arbora/tree/part_index.hpp"

namespace arbora::tree {

// What is wrong with a part that a user names.
enum class PartFault : std::int64_t {
  range = -1,   // no such word or side
  pruned = -2,  // one of its arcs is forbidden
  order = -3,   // modifiers on the wrong side, or not in order
};

struct PartLayout {
  Index columns;  // that users write; -1 is START, END and the root's grandparent
  bool in_walks;  // whether head automata score these parts
  bool summable;  // whether the exact projective chart can sum over them
  Index (*count)(const PartIndex& parts);
  // The number of the part with these columns, or a PartFault.
  Index (*number)(const PartIndex& parts, const std::int64_t* columns);
  // The columns of all parts, in the order of their numbers.
  void (*list)(const PartIndex& parts, std::int64_t* columns);
  // Appends the numbers of the parts that a tree has; arcs that are not kept are left out.
  void (*of_tree)(const PartIndex& parts, const std::int32_t* heads, std::vector<Index>& numbers);
};

const PartLayout& layout_of(PartKind kind);

// The numbers of the parts that a tree has, appended to `numbers`; false if an arc is not kept.
bool parts_of_tree(const PartIndex& parts, PartKind kind, const std::int32_t* heads,
                   std::vector<Index>& numbers);

// The full score of a tree, its arcs included; -inf if an arc is not kept.
double score_of_tree(const PartIndex& parts, const PartScores& scores, const std::int32_t* heads);

// The layouts.
extern const PartLayout kConsecutiveSiblings, kSiblings;  // sibling_parts.cpp
extern const PartLayout kGrandparents, kGrandsiblings;    // grand_parts.cpp
extern const PartLayout kHeadBigrams;                     // head_bigrams.cpp

// For layouts.
inline bool is_word(std::int64_t i, const PartIndex& parts) {
  return i >= 1 && i <= parts.n_words();
}
inline bool is_head(std::int64_t i, const PartIndex& parts) {
  return i >= 0 && i <= parts.n_words();
}
inline Index fault(PartFault what) { return static_cast<Index>(what); }

// (head, side, previous, next) as a place in the side's table of pairs, or a PartFault.
Index pair_number(const PartIndex& parts, const std::int64_t* columns);

// Calls step(previous, next) for the steps START .. END of a side's automaton over the modifiers
// that a tree has there.
template <class Step>
void walk_side(const PartIndex& parts, const std::int32_t* heads, Index head, int side,
               const Step& step) {
  const auto modifiers = parts.modifiers(head, side);
  const auto count = static_cast<Index>(modifiers.size());
  Index previous = 0;
  for (Index j = 0; j < count; ++j) {
    if (heads[modifiers[static_cast<std::size_t>(j)] - 1] != head) continue;
    step(previous, j);
    previous = j + 1;
  }
  step(previous, count);
}

// Calls use(previous, next) for all pairs of a side, as words, -1 for START and END.
template <class Use>
void for_each_pair(const PartIndex& parts, Index head, int side, const Use& use) {
  const auto modifiers = parts.modifiers(head, side);
  for (std::size_t next = 0; next <= modifiers.size(); ++next) {
    for (std::size_t previous = 0; previous <= next; ++previous) {
      use(previous == 0 ? Index{-1} : modifiers[previous - 1],
          next == modifiers.size() ? Index{-1} : modifiers[next]);
    }
  }
}

}  // namespace arbora::tree
