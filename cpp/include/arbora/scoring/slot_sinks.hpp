// Sinks of the feature templates for tables of single weights: scores and gradients.
//
// A feature's slot is the top bits of its key; each feature fires twice, at the slot XOR each of
// two variants below 16, so that both weights lie in one line of memory.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "arbora/base/multiversion.hpp"
#include "arbora/features/hash.hpp"
#include "arbora/scoring/gradient.hpp"

namespace arbora::scoring {

// Where a feature's weight is, in a table of 2^bits.
inline std::uint32_t slot_of(std::uint64_t key, int bits) {
  return static_cast<std::uint32_t>(key >> static_cast<unsigned>(64 - bits));
}

struct Variants {
  std::uint32_t first, second;
};

// The slots of one part's features. Most of the time of scoring is waiting for memory, so the slots
// are asked for when they are known and added up while those of the next part are on their way.
template <class Weight>
class SlotScore {
 public:
  SlotScore(const Weight* weights, int bits) : weights_(weights), bits_(bits) {}

  // Begins with another part.
  void start(Variants variants, double* answer) {
    variants_ = variants;
    answer_ = answer;
    count_ = 0;
    rest_ = 0.0;
  }
  // Adds everything to where the answer is.
  void finish() {
    if (answer_ != nullptr) *answer_ += sum();
    answer_ = nullptr;
  }

  template <class... Atoms>
  void operator()(const features::Template& name, const Atoms&... atoms) {
    if (features::sees_hidden(atoms...)) return;
    const std::uint32_t slot = slot_of(key_of(name, atoms...), bits_);
    ARBORA_PREFETCH(weights_ + slot);
    if (count_ == slots_.size()) {
      rest_ = sum();
      count_ = 0;
    }
    slots_[count_++] = slot;
  }
  template <class... Atoms>
  void weighted(float value, const features::Template& name, const Atoms&... atoms) {
    if (features::sees_hidden(atoms...)) return;
    rest_ += static_cast<double>(value) * both(slot_of(key_of(name, atoms...), bits_));
  }

 private:
  double both(std::uint32_t slot) const {
    return static_cast<double>(weights_[slot ^ variants_.first]) +
           static_cast<double>(weights_[slot ^ variants_.second]);
  }
  double sum() const {
    double total = rest_;
    for (std::size_t i = 0; i < count_; ++i) total += both(slots_[i]);
    return total;
  }

  const Weight* weights_;
  int bits_;
  Variants variants_{0, 0};
  double* answer_ = nullptr;
  double rest_ = 0.0;
  std::size_t count_ = 0;
  std::array<std::uint32_t, 512> slots_;
};

// Two of them that take turns: one's weights come in while the other's features are named.
template <class Weight>
class SlotScores {
 public:
  SlotScores(const Weight* weights, int bits) : first_(weights, bits), second_(weights, bits) {}
  ~SlotScores() { before_->finish(); }
  SlotScores(const SlotScores&) = delete;
  SlotScores& operator=(const SlotScores&) = delete;

  // Calls name_features(sink), whose score is added to the answer by the time of the next but one.
  template <class NameFeatures>
  void next(Variants variants, double* answer, const NameFeatures& name_features) {
    now_->start(variants, answer);
    name_features(*now_);
    before_->finish();
    std::swap(now_, before_);
  }

 private:
  SlotScore<Weight> first_, second_;
  SlotScore<Weight>*now_ = &first_, *before_ = &second_;
};

// d times the features of one part.
struct SlotEntries {
  SlicedEntries& entries;
  int bits;
  Variants variants;
  double d;

  template <class... Atoms>
  void operator()(const features::Template& name, const Atoms&... atoms) {
    weighted(1.0F, name, atoms...);
  }
  template <class... Atoms>
  void weighted(float value, const features::Template& name, const Atoms&... atoms) {
    if (features::sees_hidden(atoms...)) return;
    const std::uint32_t slot = slot_of(key_of(name, atoms...), bits);
    entries.add(slot ^ variants.first, static_cast<double>(value) * d);
    entries.add(slot ^ variants.second, static_cast<double>(value) * d);
  }
};

}  // namespace arbora::scoring
