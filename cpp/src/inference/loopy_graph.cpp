#include "arbora/inference/loopy_graph.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"
#include "arbora/inference/pair_factors.hpp"

namespace arbora::inference {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

void LoopyGraph::set(const PartIndex& parts, const PartScores& scores,
                     const LoopySettings& settings) {
  const PartKinds kinds = parts.kinds();
  parts_ = &parts;
  order_.set(parts);
  grand_ = kinds.has(PartKind::grandsiblings) ||
           (kinds.has(PartKind::grandparents) && settings.grandparents_in_walks);
  list_impossible();
  steps_.reset();
  if (kinds.has(PartKind::consecutive) || grand_) steps_.emplace(steps_of_tables(scores));
  pairs_of_grandparents_ = kinds.has(PartKind::grandparents) && !grand_;

  arc_scores.resize(at(n_arcs()));
  for (Index a = 0; a < n_arcs(); ++a) arc_scores[at(a)] = scores.arcs[order_.cell(a)];
  first.clear();
  second.clear();
  part_.clear();
  sibling_pairs_ = 0;
  // Damping mixes logarithms.
  if (settings.damping > 0.0 || !rows.set(parts, order_, scores, kinds.has(PartKind::siblings),
                                          pairs_of_grandparents_, settings.trees)) {
    rows.clear();
    list_pairs(settings.trees);
  }
  pair_scores.assign(at(whole_packs(n_pairs())), 0.0);
  read(scores, arc_scores.data(), pair_scores.data());
  count_factors();
  bound_messages(scores);
}

void LoopyGraph::list_impossible() {
  impossible_grandparents_.clear();
  impossible_grandsiblings_.clear();
  if (!grand_) return;
  for (Index link = 1; link < parts_->n_links(); ++link) {
    const Index above = order_.of_link[at(link)];
    const Index g = order_.head[at(above)], h = order_.modifier[at(above)];
    const Index place = g == 0 ? -1 : parts_->place(h, g);
    if (place < 0) continue;
    const int side = g > h ? 1 : 0;
    const auto k = static_cast<Index>(parts_->modifiers(h, side).size());
    const auto left = static_cast<Index>(parts_->modifiers(h, 0).size());
    impossible_grandparents_.push_back(parts_->grandparents_at(link) + (side == 0 ? 0 : left) +
                                       place);
    const Index table = parts_->grandsiblings_at(link, side, h);
    for (Index i = 0; i <= place; ++i) {
      impossible_grandsiblings_.push_back(table + sibling_pair(i, place));
    }
    for (Index next = place + 1; next <= k; ++next) {
      impossible_grandsiblings_.push_back(table + sibling_pair(place + 1, next));
    }
  }
}

StepTables LoopyGraph::steps_of_tables(const PartScores& tables) {
  PartScores possible = tables;
  const auto without = [](const double* table, Index count, const std::vector<Index>& places,
                          std::vector<double>& room) -> const double* {
    if (table == nullptr || places.empty()) return table;
    room.assign(table, table + count);
    for (const Index place : places) room[at(place)] = 0.0;
    return room.data();
  };
  if (grand_) {
    possible[PartKind::grandparents] =
        without(tables[PartKind::grandparents], parts_->count(PartKind::grandparents),
                impossible_grandparents_, grandparents_);
    possible[PartKind::grandsiblings] =
        without(tables[PartKind::grandsiblings], parts_->count(PartKind::grandsiblings),
                impossible_grandsiblings_, grandsiblings_);
  }
  return StepTables(*parts_, possible, grand_, StepTables::Cycles::ignored);
}

void LoopyGraph::clear_impossible(const PartValues<double>& tables) const {
  if (tables[PartKind::grandparents] != nullptr) {
    for (const Index place : impossible_grandparents_) tables[PartKind::grandparents][place] = 0.0;
  }
  if (tables[PartKind::grandsiblings] != nullptr) {
    for (const Index place : impossible_grandsiblings_)
      tables[PartKind::grandsiblings][place] = 0.0;
  }
}

void LoopyGraph::add_pair(Index one, Index two, Index part) {
  if (!possible(one) || !possible(two)) return;
  first.push_back(static_cast<std::int32_t>(one));
  second.push_back(static_cast<std::int32_t>(two));
  part_.push_back(part);
}

void LoopyGraph::list_pairs(Trees trees) {
  if (parts_->kinds().has(PartKind::siblings)) list_siblings();
  sibling_pairs_ = n_pairs();
  if (pairs_of_grandparents_) list_grandparents(trees);
}

void LoopyGraph::list_siblings() {
  for (Index h = 0; h <= parts_->n_words(); ++h) {
    const Index begin = order_.first[at(h)], k = parts_->n_modifiers(h);
    const auto left = static_cast<Index>(parts_->modifiers(h, 0).size());
    // The arc in place `rank` from left to right.
    const auto arc = [&](Index rank) { return begin + (rank < left ? left - 1 - rank : rank); };
    Index part = parts_->siblings_at(h);
    for (Index j = 1; j < k; ++j) {
      for (Index i = 0; i < j; ++i) add_pair(arc(i), arc(j), part++);
    }
  }
}

void LoopyGraph::list_grandparents(Trees trees) {
  for (Index link = 1; link < parts_->n_links(); ++link) {
    const Index above = order_.of_link[at(link)];
    const Index g = order_.head[at(above)], h = order_.modifier[at(above)];
    const Index begin = order_.first[at(h)];
    for (Index j = 0; j < parts_->n_modifiers(h); ++j) {
      const Index m = order_.modifier[at(begin + j)];
      const bool between = (h < g && g < m) || (m < g && g < h);
      if (m == g || (trees == Trees::projective && between)) continue;
      add_pair(above, begin + j, parts_->grandparents_at(link) + j);
    }
  }
}

void LoopyGraph::count_factors() {
  n_factors.assign(at(n_arcs()), steps_ ? 1 : 0);
  for (std::size_t i = 0; i < first.size(); ++i) {
    ++n_factors[at(first[i])];
    ++n_factors[at(second[i])];
  }
}

// A pair says at most its score, a walk to a modifier at most what changing three steps can change,
// and to a link what changing all steps can.
void LoopyGraph::bound_messages(const PartScores& scores) {
  sizes_.assign(at(n_arcs()), 0.0);
  for (Index a = 0; a < n_arcs(); ++a) {
    if (possible(a)) sizes_[at(a)] = std::abs(arc_scores[at(a)]) + rows.most(a);
  }
  for (Index i = 0; i < n_pairs(); ++i) {
    sizes_[at(first[at(i)])] += std::abs(pair_scores[at(i)]);
    sizes_[at(second[at(i)])] += std::abs(pair_scores[at(i)]);
  }
  const auto largest = [](const double* values, Index count) {
    double size = 0.0;
    for (Index i = 0; values != nullptr && i < count; ++i)
      size = std::max(size, std::abs(values[i]));
    return size;
  };
  double of_steps = 0.0;
  if (steps_) {
    of_steps = largest(scores[PartKind::consecutive], parts_->count(PartKind::consecutive));
    if (grand()) {
      of_steps += largest(scores[PartKind::grandparents], parts_->count(PartKind::grandparents)) +
                  largest(scores[PartKind::grandsiblings], parts_->count(PartKind::grandsiblings));
    }
  }
  const double of_links = grand() ? 2.0 * static_cast<double>(parts_->n_words() + 1) : 0.0;
  certain_ =
      kNothing + *std::max_element(sizes_.begin(), sizes_.end()) + (6.0 + of_links) * of_steps;
}

void LoopyGraph::read(const PartScores& tables, double* of_arcs, double* of_pairs) const {
  for (Index a = 0; a < n_arcs(); ++a) {
    of_arcs[a] = possible(a) ? tables.arcs[order_.cell(a)] : of_arcs[a];
  }
  if (pairs_of_grandparents_ && tables[PartKind::grandparents] != nullptr) {
    const double* of_root = tables[PartKind::grandparents] + parts_->grandparents_at(0);
    for (Index a = 0; a < order_.first[1]; ++a) {
      if (possible(a)) of_arcs[a] += of_root[a];
    }
  }
  for (Index i = 0; i < n_pairs(); ++i) {
    const double* table =
        i < sibling_pairs_ ? tables[PartKind::siblings] : tables[PartKind::grandparents];
    of_pairs[i] = table == nullptr ? 0.0 : table[part_[at(i)]];
  }
}

void LoopyGraph::write_arcs(const double* of_arcs, double* table) const {
  for (Index a = 0; a < n_arcs(); ++a) table[order_.cell(a)] = possible(a) ? of_arcs[a] : 0.0;
}

void LoopyGraph::write(const double* of_arcs, const double* of_pairs,
                       const PartValues<double>& tables) const {
  write_arcs(of_arcs, tables.arcs);
  if (pairs_of_grandparents_) {
    double* of_root = tables[PartKind::grandparents] + parts_->grandparents_at(0);
    for (Index a = 0; a < order_.first[1]; ++a) of_root[a] = possible(a) ? of_arcs[a] : 0.0;
  }
  for (Index i = 0; i < n_pairs(); ++i) {
    double* table =
        i < sibling_pairs_ ? tables[PartKind::siblings] : tables[PartKind::grandparents];
    table[part_[at(i)]] = of_pairs[i];
  }
}

}  // namespace arbora::inference
