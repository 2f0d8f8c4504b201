#include "arbora/scoring/linear_model.hpp"

#include <algorithm>
#include <numeric>

#include "arbora/base/parallel.hpp"

namespace arbora::scoring {
namespace {

using HashedSentence = features::Sentence<std::uint64_t>;

constexpr double kWorkPerArc = 500.0;

// Where each selected sentence's words and cells begin.
struct Place {
  Index words = 0, cells = 0;
};

std::vector<Place> places(const Selection& selection, std::vector<double>& costs) {
  std::vector<Place> result;
  result.reserve(selection.sentences.size());
  Place next;
  for (const std::int64_t sentence : selection.sentences) {
    result.push_back(next);
    const Index n = selection.encoded.words(sentence);
    next.words += n;
    next.cells += (n + 1) * (n + 1);
    costs.push_back(kWorkPerArc * static_cast<double>((n + 1) * (n + 1)));
  }
  return result;
}

// Calls job(index in the selection, place, sentence, workspace) for every selected sentence.
template <class Job>
void run(const Selection& selection, const Job& job) {
  std::vector<double> costs;
  const std::vector<Place> where = places(selection, costs);
  for_each_by_cost(costs, selection.threads, [&](Index i, Workspace& workspace) {
    const auto at = static_cast<std::size_t>(i);
    job(i, where[at], selection.encoded[selection.sentences[at]], workspace);
  });
}

double* carve(Workspace& workspace, Index count) {
  return static_cast<double*>(workspace.bytes(static_cast<std::size_t>(count) * sizeof(double)));
}

void expand(const LinearModel& model, const HashedSentence& sentence, const double* d_scores,
            SlicedEntries& entries, Workspace& workspace) {
  if (!model.rows) {
    expand_arcs(model.arcs, sentence, d_scores, entries, workspace);
    return;
  }
  if (model.arcs_beside) {
    const Index cells = (sentence.n_words + 1) * (sentence.n_words + 1), width = model.width();
    double* d_arcs = carve(workspace, cells);
    for (Index i = 0; i < cells; ++i) {
      d_arcs[i] = std::accumulate(d_scores + i * width, d_scores + (i + 1) * width, 0.0);
    }
    expand_arcs(model.arcs, sentence, d_arcs, entries, workspace);
  }
  expand_rows(*model.rows, sentence, d_scores, entries, workspace);
}

}  // namespace

template <class Weight>
void score_sentences(const LinearModel& model, const Weight* weights, double scale,
                     const features::ArcFilter& filter, const Selection& selection,
                     const std::int32_t* keep, double* scores) {
  run(selection, [&](Index, const Place& place, const HashedSentence& s, Workspace& workspace) {
    const std::int32_t* kept = keep == nullptr ? nullptr : keep + place.words;
    double* answer = scores + place.cells * model.width();
    double* arcs = model.rows ? carve(workspace, (s.n_words + 1) * (s.n_words + 1)) : answer;
    if (model.arcs_beside) {
      score_arcs(model.arcs, weights, scale, filter, s, kept, arcs, workspace);
    } else {
      allow_arcs(filter, s, kept, arcs);
    }
    if (model.rows) score_rows(*model.rows, weights, scale, s, arcs, answer, workspace);
  });
}

void expand_sentences(const LinearModel& model, const Selection& selection, const double* d_scores,
                      Gradient& gradient) {
  gradient.begin(static_cast<Index>(selection.sentences.size()));
  run(selection, [&](Index i, const Place& place, const HashedSentence& s, Workspace& workspace) {
    expand(model, s, d_scores + place.cells * model.width(), gradient.of(i), workspace);
  });
}

template <class Weight>
void score_labels(const RowTable& table, const Weight* weights, double scale,
                  const Selection& selection, const std::int32_t* heads, double* scores) {
  run(selection, [&](Index, const Place& place, const HashedSentence& s, Workspace&) {
    score_tree_labels(table, weights, scale, s, heads + place.words,
                      scores + place.words * table.width);
  });
}

void expand_labels(const RowTable& table, const Selection& selection, const std::int32_t* heads,
                   const double* d_scores, Gradient& gradient) {
  gradient.begin(static_cast<Index>(selection.sentences.size()));
  run(selection, [&](Index i, const Place& place, const HashedSentence& s, Workspace&) {
    expand_tree_labels(table, s, heads + place.words, d_scores + place.words * table.width,
                       gradient.of(i));
  });
}

void inner_products(const LinearModel& model, const Selection& selection, const double* d_scores,
                    Index count, double* products) {
  run(selection, [&](Index i, const Place& place, const HashedSentence& s, Workspace& workspace) {
    const Index cells = (s.n_words + 1) * (s.n_words + 1) * model.width();
    const double* first = d_scores + place.cells * model.width() * count;
    if (count == 1) {
      SlicedEntries entries(model.weights(), model.shape());
      expand(model, s, first, entries, workspace);
      entries.unroll();
      products[i] = squared_norm(entries);
      return;
    }
    std::vector<std::vector<Entry>> vectors;
    for (Index k = 0; k < count; ++k) {
      SlicedEntries entries(model.weights(), model.shape());
      expand(model, s, first + k * cells, entries, workspace);
      entries.unroll();
      vectors.push_back(merged_entries(entries));
    }
    double* answer = products + i * count * count;
    for (Index a = 0; a < count; ++a) {
      for (Index b = 0; b <= a; ++b) {
        answer[a * count + b] = answer[b * count + a] = inner_product(
            vectors[static_cast<std::size_t>(a)], vectors[static_cast<std::size_t>(b)]);
      }
    }
  });
}

template void score_sentences(const LinearModel&, const float*, double, const features::ArcFilter&,
                              const Selection&, const std::int32_t*, double*);
template void score_sentences(const LinearModel&, const double*, double, const features::ArcFilter&,
                              const Selection&, const std::int32_t*, double*);
template void score_labels(const RowTable&, const float*, double, const Selection&,
                           const std::int32_t*, double*);
template void score_labels(const RowTable&, const double*, double, const Selection&,
                           const std::int32_t*, double*);

}  // namespace arbora::scoring
