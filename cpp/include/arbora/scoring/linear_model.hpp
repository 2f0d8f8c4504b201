// A linear model of sentences: scores of arcs, and with outcomes (labels, clusters) per arc, rows
// on top of them. Many sentences per call, in parallel.
#pragma once

#include <optional>
#include <span>

#include "arbora/scoring/arc_table.hpp"
#include "arbora/scoring/row_table.hpp"

namespace arbora::scoring {

// Arcs have weights of their own unless `arcs_beside` is false: then rows are all there is, as in
// Smith & Smith (2007, Eq. 18), where every feature is one of a cluster.
struct LinearModel {
  ArcTable arcs;
  std::optional<RowTable> rows;
  bool arcs_beside = true;

  Index width() const { return rows ? rows->width : 1; }
  // Weights of arcs, before those of rows.
  std::size_t arc_weights() const {
    return arcs_beside ? std::size_t{1} << static_cast<unsigned>(arcs.bits) : 0;
  }
  std::size_t weights() const {
    std::size_t count = arc_weights();
    if (rows) count += static_cast<std::size_t>(rows->width) << static_cast<unsigned>(rows->bits);
    return count;
  }
  RowShape shape() const { return rows ? rows->shape() : RowShape{}; }
};

// Which sentences of an encoded treebank, in which order, on how many threads.
struct Selection {
  const features::Encoded& encoded;
  std::span<const std::int64_t> sentences;
  int threads;
};

// Scores are stored sentence by sentence, (n+1) x (n+1) x width each, as inference takes them.
// `keep` holds heads of all selected words, one sentence after the other, or is null.
template <class Weight>
void score_sentences(const LinearModel& model, const Weight* weights, double scale,
                     const features::ArcFilter& filter, const Selection& selection,
                     const std::int32_t* keep, double* scores);

// The gradient of sum over cells of d_scores times scores.
void expand_sentences(const LinearModel& model, const Selection& selection, const double* d_scores,
                      Gradient& gradient);

// Labels of given trees; heads as `keep` above, scores n x width each.
template <class Weight>
void score_labels(const RowTable& table, const Weight* weights, double scale,
                  const Selection& selection, const std::int32_t* heads, double* scores);
void expand_labels(const RowTable& table, const Selection& selection, const std::int32_t* heads,
                   const double* d_scores, Gradient& gradient);

// For each sentence, `count` vectors d_scores (one after the other, all of the first sentence
// first): their inner products in feature space, count x count per sentence.
void inner_products(const LinearModel& model, const Selection& selection, const double* d_scores,
                    Index count, double* products);

}  // namespace arbora::scoring
