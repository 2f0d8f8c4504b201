// The features of an arc: each with its name, its atoms and its contribution to the score. Mirrors
// score_sentences for one arc; the contributions sum to the score.
#pragma once

#include <string>
#include <vector>

#include "arbora/features/words.hpp"
#include "arbora/scoring/linear_model.hpp"
#include "arbora/scoring/slot_sinks.hpp"

namespace arbora::scoring {

inline std::string text_of(const features::NamedAtom& atom) { return atom.text; }
inline std::string text_of(std::uint64_t number) { return std::to_string(number); }

struct Contribution {
  std::string name;  // of the template
  std::vector<std::string> atoms;
  unsigned variant;  // kAnyVariant, or the arc's direction and distance
  bool of_outcome;   // a weight of the arc's outcome, not of the arc
  double value;      // of the feature, times its weight
};

// A sink that records every weight that the sinks of scores add up.
template <class Weight>
struct FeatureRecord {
  const Weight* weights;
  int bits;
  Variants variants;
  std::vector<Contribution>& entries;

  template <class... Atoms>
  void operator()(const features::Template& name, const Atoms&... atoms) {
    weighted(1.0F, name, atoms...);
  }
  template <class... Atoms>
  void weighted(float value, const features::Template& name, const Atoms&... atoms) {
    record(variants.first, value, name, atoms...);
    if (variants.second != variants.first) record(variants.second, value, name, atoms...);
  }
  template <class... Atoms>
  void alone(const features::Template& name, const Atoms&... atoms) {
    record(variants.first, 1.0F, name, atoms...);
  }
  template <class... Atoms>
  void record(unsigned twin, float value, const features::Template& name, const Atoms&... atoms) {
    const std::uint32_t slot = slot_of(key_of(name, atoms...), bits);
    const double part = static_cast<double>(value) * static_cast<double>(weights[slot ^ twin]);
    entries.push_back({name.text(), {text_of(atoms)...}, twin, false, part});
  }
};

// `outcome` is the label or cluster whose score is explained; without rows it is ignored.
template <class Weight>
std::vector<Contribution> explain_arc(const LinearModel& model, const Weight* weights,
                                      const features::Sentence<features::NamedAtom>& sentence,
                                      Index head, Index modifier, Index outcome);

}  // namespace arbora::scoring
