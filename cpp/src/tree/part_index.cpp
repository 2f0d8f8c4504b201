#include "arbora/tree/part_index.hpp"

#include <algorithm>
#include <optional>

#include "arbora/base/parallel.hpp"

namespace arbora::tree {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Index pair_count(Index modifiers) { return modifiers * (modifiers - 1) / 2; }

// The words on the path of a side's automaton for the modifiers that a tree has there: calls
// step(previous, next) in places for START .. END.
template <class Step>
bool walk_side(const PartIndex& parts, const std::int32_t* heads, Index head, int side,
               const Step& step) {
  const auto modifiers = parts.modifiers(head, side);
  Index previous = 0;
  for (Index j = 0; j < static_cast<Index>(modifiers.size()); ++j) {
    if (heads[modifiers[at(j)] - 1] != head) continue;
    step(previous, j);
    previous = j + 1;
  }
  step(previous, static_cast<Index>(modifiers.size()));
  return true;
}

bool all_kept(const PartIndex& parts, const std::int32_t* heads) {
  for (Index m = 1; m <= parts.n_words(); ++m) {
    const std::int32_t h = heads[m - 1];
    if (h < 0 || h > parts.n_words() || h == m || parts.place(h, m) < 0) return false;
  }
  return true;
}

std::int32_t head_of(const std::int32_t* heads, Index word) {
  return word == 0 ? -1 : heads[word - 1];
}

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

Index modifier_number(const PartIndex& parts, Index head, Index modifier) {
  const auto left = static_cast<Index>(parts.modifiers(head, 0).size());
  return parts.place(head, modifier) + (modifier < head ? 0 : left);
}

// Calls visit for every kept part of the kind with its number; arcs that the tree lacks are left
// out.
template <class Visit>
void visit_tree(const PartIndex& parts, PartKind kind, const std::int32_t* heads,
                const Visit& visit) {
  for (Index h = 0; h <= parts.n_words(); ++h) {
    const Index link = parts.link(head_of(heads, h), h);
    if (kind == PartKind::siblings) {
      const auto modifiers = in_order(parts, h);
      for (Index j = 1; j < static_cast<Index>(modifiers.size()); ++j) {
        if (heads[modifiers[at(j)] - 1] != h) continue;
        for (Index i = 0; i < j; ++i) {
          if (heads[modifiers[at(i)] - 1] == h) visit(parts.siblings_at(h) + pair_count(j) + i);
        }
      }
      continue;
    }
    for (const int side : {0, 1}) {
      if (kind == PartKind::grandparents) {
        for (const std::int32_t m : parts.modifiers(h, side)) {
          if (heads[m - 1] == h) visit(parts.grandparents_at(link) + modifier_number(parts, h, m));
        }
        continue;
      }
      const Index first = kind == PartKind::consecutive ? parts.consecutive_at(h, side)
                                                        : parts.grandsiblings_at(link, side, h);
      walk_side(parts, heads, h, side,
                [&](Index previous, Index next) { visit(first + sibling_pair(previous, next)); });
    }
  }
}

bool is_word(std::int64_t i, const PartIndex& parts) { return i >= 1 && i <= parts.n_words(); }
bool is_head(std::int64_t i, const PartIndex& parts) { return i >= 0 && i <= parts.n_words(); }

Index fault(PartFault what) { return static_cast<Index>(what); }

// (head, side, previous, next) as a place in the side's table.
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

// The link of a grandparent and a head.
Index link_number(const PartIndex& parts, std::int64_t grandparent, std::int64_t head) {
  if (!is_head(head, parts)) return fault(PartFault::range);
  if (head == 0) return grandparent == -1 ? 0 : fault(PartFault::range);
  if (!is_head(grandparent, parts) || grandparent == head) return fault(PartFault::range);
  const Index link = parts.link(grandparent, head);
  return link < 0 ? fault(PartFault::pruned) : link;
}

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
  if (!kinds.grand()) return;
  for (Index h = 0; h < side; ++h) {
    for (Index i = 0; i < links_of(h); ++i) {
      first_grandparents_.push_back(first_grandparents_.back() + n_modifiers(h));
      const Index pairs = first_pairs_[at(2 * h + 2)] - first_pairs_[at(2 * h)];
      first_grandsiblings_.push_back(first_grandsiblings_.back() + pairs);
    }
  }
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
    next.consecutive += one->consecutive();
    next.siblings += one->siblings();
    next.grandparents += one->grandparents();
    next.grandsiblings += one->grandsiblings();
    sentences_.push_back(std::move(*one));
  }
  places_.push_back(next);
}

Index part_number(const PartIndex& parts, PartKind kind, const std::int64_t* columns) {
  if (kind == PartKind::consecutive) {
    const Index pair = pair_number(parts, columns);
    return pair < 0 ? pair : parts.consecutive_at(columns[0], static_cast<int>(columns[1])) + pair;
  }
  if (kind == PartKind::siblings) {
    const std::int64_t h = columns[0], s = columns[1], m = columns[2];
    if (!is_head(h, parts) || !is_word(s, parts) || !is_word(m, parts) || s == h || m == h) {
      return fault(PartFault::range);
    }
    if (s >= m) return fault(PartFault::order);
    if (parts.place(h, s) < 0 || parts.place(h, m) < 0) return fault(PartFault::pruned);
    return parts.siblings_at(h) + pair_count(rank(parts, h, m)) + rank(parts, h, s);
  }
  const Index link = link_number(parts, columns[0], columns[1]);
  if (link < 0) return link;
  if (kind == PartKind::grandsiblings) {
    const Index pair = pair_number(parts, columns + 1);
    if (pair < 0) return pair;
    return parts.grandsiblings_at(link, static_cast<int>(columns[2]), columns[1]) + pair;
  }
  const std::int64_t h = columns[1], m = columns[2];
  if (!is_word(m, parts) || m == h) return fault(PartFault::range);
  if (parts.place(h, m) < 0) return fault(PartFault::pruned);
  return parts.grandparents_at(link) + modifier_number(parts, h, m);
}

void list_parts(const PartIndex& parts, PartKind kind, std::int64_t* columns) {
  const auto write = [&](std::initializer_list<Index> values) {
    for (const Index value : values) *columns++ = value;
  };
  for (Index h = 0; h <= parts.n_words(); ++h) {
    if (kind == PartKind::siblings) {
      const auto modifiers = in_order(parts, h);
      for (std::size_t j = 1; j < modifiers.size(); ++j) {
        for (std::size_t i = 0; i < j; ++i) write({h, modifiers[i], modifiers[j]});
      }
      continue;
    }
    const Index links = kind == PartKind::consecutive ? 1 : parts.links_of(h);
    for (Index i = 0; i < links; ++i) {
      const Index g = parts.grandparent(parts.first_link(h) + i);
      for (const int side : {0, 1}) {
        const auto modifiers = parts.modifiers(h, side);
        if (kind == PartKind::grandparents) {
          for (const std::int32_t m : modifiers) write({g, h, m});
          continue;
        }
        for (std::size_t next = 0; next <= modifiers.size(); ++next) {
          for (std::size_t previous = 0; previous <= next; ++previous) {
            const Index s = previous == 0 ? -1 : modifiers[previous - 1];
            const Index m = next == modifiers.size() ? -1 : modifiers[next];
            if (kind == PartKind::grandsiblings) write({g});
            write({h, side, s, m});
          }
        }
      }
    }
  }
}

bool parts_of_tree(const PartIndex& parts, PartKind kind, const std::int32_t* heads,
                   std::vector<Index>& numbers) {
  if (!all_kept(parts, heads)) return false;
  kept_parts_of_tree(parts, kind, heads, numbers);
  return true;
}

void kept_parts_of_tree(const PartIndex& parts, PartKind kind, const std::int32_t* heads,
                        std::vector<Index>& numbers) {
  visit_tree(parts, kind, heads, [&](Index number) { numbers.push_back(number); });
}

double score_of_tree(const PartIndex& parts, const PartScores& scores, const std::int32_t* heads) {
  if (!all_kept(parts, heads)) return kForbidden;
  const Index side = parts.n_words() + 1;
  double total = 0.0;
  for (Index m = 1; m < side; ++m) total += scores.arcs[heads[m - 1] * side + m];
  const auto add = [&](PartKind kind, const double* values) {
    if (values != nullptr) visit_tree(parts, kind, heads, [&](Index i) { total += values[i]; });
  };
  add(PartKind::consecutive, scores.consecutive);
  add(PartKind::siblings, scores.siblings);
  add(PartKind::grandparents, scores.grandparents);
  add(PartKind::grandsiblings, scores.grandsiblings);
  return total;
}

}  // namespace arbora::tree
