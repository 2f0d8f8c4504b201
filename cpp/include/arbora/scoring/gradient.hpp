// A sparse gradient of a mini-batch that any number of threads adds up to the same result: every
// sentence writes its entries into its own lists, one per slice of the weights, and one thread
// later adds up each slice in sentence order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arbora/base/huge_pages.hpp"
#include "arbora/base/multiversion.hpp"
#include "arbora/base/types.hpp"

namespace arbora::scoring {

struct Entry {
  std::uint32_t slot;
  double value;
};

inline constexpr int kSlices = 16;

// Where the weights are rows: 2^bits rows of `width`, from `offset` to the end; none if width is 0.
struct RowShape {
  std::size_t offset = 0;
  int bits = 0;
  Index width = 0;

  bool operator==(const RowShape&) const = default;
};

// `value` times one of the sentence's vectors, added to a row. One entry instead of `width`: with a
// thousand outcomes per arc, single entries would not fit into memory.
struct RowEntry {
  std::uint32_t row;
  std::uint32_t vector;
  float value;
};

// Entries of one sentence, slice by slice. A weight belongs to one slice: by its slot, or in rows
// by its row, so that no row lies in two slices.
class SlicedEntries {
 public:
  // For a table of this many weights.
  explicit SlicedEntries(std::size_t weights, RowShape rows = {}) : shape_(rows) {
    const std::size_t single = rows.width > 0 ? rows.offset : weights;
    while ((std::size_t{kSlices} << shift_) < single) ++shift_;
    while ((kSlices << row_shift_) < (std::int64_t{1} << rows.bits)) ++row_shift_;
  }

  // Not for weights in rows.
  void add(std::uint32_t slot, double value) { lists_[slot >> shift_].push_back({slot, value}); }

  // Keeps a vector of `width` numbers for rows to be added.
  std::uint32_t keep(const double* vector) {
    vectors_.insert(vectors_.end(), vector, vector + shape_.width);
    return static_cast<std::uint32_t>(kept_++);
  }
  void add_row(std::uint32_t row, std::uint32_t vector, float value) {
    rows_[row >> row_shift_].push_back({row, vector, value});
  }
  // One weight of a row.
  void add_cell(std::uint32_t row, Index outcome, double value) {
    lists_[row >> row_shift_].push_back({slot_at(row, outcome), value});
  }

  const std::vector<Entry>& slice(int i) const { return lists_[static_cast<std::size_t>(i)]; }
  const std::vector<RowEntry>& rows(int i) const { return rows_[static_cast<std::size_t>(i)]; }
  const double* vector(const RowEntry& entry) const {
    return vectors_.data() + entry.vector * static_cast<std::size_t>(shape_.width);
  }
  void clear() {
    for (std::vector<Entry>& list : lists_) list.clear();
    for (std::vector<RowEntry>& list : rows_) list.clear();
    vectors_.clear();
    kept_ = 0;
  }

  // Replaces the row entries by one entry per weight, in the same slices.
  void unroll();

 private:
  // The number of weights is below 2^32, which the bindings check.
  std::uint32_t slot_at(std::uint32_t row, Index outcome) const {
    const std::size_t first = row * static_cast<std::size_t>(shape_.width);
    return static_cast<std::uint32_t>(shape_.offset + first + static_cast<std::size_t>(outcome));
  }

  std::array<std::vector<Entry>, kSlices> lists_;
  std::array<std::vector<RowEntry>, kSlices> rows_;
  std::vector<double> vectors_;
  std::size_t kept_ = 0;
  RowShape shape_;
  unsigned shift_ = 0, row_shift_ = 0;
};

// sums += value * vector.
void add_vector(const double* vector, Index width, double value, double* sums);

// All entries sorted by slot, each slot once.
std::vector<Entry> merged_entries(const SlicedEntries& entries);

// Both lists are sorted by slot.
double inner_product(const std::vector<Entry>& a, const std::vector<Entry>& b);

// Entries of one slot are added up first.
double squared_norm(const SlicedEntries& entries);

class Gradient {
 public:
  explicit Gradient(std::size_t weights, RowShape rows = {})
      : sums_(weights, 0.0),
        shape_(rows),
        is_touched_(rows.width > 0 ? std::size_t{1} << static_cast<unsigned>(rows.bits) : 0, 0) {}

  std::size_t weights() const { return sums_.size(); }
  const RowShape& shape() const { return shape_; }

  // Clears the entries and prepares for a mini-batch.
  void begin(Index sentences);
  SlicedEntries& of(Index sentence) { return entries_[static_cast<std::size_t>(sentence)]; }

  // Adds up one slice and calls visit(slot, sum) for every touched slot; prefetch(slot) is called a
  // few slots earlier.
  template <class Prefetch, class Visit>
  void drain(int slice, const Prefetch& prefetch, const Visit& visit) {
    std::vector<std::uint32_t>& touched = touched_[static_cast<std::size_t>(slice)];
    std::vector<std::uint32_t>& rows = touched_rows_[static_cast<std::size_t>(slice)];
    touched.clear();
    rows.clear();
    for (std::size_t i = 0; i < used_; ++i) {
      add_up(entries_[i].slice(slice), touched);
      add_up_rows(entries_[i], slice, rows);
    }
    for (std::size_t i = 0; i < touched.size(); ++i) {
      if (i + kAhead < touched.size()) {
        ARBORA_PREFETCH(&sums_[touched[i + kAhead]]);
        prefetch(touched[i + kAhead]);
      }
      visit_one(touched[i], visit);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i + 1 < rows.size()) prefetch(first_of(rows[i + 1]));
      is_touched_[rows[i]] = 0;
      const std::uint32_t first = first_of(rows[i]);
      for (std::uint32_t o = 0; o < static_cast<std::uint32_t>(shape_.width); ++o) {
        visit_one(first + o, visit);
      }
    }
  }

 private:
  static constexpr std::size_t kAhead = 12, kRowsAhead = 4;

  std::uint32_t first_of(std::uint32_t row) const {
    return static_cast<std::uint32_t>(shape_.offset + row * static_cast<std::size_t>(shape_.width));
  }

  template <class Visit>
  void visit_one(std::uint32_t slot, const Visit& visit) {
    const double sum = sums_[slot];
    if (sum == 0.0) return;  // cancelled, or already visited
    sums_[slot] = 0.0;
    visit(slot, sum);
  }

  void add_up(const std::vector<Entry>& entries, std::vector<std::uint32_t>& touched) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i + kAhead < entries.size()) ARBORA_PREFETCH(&sums_[entries[i + kAhead].slot]);
      double& sum = sums_[entries[i].slot];
      if (sum == 0.0) touched.push_back(entries[i].slot);
      sum += entries[i].value;
    }
  }

  void add_up_rows(const SlicedEntries& entries, int slice, std::vector<std::uint32_t>& touched) {
    const std::vector<RowEntry>& list = entries.rows(slice);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i + kRowsAhead < list.size()) {
        ARBORA_PREFETCH(&sums_[first_of(list[i + kRowsAhead].row)]);
      }
      if (is_touched_[list[i].row] == 0) {
        is_touched_[list[i].row] = 1;
        touched.push_back(list[i].row);
      }
      add_vector(entries.vector(list[i]), shape_.width, static_cast<double>(list[i].value),
                 &sums_[first_of(list[i].row)]);
    }
  }

  std::vector<double, HugePages<double>> sums_;
  RowShape shape_;
  std::vector<std::uint8_t> is_touched_;  // by row
  std::vector<SlicedEntries> entries_;
  std::array<std::vector<std::uint32_t>, kSlices> touched_, touched_rows_;
  std::size_t used_ = 0;
};

}  // namespace arbora::scoring
