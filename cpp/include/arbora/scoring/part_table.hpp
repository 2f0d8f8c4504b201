// Linear scores of arcs and of parts of second order, for the parts of a PartIndex only. Arcs and
// parts share one table of weights.
#pragma once

#include "arbora/features/part_templates.hpp"
#include "arbora/scoring/arc_table.hpp"
#include "arbora/scoring/explain.hpp"
#include "arbora/scoring/linear_model.hpp"
#include "arbora/tree/part_index.hpp"

namespace arbora::scoring {

// Fills the scores of all arcs and parts of the selected sentences, times `scale`. `kept` is the
// mask that the parts were made from; arcs outside it are forbidden.
template <class Weight>
void score_parts(const ArcTable& table, const Weight* weights, double scale,
                 const Selection& selection, const PartBatch& parts, const std::uint8_t* kept,
                 const PartValues<double>& scores);

// The gradient of sum over arcs and parts of d_scores times scores.
void expand_parts(const ArcTable& table, const Selection& selection, const PartBatch& parts,
                  const PartScores& d_scores, Gradient& gradient);

// The squared length of each sentence's own gradient.
void part_norms(const ArcTable& table, const Selection& selection, const PartBatch& parts,
                const PartScores& d_scores, double* norms);

// The features of a part, given by its kind and its number among those of the
// sentence. Variants are those of features/part_templates.hpp.
template <class Weight>
std::vector<Contribution> explain_part(const ArcTable& table, const Weight* weights,
                                       const features::Sentence<features::NamedAtom>& sentence,
                                       const PartIndex& parts, PartKind kind, Index number);

}  // namespace arbora::scoring
