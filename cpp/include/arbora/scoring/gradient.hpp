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

// Entries of one sentence, slice by slice.
class SlicedEntries {
 public:
  // For a table of this many weights.
  explicit SlicedEntries(std::size_t weights) {
    while ((std::size_t{kSlices} << shift_) < weights) ++shift_;
  }

  void add(std::uint32_t slot, double value) { lists_[slot >> shift_].push_back({slot, value}); }
  const std::vector<Entry>& slice(int i) const { return lists_[static_cast<std::size_t>(i)]; }
  void clear() {
    for (std::vector<Entry>& list : lists_) list.clear();
  }

 private:
  std::array<std::vector<Entry>, kSlices> lists_;
  unsigned shift_ = 0;
};

// All entries sorted by slot, each slot once.
std::vector<Entry> merged_entries(const SlicedEntries& entries);

// Both lists are sorted by slot.
double inner_product(const std::vector<Entry>& a, const std::vector<Entry>& b);

// Entries of one slot are added up first.
double squared_norm(const SlicedEntries& entries);

class Gradient {
 public:
  explicit Gradient(std::size_t weights) : sums_(weights, 0.0) {}

  std::size_t weights() const { return sums_.size(); }

  // Clears the entries and prepares for a mini-batch.
  void begin(Index sentences);
  SlicedEntries& of(Index sentence) { return entries_[static_cast<std::size_t>(sentence)]; }

  // Adds up one slice and calls visit(slot, sum) for every touched slot; prefetch(slot) is called a
  // few slots earlier.
  template <class Prefetch, class Visit>
  void drain(int slice, const Prefetch& prefetch, const Visit& visit) {
    std::vector<std::uint32_t>& touched = touched_[static_cast<std::size_t>(slice)];
    touched.clear();
    for (std::size_t i = 0; i < used_; ++i) add_up(entries_[i].slice(slice), touched);
    for (std::size_t i = 0; i < touched.size(); ++i) {
      if (i + kAhead < touched.size()) {
        ARBORA_PREFETCH(&sums_[touched[i + kAhead]]);
        prefetch(touched[i + kAhead]);
      }
      const double sum = sums_[touched[i]];
      if (sum == 0.0) continue;  // cancelled, or already visited
      sums_[touched[i]] = 0.0;
      visit(touched[i], sum);
    }
  }

 private:
  static constexpr std::size_t kAhead = 12;

  void add_up(const std::vector<Entry>& entries, std::vector<std::uint32_t>& touched) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i + kAhead < entries.size()) ARBORA_PREFETCH(&sums_[entries[i + kAhead].slot]);
      double& sum = sums_[entries[i].slot];
      if (sum == 0.0) touched.push_back(entries[i].slot);
      sum += entries[i].value;
    }
  }

  std::vector<double, HugePages<double>> sums_;
  std::vector<SlicedEntries> entries_;
  std::array<std::vector<std::uint32_t>, kSlices> touched_;
  std::size_t used_ = 0;
};

}  // namespace arbora::scoring
