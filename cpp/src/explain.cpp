#include "arbora/scoring/explain.hpp"

namespace arbora::scoring {
namespace {

using features::NamedAtom;
using features::Role;
using features::Template;

std::string text_of(const NamedAtom& atom) { return atom.text; }
std::string text_of(std::uint64_t number) { return std::to_string(number); }

// Writes down what the sinks of score_arcs add up: slot for slot the same weights.
template <class Weight>
struct Record {
  const Weight* weights;
  int bits;
  unsigned variant;
  std::vector<Contribution>& entries;

  template <class... Atoms>
  void operator()(const Template& name, const Atoms&... atoms) {
    weighted(1.0F, name, atoms...);
  }
  template <class... Atoms>
  void weighted(float value, const Template& name, const Atoms&... atoms) {
    const std::uint32_t slot = slot_of(key_of(name, atoms...), bits);
    for (const unsigned twin : {features::kAnyVariant, variant}) {
      const double weight = static_cast<double>(weights[slot ^ twin]);
      entries.push_back(
          {name.name, {text_of(atoms)...}, twin, static_cast<double>(value) * weight});
    }
  }
};

}  // namespace

template <class Weight>
std::vector<Contribution> explain_arc(const ArcTable& table, const Weight* weights,
                                      const features::Sentence<NamedAtom>& sentence, Index head,
                                      Index modifier) {
  std::vector<Contribution> entries;
  Record<Weight> sink{weights, table.bits, features::variant_of(head, modifier), entries};
  features::end_templates(table.features, sentence, head, Role::head, sink);
  features::end_templates(table.features, sentence, modifier, Role::modifier, sink);
  features::Between<NamedAtom> between;
  between.fill(sentence, head, modifier);
  features::pair_templates(table.features, sentence, head, modifier, between, sink);
  return entries;
}

template std::vector<Contribution> explain_arc(const ArcTable&, const float*,
                                               const features::Sentence<NamedAtom>&, Index, Index);
template std::vector<Contribution> explain_arc(const ArcTable&, const double*,
                                               const features::Sentence<NamedAtom>&, Index, Index);

}  // namespace arbora::scoring
