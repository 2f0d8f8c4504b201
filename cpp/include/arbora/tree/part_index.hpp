// The second-order parts of a sentence over its kept arcs, and the positions of their scores.
//
// Only parts whose arcs are all kept exist, so the parts of one head form small dense tables. All
// tables of a kind are stored in one flat array, which holds scores, marginals or gradients. A row
// of the table in part_kinds.hpp defines the parts of a kind and their layout.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "arbora/base/types.hpp"

namespace arbora::tree {

enum class PartKind : std::size_t {
  consecutive,
  siblings,
  grandparents,
  grandsiblings,
  head_bigrams,
};
inline constexpr std::size_t kPartKinds = 5;

// Something for each kind.
template <class Value>
struct ByKind {
  std::array<Value, kPartKinds> of{};

  Value& operator[](PartKind kind) { return of[static_cast<std::size_t>(kind)]; }
  const Value& operator[](PartKind kind) const { return of[static_cast<std::size_t>(kind)]; }
};

// Calls use(kind) for every kind.
template <class Use>
void for_each_kind(const Use& use) {
  for (std::size_t kind = 0; kind < kPartKinds; ++kind) use(static_cast<PartKind>(kind));
}

// Which kinds of parts a model has.
struct PartKinds {
  ByKind<bool> given;

  bool has(PartKind kind) const { return given[kind]; }
  // Whether the score of a head's modifiers depends on the head's own head.
  bool grand() const { return has(PartKind::grandparents) || has(PartKind::grandsiblings); }
};

// Pairs (previous, next) of consecutive siblings on a side with k modifiers, counted outwards:
// previous is 0 for START or 1 + the place of a modifier, next the place of a modifier or k for
// END, and previous <= next. The pairs of one `next` are contiguous.
constexpr Index sibling_pairs(Index modifiers) { return (modifiers + 1) * (modifiers + 2) / 2; }
constexpr Index sibling_pair(Index previous, Index next) {
  return next * (next + 1) / 2 + previous;
}

class PartIndex {
 public:
  // `kept` is nonzero in the cells of (n+1) x (n+1), [head, modifier], of kept arcs; column 0 and
  // the diagonal are not read.
  PartIndex(const std::uint8_t* kept, Index n_words, PartKinds kinds);

  Index n_words() const { return n_words_; }
  PartKinds kinds() const { return kinds_; }
  Index n_arcs() const { return static_cast<Index>(heads_.size()); }

  // The modifiers of a head on a side (0 left, 1 right), outwards.
  std::span<const std::int32_t> modifiers(Index head, int side) const {
    return slice(modifiers_, first_modifier_, 2 * head + side);
  }
  Index n_modifiers(Index head) const {
    return first_modifier_[at(2 * head + 2)] - first_modifier_[at(2 * head)];
  }
  // The possible heads of a word, from left to right.
  std::span<const std::int32_t> heads(Index word) const {
    return slice(heads_, first_head_, word - 1);
  }

  // A link is a head h with one of its possible heads g. The root symbol has one link, number 0,
  // and its grandparent is -1. Links of one h follow each other, in the order of heads(h).
  Index n_links() const { return n_arcs() + 1; }
  Index first_link(Index head) const { return head == 0 ? 0 : 1 + first_head_[at(head - 1)]; }
  Index links_of(Index head) const {
    return head == 0 ? 1 : static_cast<Index>(heads(head).size());
  }
  std::int32_t grandparent(Index link) const { return link == 0 ? -1 : heads_[at(link - 1)]; }
  // The link of the arc (g, h), or -1 if the arc is not kept.
  Index link(Index grandparent, Index head) const;

  // Where a modifier stands among its head's on its side, or -1 if the arc is not kept.
  Index place(Index head, Index modifier) const;

  // The number of parts of a kind; 0 if the model does not have the kind.
  Index count(PartKind kind) const { return counts_[kind]; }

  // The table of a side's consecutive pairs: sibling_pairs(k) numbers; then the end of the last.
  Index consecutive_at(Index head, int side) const { return first_pairs_[at(2 * head + side)]; }
  // The pairs of any two modifiers of a head, counted from left to right: the pair i < j is at
  // j (j - 1) / 2 + i.
  Index siblings_at(Index head) const { return first_siblings_[at(head)]; }
  // One number per modifier of the link's head: the left ones outwards, then the right ones.
  Index grandparents_at(Index link) const { return first_grandparents_[at(link)]; }
  // The consecutive pairs of the link's head once more.
  Index grandsiblings_at(Index link, int side, Index head) const {
    return first_grandsiblings_[at(link)] +
           (side == 0 ? 0 : consecutive_at(head, 1) - consecutive_at(head, 0));
  }

 private:
  static std::span<const std::int32_t> slice(const std::vector<std::int32_t>& all,
                                             const std::vector<Index>& first, Index i) {
    return {all.data() + first[at(i)], all.data() + first[at(i + 1)]};
  }

  Index n_words_;
  PartKinds kinds_;
  std::vector<std::int32_t> modifiers_, heads_;
  std::vector<Index> first_modifier_, first_head_;
  std::vector<Index> first_pairs_, first_siblings_, first_grandparents_, first_grandsiblings_;
  ByKind<Index> counts_;
};

// The parts of many sentences; flat arrays hold one sentence after the other.
class PartBatch {
 public:
  PartBatch(const std::uint8_t* kept, std::span<const std::int64_t> n_words, PartKinds kinds,
            int threads);

  struct Place {
    Index cells, words, arcs;
    ByKind<Index> parts;

    Index operator[](PartKind kind) const { return parts[kind]; }
  };

  Index size() const { return static_cast<Index>(sentences_.size()); }
  PartKinds kinds() const { return kinds_; }
  const PartIndex& operator[](Index i) const { return sentences_[static_cast<std::size_t>(i)]; }
  // Where a sentence's numbers begin; with i = size(), how many there are in all.
  const Place& place(Index i) const { return places_[static_cast<std::size_t>(i)]; }

 private:
  PartKinds kinds_;
  std::vector<PartIndex> sentences_;
  std::vector<Place> places_;
};

// Scores (or marginals, or gradients) of one sentence's parts, each kind in a flat array; kinds
// that the model does not have are null.
template <class Number>
struct PartValues {
  Number* arcs = nullptr;
  ByKind<Number*> tables;

  Number*& operator[](PartKind kind) { return tables[kind]; }
  Number* operator[](PartKind kind) const { return tables[kind]; }

  PartValues of(const PartBatch::Place& place) const {
    PartValues own{arcs + place.cells, {}};
    for_each_kind([&](PartKind kind) {
      if (tables[kind] != nullptr) own[kind] = tables[kind] + place[kind];
    });
    return own;
  }
};
using PartScores = PartValues<const double>;

}  // namespace arbora::tree
