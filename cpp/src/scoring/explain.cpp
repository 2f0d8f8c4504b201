#include "arbora/scoring/explain.hpp"

namespace arbora::scoring {
namespace {

// Records every weight that score_rows adds up for one outcome.
template <class Weight>
struct RowRecord {
  const Weight* weights;
  const RowTable& table;
  Index outcome;
  unsigned variant;
  std::vector<Contribution>& entries;

  template <class... Atoms>
  void operator()(const Template& name, const Atoms&... atoms) {
    weighted(1.0F, name, atoms...);
  }
  template <class... Atoms>
  void alone(const Template& name, const Atoms&... atoms) {
    const std::uint32_t row = row_of(table, key_of(name, atoms...));
    record(row, features::kAnyVariant, 1.0F, name, atoms...);
  }
  template <class... Atoms>
  void weighted(float value, const Template& name, const Atoms&... atoms) {
    const std::uint32_t row = row_of(table, key_of(name, atoms...));
    record(row, features::kAnyVariant, value, name, atoms...);
    if (table.variants) record(row ^ variant, variant, value, name, atoms...);
  }
  template <class... Atoms>
  void record(std::uint32_t row, unsigned as, float value, const Template& name,
              const Atoms&... atoms) {
    const std::size_t slot = first_of(table, row) + static_cast<std::size_t>(outcome);
    const double part = static_cast<double>(value) * static_cast<double>(weights[slot]);
    entries.push_back({name.text(), {text_of(atoms)...}, as, true, part});
  }
};

}  // namespace

template <class Weight>
std::vector<Contribution> explain_arc(const LinearModel& model, const Weight* weights,
                                      const features::Sentence<NamedAtom>& sentence, Index head,
                                      Index modifier, Index outcome) {
  std::vector<Contribution> entries;
  const ArcTable& table = model.arcs;
  const Variants variants{features::kAnyVariant, features::variant_of(head, modifier)};
  features::Between<NamedAtom> between;
  between.fill(sentence, head, modifier);
  if (model.arcs_beside) {
    FeatureRecord<Weight> sink{weights, table.bits, variants, entries};
    features::end_templates(table.features, sentence, head, Role::head, sink);
    features::end_templates(table.features, sentence, modifier, Role::modifier, sink);
    features::pair_templates(table.features, sentence, head, modifier, between, sink);
  }
  if (model.rows) {
    RowRecord<Weight> sink{weights, *model.rows, outcome, variants.second, entries};
    end_rows(*model.rows, sentence, head, Role::head, sink);
    end_rows(*model.rows, sentence, modifier, Role::modifier, sink);
    pair_rows(*model.rows, sentence, head, modifier, between, sink);
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
