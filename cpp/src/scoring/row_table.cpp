#include "arbora/scoring/row_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "arbora/base/multiversion.hpp"

namespace arbora::scoring {
namespace {

using HashedSentence = features::Sentence<std::uint64_t>;

template <class Weight>
ARBORA_INLINE void add_row_to(const Weight* row, Index width, double value, double* totals) {
  for (Index o = 0; o < width; ++o) totals[o] += value * static_cast<double>(row[o]);
}
ARBORA_MULTIVERSION void add_row(const float* row, Index width, double value, double* totals) {
  add_row_to(row, width, value, totals);
}
ARBORA_MULTIVERSION void add_row(const double* row, Index width, double value, double* totals) {
  add_row_to(row, width, value, totals);
}

// The rows of one arc's features: asked for when they are known, added up when those of the next
// arc are on their way (as in arc_table.cpp).
template <class Weight>
class RowScores {
 public:
  RowScores(const RowTable& table, const Weight* weights, double scale)
      : table_(table), weights_(weights), scale_(scale) {}

  // Begins with another arc, whose answer is added to totals.
  void start(double* totals) {
    totals_ = totals;
    count_ = 0;
  }
  void finish() {
    for (std::size_t i = 0; i < count_; ++i) {
      add_row(rows_[i].first, table_.width, scale_ * rows_[i].value, totals_);
    }
    count_ = 0;
  }

  template <class... Atoms>
  void operator()(const Template& name, const Atoms&... atoms) {
    weighted(1.0F, name, atoms...);
  }
  template <class... Atoms>
  void weighted(float value, const Template& name, const Atoms&... atoms) {
    if (features::sees_hidden(atoms...)) return;
    const Weight* row = weights_ + row_of(table_, key_of(name, atoms...));
    constexpr Index line = 64 / sizeof(Weight);
    for (Index o = 0; o < table_.width; o += line) ARBORA_PREFETCH(row + o);
    if (count_ == rows_.size()) finish();
    rows_[count_++] = {row, static_cast<double>(value)};
  }

 private:
  struct Row {
    const Weight* first;
    double value;
  };

  const RowTable& table_;
  const Weight* weights_;
  double scale_;
  double* totals_ = nullptr;
  std::size_t count_ = 0;
  std::array<Row, 512> rows_;
};

// Two sinks that take turns, so that one's rows come in while the other's are named.
template <class Weight>
class TakingTurns {
 public:
  TakingTurns(const RowTable& table, const Weight* weights, double scale)
      : first_(table, weights, scale), second_(table, weights, scale) {}

  // Calls name_features(sink) for the next arc.
  template <class NameFeatures>
  void next(double* totals, const NameFeatures& name_features) {
    now_->start(totals);
    name_features(*now_);
    before_->finish();
    std::swap(now_, before_);
  }
  void finish() { before_->finish(); }

 private:
  RowScores<Weight> first_, second_;
  RowScores<Weight>*now_ = &first_, *before_ = &second_;
};

struct RowEntries {
  const RowTable& table;
  const double* d;
  SlicedEntries& entries;

  template <class... Atoms>
  void operator()(const Template& name, const Atoms&... atoms) {
    weighted(1.0F, name, atoms...);
  }
  template <class... Atoms>
  void weighted(float value, const Template& name, const Atoms&... atoms) {
    if (features::sees_hidden(atoms...)) return;
    const std::size_t row = row_of(table, key_of(name, atoms...));
    for (Index o = 0; o < table.width; ++o) {
      if (d[o] == 0.0) continue;
      const auto slot = static_cast<std::uint32_t>(row + static_cast<std::size_t>(o));
      entries.add(slot, static_cast<double>(value) * d[o]);
    }
  }
};

bool any(const double* d, Index width) {
  return std::any_of(d, d + width, [](double x) { return x != 0.0; });
}

}  // namespace

template <class Weight>
void score_rows(const RowTable& table, const Weight* weights, double scale, const HashedSentence& s,
                const double* arcs, double* scores) {
  Between<std::uint64_t> between;
  TakingTurns<Weight> sinks(table, weights, scale);
  const Index side = s.n_words + 1;
  for (Index h = 0; h < side; ++h) {
    for (Index m = 0; m < side; ++m) {
      const Index at = h * side + m;
      double* totals = scores + at * table.width;
      std::fill(totals, totals + table.width, arcs[at]);
      if (arcs[at] == kForbidden) continue;
      sinks.next(totals, [&](RowScores<Weight>& sink) { arc_rows(table, s, h, m, between, sink); });
    }
  }
  sinks.finish();
}

void expand_rows(const RowTable& table, const HashedSentence& s, const double* d_scores,
                 SlicedEntries& entries) {
  Between<std::uint64_t> between;
  const Index side = s.n_words + 1;
  for (Index h = 0; h < side; ++h) {
    for (Index m = 1; m < side; ++m) {
      const double* d = d_scores + (h * side + m) * table.width;
      if (!any(d, table.width)) continue;
      RowEntries sink{table, d, entries};
      arc_rows(table, s, h, m, between, sink);
    }
  }
}

template <class Weight>
void score_tree_labels(const RowTable& table, const Weight* weights, double scale,
                       const HashedSentence& s, const std::int32_t* heads, double* scores) {
  Children children;
  children.fill(heads, s.n_words);
  std::fill(scores, scores + s.n_words * table.width, 0.0);
  TakingTurns<Weight> sinks(table, weights, scale);
  for (Index m = 1; m <= s.n_words; ++m) {
    if (heads[m - 1] < 0) continue;
    sinks.next(scores + (m - 1) * table.width, [&](RowScores<Weight>& sink) {
      features::tree_label_templates(table.features, s, heads, children, m, sink);
    });
  }
  sinks.finish();
}

void expand_tree_labels(const RowTable& table, const HashedSentence& s, const std::int32_t* heads,
                        const double* d_scores, SlicedEntries& entries) {
  Children children;
  children.fill(heads, s.n_words);
  for (Index m = 1; m <= s.n_words; ++m) {
    const double* d = d_scores + (m - 1) * table.width;
    if (heads[m - 1] < 0 || !any(d, table.width)) continue;
    RowEntries sink{table, d, entries};
    features::tree_label_templates(table.features, s, heads, children, m, sink);
  }
}

template void score_rows(const RowTable&, const float*, double, const HashedSentence&,
                         const double*, double*);
template void score_rows(const RowTable&, const double*, double, const HashedSentence&,
                         const double*, double*);
template void score_tree_labels(const RowTable&, const float*, double, const HashedSentence&,
                                const std::int32_t*, double*);
template void score_tree_labels(const RowTable&, const double*, double, const HashedSentence&,
                                const std::int32_t*, double*);

}  // namespace arbora::scoring
