#include "arbora/inference/batch.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "arbora/base/interruption.hpp"
#include "arbora/base/number.hpp"
#include "arbora/base/parallel.hpp"
#include "arbora/base/random.hpp"
#include "arbora/inference/best_tree.hpp"
#include "arbora/inference/labels.hpp"
#include "arbora/inference/sums.hpp"

namespace arbora::inference {
namespace {

// Where each sentence's numbers begin.
struct Place {
  Index n_words, words, columns, cells;  // cells without labels

  explicit Place(Index n) : n_words(n), words(0), columns(0), cells(0) {}
};

std::vector<Place> places(const Batch& batch) {
  std::vector<Place> result;
  result.reserve(batch.n_words.size());
  Place next(0);
  for (const std::int64_t n : batch.n_words) {
    next.n_words = n;
    result.push_back(next);
    next.words += n;
    next.columns += n + 1;
    next.cells += (n + 1) * (n + 1);
  }
  return result;
}

// Runs job(place, sentence's scores, workspace) for every sentence; `power` and `factor` give the
// cost of one sentence, factor * n^power.
template <class Job>
void run(const Batch& batch, int power, double factor, const Job& job) {
  const std::vector<Place> where = places(batch);
  std::vector<double> costs;
  costs.reserve(where.size());
  for (const Place& place : where) {
    double cost = factor;
    for (int i = 0; i < power; ++i) cost *= static_cast<double>(place.n_words);
    const Index cells = (place.n_words + 1) * (place.n_words + 1);
    costs.push_back(cost + static_cast<double>(batch.n_labels * cells));
  }
  for_each_by_cost(costs, batch.threads, [&](Index i, Workspace& workspace) {
    const Place& place = where[static_cast<std::size_t>(i)];
    const LabelledScores scores{batch.scores + place.cells * batch.n_labels, place.n_words,
                                batch.n_labels};
    job(i, place, scores, workspace);
  });
}

double* numbers(Workspace& workspace, Index count) {
  return Row<double>::carve(workspace, count).data();
}

enum class Over { sum, maximum };

// The unlabelled problem: the scores themselves if there are no labels.
ArcScores reduced(LabelledScores scores, Over over, Workspace& workspace) {
  if (scores.n_labels == 1) return {scores.first, scores.n_words};
  double* arcs = numbers(workspace, scores.side() * scores.side());
  over == Over::sum ? sum_labels(scores, arcs) : best_labels(scores, arcs);
  return {arcs, scores.n_words};
}

ARBORA_INLINE bool is_sane(double score) { return std::abs(score) <= kLargestScore; }

// The first score that is neither a sane number nor -inf.
Fault first_bad_cell(LabelledScores view) {
  for (Index h = 0; h < view.side(); ++h) {
    for (Index m = 1; m < view.side(); ++m) {
      for (Index l = 0; l < view.n_labels; ++l) {
        const double x = view.labels(h, m)[l];
        if (x == kForbidden || is_sane(x)) continue;
        const Cell cell = std::isnan(x)    ? Cell::nan
                          : x == kInfinity ? Cell::positive_infinity
                                           : Cell::too_large;
        return {0, cell, h, m, l, {}};
      }
    }
  }
  return {};
}

// Copies scores and counts those that are no sane numbers.
ARBORA_MULTIVERSION
Index copy_scores(const double* from, Index count, double* to) {
  Index strange = 0;
  for (Index i = 0; i < count; ++i) {
    to[i] = from[i];
    strange += !is_sane(from[i]);
  }
  return strange;
}

// Copies a sentence and forbids column 0 and the diagonal. Returns whether every arc is allowed,
// the common case.
bool copy_sentence(LabelledScores from, double* to) {
  const Index side = from.side(), n_labels = from.n_labels;
  Index strange = copy_scores(from.first, side * side * n_labels, to);
  const auto forbid = [&](Index h, Index m) {
    double* cell = to + (h * side + m) * n_labels;
    for (Index l = 0; l < n_labels; ++l) {
      strange -= !is_sane(cell[l]);
      cell[l] = kForbidden;
    }
  };
  for (Index h = 0; h < side; ++h) {
    forbid(h, 0);
    if (h > 0) forbid(h, h);
  }
  return strange == 0;
}

// Copies every sentence from source_of(i, its scores in the batch).
template <class Source>
std::vector<Fault> copy_and_check_from(const Batch& batch, const Source& source_of,
                                       double* scores) {
  std::vector<Fault> found(batch.n_words.size());
  run(batch, 2, 1.0, [&](Index i, const Place& place, LabelledScores own, Workspace& workspace) {
    double* to = scores + place.cells * batch.n_labels;
    if (copy_sentence({source_of(i, own), place.n_words, batch.n_labels}, to)) return;
    const LabelledScores view{to, place.n_words, batch.n_labels};
    Fault& fault = found[static_cast<std::size_t>(i)];
    fault = first_bad_cell(view);
    fault.sentence = i;
    if (fault.cell == Cell::fine) {
      fault.verdict = feasibility(reduced(view, Over::maximum, workspace), batch.trees, batch.root);
    }
  });
  std::erase_if(found, [](const Fault& fault) {
    return fault.cell == Cell::fine && fault.verdict.problem == Problem::none;
  });
  return found;
}

}  // namespace

std::vector<Fault> copy_and_check(const Batch& batch, double* scores) {
  return copy_and_check_from(batch, [](Index, LabelledScores own) { return own.first; }, scores);
}

std::vector<Fault> copy_and_check(const Batch& batch, std::span<const double* const> sources,
                                  double* scores) {
  const auto source_of = [&](Index i, LabelledScores) {
    return sources[static_cast<std::size_t>(i)];
  };
  return copy_and_check_from(batch, source_of, scores);
}

void batch_sums(const Batch& batch, double* log_partition, double* relative, double* column_shift,
                double* marginals) {
  const bool labelled = batch.n_labels > 1;
  run(batch, 3, 2.0, [&](Index i, const Place& place, LabelledScores scores, Workspace& workspace) {
    const ArcScores arcs = reduced(scores, Over::sum, workspace);
    double* answer = nullptr;
    if (marginals != nullptr) {
      answer = labelled ? numbers(workspace, arcs.side() * arcs.side()) : marginals + place.cells;
    }
    const auto sums_of = batch.trees == Trees::projective ? projective_sums : spanning_sums;
    const Sums sums = sums_of(arcs, batch.root, column_shift + place.columns, answer, workspace);
    log_partition[i] = sums.log_partition;
    relative[i] = sums.relative;
    if (labelled && marginals != nullptr) {
      expand_marginals(scores, answer, marginals + place.cells * batch.n_labels);
    }
  });
}

void batch_vjp(const Batch& batch, const double* marginals, const double* d_marginals,
               double* d_scores) {
  const auto vjp_of = batch.trees == Trees::projective ? projective_vjp : spanning_vjp;
  run(batch, 3, 6.0, [&](Index, const Place& place, LabelledScores scores, Workspace& workspace) {
    const Index first = place.cells * batch.n_labels;
    const ArcScores arcs = reduced(scores, Over::sum, workspace);
    if (batch.n_labels == 1) {
      vjp_of(arcs, batch.root, marginals + first, d_marginals + first, d_scores + first, workspace);
      return;
    }
    const Index cells = arcs.side() * arcs.side();
    double* arc_marginals = numbers(workspace, cells);
    for (Index c = 0; c < cells; ++c) {
      const double* of_labels = marginals + first + c * batch.n_labels;
      arc_marginals[c] = 0.0;
      for (Index l = 0; l < batch.n_labels; ++l) arc_marginals[c] += of_labels[l];
    }
    double* expected = numbers(workspace, cells);
    double* d_arcs = numbers(workspace, cells);
    reduce_gradient(scores, d_marginals + first, expected);
    vjp_of(arcs, batch.root, arc_marginals, expected, d_arcs, workspace);
    expand_gradient(scores, arc_marginals, d_marginals + first, expected, d_arcs, d_scores + first);
  });
}

void batch_argmax(const Batch& batch, std::int32_t* heads, std::int32_t* labels, double* score) {
  const int power = batch.trees == Trees::projective ? 3 : 2;
  run(batch, power, 2.0,
      [&](Index i, const Place& place, LabelledScores scores, Workspace& workspace) {
        const ArcScores arcs = reduced(scores, Over::maximum, workspace);
        std::int32_t* chosen = heads + place.words;
        if (!best_tree(arcs, batch.trees, batch.root, chosen, workspace)) {
          throw std::logic_error("a sentence without a tree was not caught before");
        }
        score[i] = score_of(arcs, chosen);
        for (Index m = 1; m <= place.n_words; ++m) {
          const double* label = scores.labels(chosen[m - 1], m);
          const auto best = std::max_element(label, label + batch.n_labels) - label;
          labels[place.words + m - 1] = static_cast<std::int32_t>(best);
        }
      });
}

std::vector<std::vector<RankedTree>> batch_kbest(const Batch& batch, Index k) {
  std::vector<std::vector<RankedTree>> answers(batch.n_words.size());
  const auto factor = static_cast<double>(k);
  run(batch, 3, factor, [&](Index i, const Place&, LabelledScores scores, Workspace&) {
    answers[static_cast<std::size_t>(i)] = kbest_trees(scores, batch.trees, batch.root, k);
  });
  return answers;
}

void batch_sample(const Batch& batch, std::uint64_t seed, std::span<const std::int64_t> sentences,
                  Index count, std::int32_t* heads, std::int32_t* labels) {
  const auto sample = batch.trees == Trees::projective ? projective_sample : spanning_sample;
  run(batch, 2, 4.0 * static_cast<double>(count),
      [&](Index i, const Place& place, LabelledScores scores, Workspace& workspace) {
        const auto sentence = static_cast<std::uint64_t>(sentences[static_cast<std::size_t>(i)]);
        const ArcScores arcs = reduced(scores, Over::sum, workspace);
        std::int32_t* drawn = heads + count * place.words;
        sample(arcs, batch.root, {seed, sentence}, count, drawn, workspace);
        if (labels == nullptr) return;
        Polling polling;
        for (Index draw = 0; draw < count; ++draw) {
          // Labels have a stream of their own, so that the heads are those of the arcs alone.
          RandomStream random(~seed, sentence, static_cast<std::uint64_t>(draw));
          polling.after(20 * place.n_words * batch.n_labels);
          for (Index m = 1; m <= place.n_words; ++m) {
            const Index at = draw * place.n_words + m - 1;
            labels[count * place.words + at] = draw_label(scores, drawn[at], m, random.uniform());
          }
        }
      });
}

void batch_margins(const Batch& batch, double* margins) {
  const bool projective = batch.trees == Trees::projective;
  const auto margins_of = projective ? projective_margins : spanning_margins;
  run(batch, projective ? 3 : 4, 2.0,
      [&](Index, const Place& place, LabelledScores scores, Workspace& workspace) {
        const ArcScores arcs{scores.first, scores.n_words};
        double* answer = margins + place.cells;
        margins_of(arcs, batch.root, answer, workspace);
        for (Index h = 0; h < arcs.side(); ++h) {
          answer[h * arcs.side()] = 0.0;
          answer[h * arcs.side() + h] = 0.0;
        }
      });
}

double centre_columns(ArcScores scores, const double* marginals, const double* d_marginals,
                      double* centred) {
  const Index side = scores.side();
  double largest = 0.0;
  for (Index m = 0; m < side; ++m) {
    double mean = 0.0;
    for (Index h = 0; h < side; ++h) {
      const Index i = h * side + m;
      if (marginals[i] > 0.0) mean += marginals[i] * d_marginals[i];
    }
    for (Index h = 0; h < side; ++h) {
      const Index i = h * side + m;
      centred[i] = scores.first[i] == kForbidden ? 0.0 : d_marginals[i] - mean;
      largest = std::max(largest, std::abs(centred[i]));
    }
  }
  if (largest == 0.0) return 1.0;
  const double power = std::exp2(std::floor(std::log2(largest)));
  for (Index i = 0; i < side * side; ++i) centred[i] /= power;
  return power;
}

void scale_answer(ArcScores scores, double factor, double* d_scores) {
  for (Index i = 0; i < scores.side() * scores.side(); ++i) d_scores[i] *= factor;
}

}  // namespace arbora::inference
