// Linear scores of arcs: one number per arc, the sum of the weights of its features.
//
// A feature's slot is the top bits of its key, and its twin with the arc's variant (direction and
// distance) is the slot XOR the variant: both lie in one cache line of 16 weights, so that the twin
// costs no second cache miss.
#pragma once

#include <cstdint>
#include <span>

#include "arbora/base/workspace.hpp"
#include "arbora/features/arc_filter.hpp"
#include "arbora/features/arc_templates.hpp"
#include "arbora/scoring/slot_sinks.hpp"

namespace arbora::scoring {

// The table lies at the beginning of the weights and has 2^bits slots.
struct ArcTable {
  features::FeatureSet features;
  int bits;
};

// Fills scores, (n+1) x (n+1), with weights times features, times `scale`; arcs that the filter
// drops are forbidden, unless `keep` (heads of words 1..n, or null) has them or does not know: a
// word without a head (-1) keeps all arcs, since the filter's chain may make a cycle with known
// heads.
template <class Weight>
void score_arcs(const ArcTable& table, const Weight* weights, double scale,
                const features::ArcFilter& filter,
                const features::Sentence<std::uint64_t>& sentence, const std::int32_t* keep,
                double* scores, Workspace& workspace);

// Zeros instead of scores, for models whose arcs have no weights of their own.
void allow_arcs(const features::ArcFilter& filter,
                const features::Sentence<std::uint64_t>& sentence, const std::int32_t* keep,
                double* scores);

// The same for the arcs of a mask, (n+1) x (n+1); the others are forbidden.
template <class Weight>
void score_kept_arcs(const ArcTable& table, const Weight* weights, double scale,
                     const features::Sentence<std::uint64_t>& sentence, const std::uint8_t* kept,
                     double* scores, Workspace& workspace);

// Adds sum over arcs of d_scores times features to the gradient.
void expand_arcs(const ArcTable& table, const features::Sentence<std::uint64_t>& sentence,
                 const double* d_scores, SlicedEntries& entries, Workspace& workspace);

}  // namespace arbora::scoring
