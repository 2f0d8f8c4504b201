#include "arbora/tree/part_index.hpp"

#include <algorithm>
#include <optional>

#include "arbora/base/parallel.hpp"
#include "arbora/tree/part_kinds.hpp"

namespace arbora::tree {
namespace {

Index pair_count(Index modifiers) { return modifiers * (modifiers - 1) / 2; }

}  // namespace

PartIndex::PartIndex(const std::uint8_t* kept, Index n_words, PartKinds kinds)
    : n_words_(n_words), kinds_(kinds) {
  const Index side = n_words + 1;
  first_modifier_.reserve(at(2 * side + 1));
  first_pairs_.reserve(at(2 * side + 1));
  first_siblings_.reserve(at(side + 1));
  for (auto* first : {&first_modifier_, &first_pairs_, &first_siblings_, &first_head_,
                      &first_grandparents_, &first_grandsiblings_}) {
    first->push_back(0);
  }
  const auto end_side = [&] {
    const auto k = static_cast<Index>(modifiers_.size()) - first_modifier_.back();
    first_modifier_.push_back(static_cast<Index>(modifiers_.size()));
    first_pairs_.push_back(first_pairs_.back() + sibling_pairs(k));
  };
  for (Index h = 0; h < side; ++h) {
    const std::uint8_t* row = kept + h * side;
    for (Index m = h - 1; m >= 1; --m) {
      if (row[m] != 0) modifiers_.push_back(static_cast<std::int32_t>(m));
    }
    end_side();
    for (Index m = h + 1; m < side; ++m) {
      if (row[m] != 0) modifiers_.push_back(static_cast<std::int32_t>(m));
    }
    end_side();
    first_siblings_.push_back(first_siblings_.back() + pair_count(n_modifiers(h)));
  }
  for (Index m = 1; m < side; ++m) {
    for (Index h = 0; h < side; ++h) {
      if (h != m && kept[h * side + m] != 0) heads_.push_back(static_cast<std::int32_t>(h));
    }
    first_head_.push_back(static_cast<Index>(heads_.size()));
  }
  for (Index h = 0; kinds.grand() && h < side; ++h) {
    for (Index i = 0; i < links_of(h); ++i) {
      first_grandparents_.push_back(first_grandparents_.back() + n_modifiers(h));
      const Index pairs = first_pairs_[at(2 * h + 2)] - first_pairs_[at(2 * h)];
      first_grandsiblings_.push_back(first_grandsiblings_.back() + pairs);
    }
  }
  for_each_kind([&](PartKind kind) {
    if (kinds.has(kind)) counts_[kind] = layout_of(kind).count(*this);
  });
}

Index PartIndex::link(Index grandparent, Index head) const {
  if (head == 0) return 0;
  const auto of_head = heads(head);
  const auto found =
      std::lower_bound(of_head.begin(), of_head.end(), static_cast<std::int32_t>(grandparent));
  if (found == of_head.end() || *found != grandparent) return -1;
  return first_link(head) + (found - of_head.begin());
}

Index PartIndex::place(Index head, Index modifier) const {
  const int side = modifier > head ? 1 : 0;
  const auto of_side = modifiers(head, side);
  const auto wanted = static_cast<std::int32_t>(modifier);
  const auto found =
      side == 1 ? std::lower_bound(of_side.begin(), of_side.end(), wanted)
                : std::lower_bound(of_side.begin(), of_side.end(), wanted, std::greater<>());
  if (found == of_side.end() || *found != wanted) return -1;
  return found - of_side.begin();
}

PartBatch::PartBatch(const std::uint8_t* kept, std::span<const std::int64_t> n_words,
                     PartKinds kinds, int threads)
    : kinds_(kinds) {
  std::vector<const std::uint8_t*> first;
  double work = 0.0;
  for (const std::int64_t n : n_words) {
    first.push_back(kept);
    kept += (n + 1) * (n + 1);
    work += static_cast<double>((n + 1) * (n + 1));
  }
  std::vector<std::optional<PartIndex>> made(n_words.size());
  for_each_sentence(static_cast<Index>(n_words.size()), threads, work, [&](Index i, Workspace&) {
    made[at(i)].emplace(first[at(i)], n_words[at(i)], kinds);
  });
  Place next{};
  for (std::optional<PartIndex>& one : made) {
    places_.push_back(next);
    const Index side = one->n_words() + 1;
    next.cells += side * side;
    next.words += one->n_words();
    next.arcs += one->n_arcs();
    for_each_kind([&](PartKind kind) { next.parts[kind] += one->count(kind); });
    sentences_.push_back(std::move(*one));
  }
  places_.push_back(next);
}

}  // namespace arbora::tree
