// Sinks of the feature templates: what all kernels share, and those for tables of single weights.
//
// A feature's slot is the top bits of its key; each feature fires twice, at the slot XOR each of
// two variants below 16, so that both weights lie in one cache line. Where both variants are the
// same, it fires once.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "arbora/base/multiversion.hpp"
#include "arbora/features/hash.hpp"
#include "arbora/scoring/gradient.hpp"

namespace arbora::scoring {

// Whether a feature also fires with the variant.
enum class Twin : bool { no, yes };

// A sink that hashes every feature and calls add(key, value, twin). Features of hidden words do not
// fire.
template <class Add>
struct KeySink {
  Add add;

  template <class... Atoms>
  void operator()(const Template& name, const Atoms&... atoms) {
    weighted(1.0F, name, atoms...);
  }
  template <class... Atoms>
  void weighted(float value, const Template& name, const Atoms&... atoms) {
    if (sees_hidden(atoms...)) return;
    add(key_of(name, atoms...), static_cast<double>(value), Twin::yes);
  }
  template <class... Atoms>
  void alone(const Template& name, const Atoms&... atoms) {
    if (!sees_hidden(atoms...)) add(key_of(name, atoms...), 1.0, Twin::no);
  }
};

// Scoring waits for memory most of the time. Two sinks take turns: while one's features are hashed
// and their weights prefetched, the weights of the other, named before, arrive and are added up.
// A Sink has start(...), which begins with another part, and finish(), which adds up its weights.
template <class Sink>
class DoubleBuffer {
 public:
  template <class... Arguments>
  explicit DoubleBuffer(const Arguments&... arguments)
      : first_(arguments...), second_(arguments...) {}
  ~DoubleBuffer() { before_->finish(); }
  DoubleBuffer(const DoubleBuffer&) = delete;
  DoubleBuffer& operator=(const DoubleBuffer&) = delete;

  // Calls start(...) and name_features(sink). The score is added up in the next call but one, or
  // by the destructor.
  template <class NameFeatures, class... Start>
  void next(const NameFeatures& name_features, const Start&... start) {
    now_->start(start...);
    name_features(*now_);
    before_->finish();
    std::swap(now_, before_);
  }

 private:
  Sink first_, second_;
  Sink *now_ = &first_, *before_ = &second_;
};

// Where a feature's weight is, in a table of 2^bits.
inline std::uint32_t slot_of(std::uint64_t key, int bits) {
  return static_cast<std::uint32_t>(key >> static_cast<unsigned>(64 - bits));
}

struct Variants {
  std::uint32_t first, second;
};

// The slots of one part's features: prefetched when they are named, added up later.
template <class Weight>
class SlotScore {
 public:
  SlotScore(const Weight* weights, int bits) : weights_(weights), bits_(bits) {}

  void start(Variants variants, double* answer) {
    variants_ = variants;
    answer_ = answer;
    count_ = 0;
    rest_ = 0.0;
  }
  // Adds the sum to the answer.
  void finish() {
    if (answer_ != nullptr) *answer_ += sum();
    answer_ = nullptr;
  }

  template <class... Atoms>
  void operator()(const Template& name, const Atoms&... atoms) {
    if (sees_hidden(atoms...)) return;
    const std::uint32_t slot = slot_of(key_of(name, atoms...), bits_);
    ARBORA_PREFETCH(weights_ + slot);
    if (count_ == slots_.size()) {
      rest_ = sum();
      count_ = 0;
    }
    slots_[count_++] = slot;
  }
  template <class... Atoms>
  void weighted(float value, const Template& name, const Atoms&... atoms) {
    if (sees_hidden(atoms...)) return;
    rest_ += static_cast<double>(value) * both(slot_of(key_of(name, atoms...), bits_));
  }

 private:
  double both(std::uint32_t slot) const {
    const auto first = static_cast<double>(weights_[slot ^ variants_.first]);
    if (variants_.second == variants_.first) return first;
    return first + static_cast<double>(weights_[slot ^ variants_.second]);
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

template <class Weight>
class SlotScores {
 public:
  SlotScores(const Weight* weights, int bits) : sinks_(weights, bits) {}

  // Adds the score of the features that name_features(sink) names to the answer, with a delay.
  template <class NameFeatures>
  void next(Variants variants, double* answer, const NameFeatures& name_features) {
    sinks_.next(name_features, variants, answer);
  }

 private:
  DoubleBuffer<SlotScore<Weight>> sinks_;
};

// d times the features of one part.
struct SlotEntries {
  SlicedEntries& entries;
  int bits;
  Variants variants;
  double d;

  template <class... Atoms>
  void operator()(const Template& name, const Atoms&... atoms) {
    weighted(1.0F, name, atoms...);
  }
  template <class... Atoms>
  void weighted(float value, const Template& name, const Atoms&... atoms) {
    if (sees_hidden(atoms...)) return;
    const std::uint32_t slot = slot_of(key_of(name, atoms...), bits);
    entries.add(slot ^ variants.first, static_cast<double>(value) * d);
    if (variants.second == variants.first) return;
    entries.add(slot ^ variants.second, static_cast<double>(value) * d);
  }
};

}  // namespace arbora::scoring
