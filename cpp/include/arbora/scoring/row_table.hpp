// Linear scores with one number per outcome: labels of arcs, or clusters of arcs. A feature owns a
// row of weights, one for each outcome, so that one pass scores all outcomes.
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
  token = 2,  // hidden clusters of words as modifiers: templates of single words
  soft = 3,   // known clusters of arcs: few templates
};

// 2^bits rows of `width` weights, which begin at weights[offset]. With `variants`, a feature owns a
// second row for each direction and distance: its twin's is its own XOR the arc's variant.
struct RowTable {
  features::FeatureSet features;
  Outcomes outcomes;
  int bits;
  Index width;
  std::size_t offset;
  bool variants = false;

  RowShape shape() const { return {offset, bits, width}; }
};

// A feature's row, and where a row begins.
inline std::uint32_t row_of(const RowTable& table, std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> static_cast<unsigned>(64 - table.bits));
}
inline std::size_t first_of(const RowTable& table, std::uint32_t row) {
  return table.offset + row * static_cast<std::size_t>(table.width);
}

// The templates of one end of an arc, if rows of this kind have any. Without variants, clusters of
// words know nothing of the head.
template <class Atom, class Sink>
void end_rows(const RowTable& table, const features::Sentence<Atom>& s, Index i,
              features::Role role, Sink& sink) {
  const bool edge = table.outcomes == Outcomes::edge, token = table.outcomes == Outcomes::token;
  if (edge || (token && (table.variants || role == features::Role::modifier))) {
    features::end_templates(table.features, s, i, role, sink);
  }
}

// The templates of the two ends together.
template <class Atom, class Sink>
void pair_rows(const RowTable& table, const features::Sentence<Atom>& s, Index h, Index m,
               const features::Between<Atom>& between, Sink& sink) {
  if (table.outcomes == Outcomes::label) features::label_templates(table.features, s, h, m, sink);
  if (table.outcomes == Outcomes::soft) features::soft_cluster_templates(s, h, m, sink);
  if (table.outcomes == Outcomes::edge) {
    features::pair_templates(table.features, s, h, m, between, sink);
  }
}

// For every arc that `arcs` allows, scores(h, m, o) = arcs(h, m) + weights times features times
// scale; forbidden otherwise. scores is (n+1) x (n+1) x width.
template <class Weight>
void score_rows(const RowTable& table, const Weight* weights, double scale,
                const features::Sentence<std::uint64_t>& sentence, const double* arcs,
                double* scores, Workspace& workspace);
void expand_rows(const RowTable& table, const features::Sentence<std::uint64_t>& sentence,
                 const double* d_scores, SlicedEntries& entries, Workspace& workspace);

// The same for labels of a given tree's arcs, with the tree as context: scores is n x width. Words
// without a head (-1) get zeros.
template <class Weight>
void score_tree_labels(const RowTable& table, const Weight* weights, double scale,
                       const features::Sentence<std::uint64_t>& sentence, const std::int32_t* heads,
                       double* scores);
void expand_tree_labels(const RowTable& table, const features::Sentence<std::uint64_t>& sentence,
                        const std::int32_t* heads, const double* d_scores, SlicedEntries& entries);

}  // namespace arbora::scoring
