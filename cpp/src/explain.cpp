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
          {name.name, {text_of(atoms)...}, twin, false, static_cast<double>(value) * weight});
    }
  }
};

// The same for the sinks of score_rows, of which one outcome is looked at.
template <class Weight>
struct RowRecord {
  const Weight* weights;
  const RowTable& table;
  Index outcome;
  std::vector<Contribution>& entries;

  template <class... Atoms>
  void operator()(const Template& name, const Atoms&... atoms) {
    weighted(1.0F, name, atoms...);
  }
  template <class... Atoms>
  void weighted(float value, const Template& name, const Atoms&... atoms) {
    const double weight =
        static_cast<double>(weights[row_of(table, key_of(name, atoms...)) + outcome]);
    entries.push_back({name.name,
                       {text_of(atoms)...},
                       features::kAnyVariant,
                       true,
                       static_cast<double>(value) * weight});
  }
};

}  // namespace

template <class Weight>
std::vector<Contribution> explain_arc(const LinearModel& model, const Weight* weights,
                                      const features::Sentence<NamedAtom>& sentence, Index head,
                                      Index modifier, Index outcome) {
  std::vector<Contribution> entries;
  const ArcTable& table = model.arcs;
  Record<Weight> sink{weights, table.bits, features::variant_of(head, modifier), entries};
  features::end_templates(table.features, sentence, head, Role::head, sink);
  features::end_templates(table.features, sentence, modifier, Role::modifier, sink);
  features::Between<NamedAtom> between;
  between.fill(sentence, head, modifier);
  features::pair_templates(table.features, sentence, head, modifier, between, sink);
  if (model.rows) {
    RowRecord<Weight> row_sink{weights, *model.rows, outcome, entries};
    arc_rows(*model.rows, sentence, head, modifier, between, row_sink);
  }
  return entries;
}

template std::vector<Contribution> explain_arc(const LinearModel&, const float*,
                                               const features::Sentence<NamedAtom>&, Index, Index,
                                               Index);
template std::vector<Contribution> explain_arc(const LinearModel&, const double*,
                                               const features::Sentence<NamedAtom>&, Index, Index,
                                               Index);

}  // namespace arbora::scoring
