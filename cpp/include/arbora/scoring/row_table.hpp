// Linear scores with one number per outcome: labels of arcs, or hidden clusters of arcs. A feature
// owns a row of weights, one for each outcome, so that one pass scores all outcomes.
#pragma once

#include <cstdint>

#include "arbora/base/workspace.hpp"
#include "arbora/features/label_templates.hpp"
#include "arbora/scoring/gradient.hpp"

namespace arbora::scoring {

// The kind of outcomes, which decides the templates.
enum class Outcomes : int {
  label = 0,  // labels of arcs
  edge = 1,   // hidden clusters of arcs: all templates of arcs (Smith & Smith 2007, section 5.2)
  token = 2,  // hidden clusters of words as modifiers: templates of the modifier alone
};

// 2^bits rows of `width` weights, which begin at weights[offset].
struct RowTable {
  features::FeatureSet features;
  Outcomes outcomes;
  int bits;
  Index width;
  std::size_t offset;
};

// Where a feature's row begins.
inline std::size_t row_of(const RowTable& table, std::uint64_t key) {
  const auto row = static_cast<std::size_t>(key >> static_cast<unsigned>(64 - table.bits));
  return table.offset + row * static_cast<std::size_t>(table.width);
}

// The templates that rows of this kind have, for one arc.
template <class Atom, class Sink>
void arc_rows(const RowTable& table, const features::Sentence<Atom>& s, Index h, Index m,
              features::Between<Atom>& between, Sink& sink) {
  if (table.outcomes == Outcomes::label) {
    features::label_templates(table.features, s, h, m, sink);
    return;
  }
  features::end_templates(table.features, s, m, features::Role::modifier, sink);
  if (table.outcomes == Outcomes::token) return;
  features::end_templates(table.features, s, h, features::Role::head, sink);
  between.fill(s, h, m);
  features::pair_templates(table.features, s, h, m, between, sink);
}

// For every arc that `arcs` allows, scores(h, m, o) = arcs(h, m) + weights times features times
// scale; forbidden otherwise. scores is (n+1) x (n+1) x width.
template <class Weight>
void score_rows(const RowTable& table, const Weight* weights, double scale,
                const features::Sentence<std::uint64_t>& sentence, const double* arcs,
                double* scores);
void expand_rows(const RowTable& table, const features::Sentence<std::uint64_t>& sentence,
                 const double* d_scores, SlicedEntries& entries);

// The same for labels of a given tree's arcs, with the tree as context: scores is n x width. Words
// without a head (-1) get zeros.
template <class Weight>
void score_tree_labels(const RowTable& table, const Weight* weights, double scale,
                       const features::Sentence<std::uint64_t>& sentence, const std::int32_t* heads,
                       double* scores);
void expand_tree_labels(const RowTable& table, const features::Sentence<std::uint64_t>& sentence,
                        const std::int32_t* heads, const double* d_scores, SlicedEntries& entries);

}  // namespace arbora::scoring
