// Which parts of second order a sentence has once its arcs are chosen, and where their scores lie.
//
// A part is a few arcs of one head that are looked at together:
//
//   consecutive siblings  (h, side, s, m)     s and m follow each other outwards from h
//   siblings              (h, s, m)           any two modifiers of h
//   grandparents          (g, h, m)           the head of h and a modifier of h
//   grandsiblings         (g, h, side, s, m)  a grandparent with consecutive siblings
//
// Only parts whose arcs are all kept exist, so the parts of one head form small dense tables. All
// tables of a kind lie in one flat array, which holds scores, marginals or gradients alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/base/types.hpp"

namespace arbora::tree {

// Which kinds of parts a model has.
struct PartKinds {
  bool consecutive = false, siblings = false, grandparents = false, grandsiblings = false;

  // Whether what a head's modifiers score depends on the head's own head.
  bool grand() const { return grandparents || grandsiblings; }
};

// Pairs (previous, next) of consecutive siblings on a side with k modifiers, counted outwards:
// previous is 0 for START or 1 + the place of a modifier, next the place of a modifier or k for
// END, and previous <= next. The pairs of one `next` lie together.
constexpr Index sibling_pairs(Index modifiers) { return (modifiers + 1) * (modifiers + 2) / 2; }
constexpr Index sibling_pair(Index previous, Index next) {
  return next * (next + 1) / 2 + previous;
}

class PartIndex {
 public:
  // `kept` says for every cell of (n+1) x (n+1), [head, modifier], whether the arc is there;
  // column 0 and the diagonal are not looked at.
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

  // Flat sizes and places of the tables.
  Index consecutive() const { return kinds_.consecutive ? first_pairs_.back() : 0; }
  Index siblings() const { return kinds_.siblings ? first_siblings_.back() : 0; }
  Index grandparents() const { return kinds_.grandparents ? first_grandparents_.back() : 0; }
  Index grandsiblings() const { return kinds_.grandsiblings ? first_grandsiblings_.back() : 0; }

  // The table of a side's consecutive pairs: sibling_pairs(k) numbers.
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
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  static std::span<const std::int32_t> slice(const std::vector<std::int32_t>& all,
                                             const std::vector<Index>& first, Index i) {
    return {all.data() + first[at(i)], all.data() + first[at(i + 1)]};
  }

  Index n_words_;
  PartKinds kinds_;
  std::vector<std::int32_t> modifiers_, heads_;
  std::vector<Index> first_modifier_, first_head_;
  std::vector<Index> first_pairs_, first_siblings_, first_grandparents_, first_grandsiblings_;
};

// The parts of many sentences; flat arrays hold one sentence after the other.
class PartBatch {
 public:
  PartBatch(const std::uint8_t* kept, std::span<const std::int64_t> n_words, PartKinds kinds,
            int threads);

  struct Place {
    Index cells, words, arcs, consecutive, siblings, grandparents, grandsiblings;
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
  Number *arcs = nullptr, *consecutive = nullptr, *siblings = nullptr, *grandparents = nullptr,
         *grandsiblings = nullptr;

  PartValues of(const PartBatch::Place& place) const {
    const auto moved = [](Number* all, Index by) { return all == nullptr ? nullptr : all + by; };
    return {moved(arcs, place.cells), moved(consecutive, place.consecutive),
            moved(siblings, place.siblings), moved(grandparents, place.grandparents),
            moved(grandsiblings, place.grandsiblings)};
  }
};
using PartScores = PartValues<const double>;

enum class PartKind : int { consecutive = 0, siblings = 1, grandparents = 2, grandsiblings = 3 };

// What is wrong with a part that a user names.
enum class PartFault : std::int64_t {
  range = -1,   // no such word or side
  pruned = -2,  // one of its arcs is forbidden
  order = -3,   // modifiers on the wrong side, or not in order
};

// The number of a part in its kind's flat array, from the columns that users write (-1 for START,
// END and the root's grandparent); a PartFault if there is none.
Index part_number(const PartIndex& parts, PartKind kind, const std::int64_t* columns);

// How many columns a part of this kind has.
constexpr Index part_columns(PartKind kind) {
  return kind == PartKind::consecutive ? 4 : kind == PartKind::grandsiblings ? 5 : 3;
}

// The parts of a kind in the order of their numbers, as the columns that users write.
void list_parts(const PartIndex& parts, PartKind kind, std::int64_t* columns);

// The numbers of the parts that a tree has, appended to `numbers`; false if an arc is not kept.
bool parts_of_tree(const PartIndex& parts, PartKind kind, const std::int32_t* heads,
                   std::vector<Index>& numbers);

// The same of a tree whose pruned arcs are left out.
void kept_parts_of_tree(const PartIndex& parts, PartKind kind, const std::int32_t* heads,
                        std::vector<Index>& numbers);

// The full score of a tree, its arcs included; -inf if an arc is not kept.
double score_of_tree(const PartIndex& parts, const PartScores& scores, const std::int32_t* heads);

}  // namespace arbora::tree
