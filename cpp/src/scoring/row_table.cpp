#include "arbora/scoring/row_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "arbora/base/multiversion.hpp"
#include "arbora/scoring/slot_sinks.hpp"

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

// The rows of one arc's features: prefetched when they are named, added up later.
template <class Weight>
class RowScores {
 public:
  RowScores(const RowTable& table, const Weight* weights, double scale)
      : table_(table), weights_(weights), scale_(scale) {}

  // The answer is added to totals.
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

  void add(std::uint64_t key, double value) {
    const Weight* row = weights_ + row_of(table_, key);
    constexpr Index line = 64 / sizeof(Weight);
    for (Index o = 0; o < table_.width; o += line) ARBORA_PREFETCH(row + o);
    if (count_ == rows_.size()) finish();
    rows_[count_++] = {row, value};
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

// Calls name_features(sink) for a sink of the rows that are added to totals.
template <class Weight, class NameFeatures>
void add_rows(DoubleBuffer<RowScores<Weight>>& rows, double* totals,
              const NameFeatures& name_features) {
  const auto name = [&](RowScores<Weight>& now) {
    KeySink sink{[&](std::uint64_t key, double value) { now.add(key, value); }};
    name_features(sink);
  };
  rows.next(name, totals);
}

// The transpose: d holds one number per outcome.
auto row_entries(const RowTable& table, const double* d, SlicedEntries& entries) {
  return KeySink{[&table, d, &entries](std::uint64_t key, double value) {
    const std::size_t row = row_of(table, key);
    for (Index o = 0; o < table.width; ++o) {
      if (d[o] == 0.0) continue;
      entries.add(static_cast<std::uint32_t>(row + at(o)), value * d[o]);
    }
  }};
}

bool any(const double* d, Index width) {
  return std::any_of(d, d + width, [](double x) { return x != 0.0; });
}

}  // namespace

template <class Weight>
void score_rows(const RowTable& table, const Weight* weights, double scale, const HashedSentence& s,
                const double* arcs, double* scores) {
  Between<std::uint64_t> between;
  DoubleBuffer<RowScores<Weight>> rows(table, weights, scale);
  const Index side = s.n_words + 1;
  for (Index h = 0; h < side; ++h) {
    for (Index m = 0; m < side; ++m) {
      const Index cell = h * side + m;
      double* totals = scores + cell * table.width;
      std::fill(totals, totals + table.width, arcs[cell]);
      if (arcs[cell] == kForbidden) continue;
      add_rows(rows, totals, [&](auto& sink) { arc_rows(table, s, h, m, between, sink); });
    }
  }
}

void expand_rows(const RowTable& table, const HashedSentence& s, const double* d_scores,
                 SlicedEntries& entries) {
  Between<std::uint64_t> between;
  const Index side = s.n_words + 1;
  for (Index h = 0; h < side; ++h) {
    for (Index m = 1; m < side; ++m) {
      const double* d = d_scores + (h * side + m) * table.width;
      if (!any(d, table.width)) continue;
      auto sink = row_entries(table, d, entries);
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
  DoubleBuffer<RowScores<Weight>> rows(table, weights, scale);
  for (Index m = 1; m <= s.n_words; ++m) {
    if (heads[m - 1] < 0) continue;
    add_rows(rows, scores + (m - 1) * table.width, [&](auto& sink) {
      features::tree_label_templates(table.features, s, heads, children, m, sink);
    });
  }
}

void expand_tree_labels(const RowTable& table, const HashedSentence& s, const std::int32_t* heads,
                        const double* d_scores, SlicedEntries& entries) {
  Children children;
  children.fill(heads, s.n_words);
  for (Index m = 1; m <= s.n_words; ++m) {
    const double* d = d_scores + (m - 1) * table.width;
    if (heads[m - 1] < 0 || !any(d, table.width)) continue;
    auto sink = row_entries(table, d, entries);
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
