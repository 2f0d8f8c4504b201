#include "arbora/scoring/row_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "arbora/base/multiversion.hpp"
#include "arbora/scoring/arc_sweep.hpp"
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
  void start(double* totals, unsigned variant) {
    totals_ = totals;
    variant_ = variant;
    count_ = 0;
  }
  void finish() {
    for (std::size_t i = 0; i < count_; ++i) {
      add_row(rows_[i].first, table_.width, scale_ * rows_[i].value, totals_);
    }
    count_ = 0;
  }

  void add(std::uint64_t key, double value) {
    const std::uint32_t row = row_of(table_, key);
    add_one(row, value);
    if (table_.variants) add_one(row ^ variant_, value);
  }

 private:
  struct Row {
    const Weight* first;
    double value;
  };

  void add_one(std::uint32_t number, double value) {
    const Weight* row = weights_ + first_of(table_, number);
    constexpr Index line = 64 / sizeof(Weight);
    const Index ahead = std::min(table_.width, 8 * line);  // the processor guesses the rest
    for (Index o = 0; o < ahead; o += line) ARBORA_PREFETCH(row + o);
    if (count_ == rows_.size()) finish();
    rows_[count_++] = {row, value};
  }

  const RowTable& table_;
  const Weight* weights_;
  double scale_;
  double* totals_ = nullptr;
  unsigned variant_ = 0;
  std::size_t count_ = 0;
  std::array<Row, 512> rows_;
};

// Calls name_features(sink) for a sink of the rows that are added to totals.
template <class Weight, class NameFeatures>
void add_rows(DoubleBuffer<RowScores<Weight>>& rows, double* totals, unsigned variant,
              const NameFeatures& name_features) {
  const auto name = [&](RowScores<Weight>& now) {
    KeySink sink{[&](std::uint64_t key, double value, Twin) { now.add(key, value); }};
    name_features(sink);
  };
  rows.next(name, totals, variant);
}

// The transpose: d, one number per outcome, is added to the rows of the features that are named.
class RowGradient {
 public:
  RowGradient(const RowTable& table, const double* d, unsigned variant, SlicedEntries& entries)
      : table_(table), d_(d), variant_(variant), entries_(entries) {
    const auto changed = table.width - std::count(d, d + table.width, 0.0);
    any_ = changed > 0;
    // Decoded labels change two of many.
    dense_ = 4 * changed > table.width;
    if (dense_) vector_ = entries.keep(d);
  }

  bool any() const { return any_; }

  auto sink() {
    return KeySink{[this](std::uint64_t key, double value, Twin) {
      const std::uint32_t row = row_of(table_, key);
      add(row, value);
      if (table_.variants) add(row ^ variant_, value);
    }};
  }
  // One row for a feature, that of the variant.
  auto variant_sink() {
    return KeySink{[this](std::uint64_t key, double value, Twin twin) {
      if (variant_ == features::kAnyVariant || twin == Twin::yes) {
        add(row_of(table_, key) ^ variant_, value);
      }
    }};
  }

 private:
  void add(std::uint32_t row, double value) {
    if (dense_) {
      entries_.add_row(row, vector_, static_cast<float>(value));
      return;
    }
    for (Index o = 0; o < table_.width; ++o) {
      if (d_[o] != 0.0) entries_.add_cell(row, o, value * d_[o]);
    }
  }

  const RowTable& table_;
  const double* d_;
  unsigned variant_;
  SlicedEntries& entries_;
  bool any_, dense_;
  std::uint32_t vector_ = 0;
};

// One vector of `width` numbers for each end of an arc and, if the table has variants, for each
// variant. A sentence has only 2 (n + 1) ends, which serve all arcs.
class Ends {
 public:
  Ends(const RowTable& table, Index n_words, Workspace& workspace)
      : width_(table.width), variants_(count_of(table)), side_(n_words + 1) {
    const Index count = 2 * side_ * variants_ * width_;
    first_ = static_cast<double*>(workspace.bytes(at(count) * sizeof(double)));
    std::fill(first_, first_ + count, 0.0);
  }

  unsigned variants() const { return static_cast<unsigned>(variants_); }
  double* of(Role role, Index word, unsigned variant) {
    const Index end = static_cast<Index>(role) * side_ + word;
    return first_ + (end * variants_ + static_cast<Index>(variant)) * width_;
  }
  // Calls visit(vector) for the vectors that an arc adds up.
  template <class Visit>
  void of_arc(Index h, Index m, unsigned variant, const Visit& visit) {
    if (variants_ == 0) return;
    visit(of(Role::head, h, 0));
    visit(of(Role::modifier, m, 0));
    if (variants_ == 1) return;
    visit(of(Role::head, h, variant));
    visit(of(Role::modifier, m, variant));
  }
  // Calls visit(role, word) for all ends.
  template <class Visit>
  void all(const Visit& visit) const {
    if (variants_ == 0) return;
    for (const Role role : {Role::head, Role::modifier}) {
      for (Index i = role == Role::head ? 0 : 1; i < side_; ++i) visit(role, i);
    }
  }

 private:
  static Index count_of(const RowTable& table) {
    const bool ends = table.outcomes == Outcomes::edge || table.outcomes == Outcomes::token;
    return !ends ? 0 : table.variants ? Index{features::kVariants} : 1;
  }

  Index width_, variants_, side_;
  double* first_;
};

template <class Weight>
void score_ends(const RowTable& table, const Weight* weights, double scale, const HashedSentence& s,
                Ends& ends) {
  ends.all([&](Role role, Index i) {
    KeySink sink{[&](std::uint64_t key, double value, Twin twin) {
      const std::uint32_t row = row_of(table, key);
      const unsigned end = twin == Twin::yes ? ends.variants() : 1;
      for (unsigned v = 0; v < end; ++v) {
        const Weight* first = weights + first_of(table, row ^ v);
        add_row(first, table.width, scale * value, ends.of(role, i, v));
      }
    }};
    end_rows(table, s, i, role, sink);
  });
}

void expand_ends(const RowTable& table, const HashedSentence& s, Ends& ends,
                 SlicedEntries& entries) {
  ends.all([&](Role role, Index i) {
    for (unsigned v = 0; v < ends.variants(); ++v) {
      RowGradient gradient(table, ends.of(role, i, v), v, entries);
      if (!gradient.any()) continue;
      auto sink = gradient.variant_sink();
      end_rows(table, s, i, role, sink);
    }
  });
}

}  // namespace

template <class Weight>
void score_rows(const RowTable& table, const Weight* weights, double scale, const HashedSentence& s,
                const double* arcs, double* scores, Workspace& workspace) {
  const Index side = s.n_words + 1, width = table.width;
  Ends ends(table, s.n_words, workspace);
  score_ends(table, weights, scale, s, ends);
  for (Index cell = 0; cell < side * side; ++cell) {
    std::fill(scores + cell * width, scores + (cell + 1) * width, arcs[cell]);
  }
  DoubleBuffer<RowScores<Weight>> rows(table, weights, scale);
  const auto wanted = [&](Index h, Index m) { return arcs[h * side + m] != kForbidden; };
  sweep(s, wanted, [&](Index h, Index m, const Between<std::uint64_t>& between) {
    const unsigned variant = features::variant_of(h, m);
    double* totals = scores + (h * side + m) * width;
    ends.of_arc(h, m, variant, [&](const double* end) { add_vector(end, width, 1.0, totals); });
    add_rows(rows, totals, variant, [&](auto& sink) { pair_rows(table, s, h, m, between, sink); });
  });
}

void expand_rows(const RowTable& table, const HashedSentence& s, const double* d_scores,
                 SlicedEntries& entries, Workspace& workspace) {
  const Index side = s.n_words + 1, width = table.width;
  Ends ends(table, s.n_words, workspace);
  const auto of = [&](Index h, Index m) { return d_scores + (h * side + m) * width; };
  const auto wanted = [&](Index h, Index m) {
    return std::any_of(of(h, m), of(h, m) + width, [](double x) { return x != 0.0; });
  };
  sweep(s, wanted, [&](Index h, Index m, const Between<std::uint64_t>& between) {
    const unsigned variant = features::variant_of(h, m);
    ends.of_arc(h, m, variant, [&](double* end) { add_vector(of(h, m), width, 1.0, end); });
    RowGradient gradient(table, of(h, m), variant, entries);
    auto sink = gradient.sink();
    pair_rows(table, s, h, m, between, sink);
  });
  expand_ends(table, s, ends, entries);
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
    add_rows(rows, scores + (m - 1) * table.width, features::kAnyVariant, [&](auto& sink) {
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
    if (heads[m - 1] < 0) continue;
    RowGradient gradient(table, d, features::kAnyVariant, entries);
    if (!gradient.any()) continue;
    auto sink = gradient.sink();
    features::tree_label_templates(table.features, s, heads, children, m, sink);
  }
}

template void score_rows(const RowTable&, const float*, double, const HashedSentence&,
                         const double*, double*, Workspace&);
template void score_rows(const RowTable&, const double*, double, const HashedSentence&,
                         const double*, double*, Workspace&);
template void score_tree_labels(const RowTable&, const float*, double, const HashedSentence&,
                                const std::int32_t*, double*);
template void score_tree_labels(const RowTable&, const double*, double, const HashedSentence&,
                                const std::int32_t*, double*);

}  // namespace arbora::scoring
