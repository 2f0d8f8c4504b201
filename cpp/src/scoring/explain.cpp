#include "arbora/scoring/explain.hpp"

namespace arbora::scoring {
namespace {

// Records every weight that score_rows adds up for one outcome.
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
    entries.push_back({name.text(),
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
  const Variants variants{features::kAnyVariant, features::variant_of(head, modifier)};
  FeatureRecord<Weight> sink{weights, table.bits, variants, entries};
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
