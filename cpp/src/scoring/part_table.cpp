#include "arbora/scoring/part_table.hpp"

#include <algorithm>
#include <vector>

#include "arbora/base/parallel.hpp"
#include "arbora/scoring/bigram_walk.hpp"

namespace arbora::scoring {
namespace {

using HashedSentence = features::Sentence<std::uint64_t>;

constexpr double kWorkPerPart = 200.0;

// In Carreras (2007) features have a direction and no distance.
Variants slots(const FeatureSet& set, features::PartVariants variants) {
  return {variants.first, set.is_carreras() ? variants.first : variants.second};
}

// Calls visit(number, variants, name_features) for every part of a kind, where
// name_features(sink) names the part's features to a sink. `wanted(number)` is asked first.
template <class Atom, class Wanted, class Visit>
class PartWalk {
 public:
  PartWalk(const FeatureSet& set, const features::Sentence<Atom>& s, const PartIndex& parts,
           const Wanted& wanted, const Visit& visit)
      : set_(set), s_(s), parts_(parts), wanted_(wanted), visit_(visit) {}

  void consecutive() const {
    for (Index h = 0; h <= s_.n_words; ++h) {
      for (const int side : {0, 1}) {
        pairs(h, side, parts_.consecutive_at(h, side),
              [&](Index number, Index b, Index m) { sibling(number, h, side, b, m); });
      }
    }
  }

  void siblings() const {
    for (Index h = 0; h <= s_.n_words; ++h) {
      const auto left = parts_.modifiers(h, 0), right = parts_.modifiers(h, 1);  // outwards
      std::vector<std::int32_t> modifiers(left.rbegin(), left.rend());
      modifiers.insert(modifiers.end(), right.begin(), right.end());
      Index number = parts_.siblings_at(h);
      for (std::size_t j = 1; j < modifiers.size(); ++j) {
        for (std::size_t i = 0; i < j; ++i, ++number) {
          if (!wanted_(number)) continue;
          const bool to_the_left = modifiers[j] < h;
          const Index near = modifiers[to_the_left ? j : i], far = modifiers[to_the_left ? i : j];
          visit_(number, slots(set_, features::pair_variants(h, near, far)),
                 [&](auto& sink) { features::sibling_templates(set_, s_, h, near, far, sink); });
        }
      }
    }
  }

  void grandparents() const {
    each_link([&](Index g, Index h, Index link) {
      Index number = parts_.grandparents_at(link);
      for (const int side : {0, 1}) {
        for (const std::int32_t m : parts_.modifiers(h, side)) {
          if (m != g && wanted_(number)) {
            visit_(number, slots(set_, features::grandparent_variants(g, h, m)),
                   [&](auto& sink) { features::grandparent_templates(set_, s_, g, h, m, sink); });
          }
          ++number;
        }
      }
    });
  }

  void grandsiblings() const {
    each_link([&](Index g, Index h, Index link) {
      for (const int side : {0, 1}) {
        pairs(h, side, parts_.grandsiblings_at(link, side, h), [&](Index number, Index b, Index m) {
          if (b != g && m != g) grandsibling(number, g, h, side, b, m);
        });
      }
    });
  }

 private:
  template <class Use>
  void each_link(const Use& use) const {
    for (Index h = 0; h <= s_.n_words; ++h) {
      for (Index i = 0; i < parts_.links_of(h); ++i) {
        const Index link = parts_.first_link(h) + i;
        use(parts_.grandparent(link), h, link);
      }
    }
  }

  // use(number, previous, next) for a side's pairs.
  template <class Use>
  void pairs(Index h, int side, Index first, const Use& use) const {
    const auto modifiers = parts_.modifiers(h, side);
    Index number = first;
    for (std::size_t next = 0; next <= modifiers.size(); ++next) {
      const Index m = next == modifiers.size() ? kNone : modifiers[next];
      for (std::size_t previous = 0; previous <= next; ++previous, ++number) {
        const Index b = previous == 0 ? kNone : modifiers[previous - 1];
        if (wanted_(number)) use(number, b, m);
      }
    }
  }

  void sibling(Index number, Index h, int side, Index b, Index m) const {
    const auto variants = m == kNone ? features::end_variants(side)
                                     : features::sibling_variants(h, b == kNone ? h : b, m);
    visit_(number, slots(set_, variants), [&](auto& sink) {
      if (b == kNone && m == kNone) {
        features::no_modifier_templates(set_, s_, h, sink);
      } else if (b == kNone) {
        features::first_modifier_templates(set_, s_, h, m, sink);
      } else if (m == kNone) {
        features::last_modifier_templates(set_, s_, h, b, sink);
      } else {
        features::sibling_templates(set_, s_, h, b, m, sink);
      }
    });
  }

  void grandsibling(Index number, Index g, Index h, int side, Index b, Index m) const {
    // Where the grandparent stands matters as much as the side.
    const auto variants =
        features::grandparent_variants(g, h,
                                       m != kNone   ? m
                                       : b != kNone ? b
                                                    : (side == 1 ? h + 1 : h - 1));
    visit_(number, slots(set_, variants), [&](auto& sink) {
      if (b == kNone && m == kNone) {
        features::grand_alone_templates(set_, s_, g, h, sink);
      } else if (b == kNone) {
        features::grand_end_templates(set_, s_, "START gp hp mp", "START gc hl mc",
                                      "START gc hc ml", g, h, m, sink);
      } else if (m == kNone) {
        features::grand_end_templates(set_, s_, "END gp hp mp", "END gc hl mc", "END gc hc ml", g,
                                      h, b, sink);
      } else {
        features::grandsibling_templates(set_, s_, g, h, b, m, sink);
      }
    });
  }

  static constexpr Index kNone = -2;  // START or END; -1 is the root's grandparent

  const FeatureSet& set_;
  const features::Sentence<Atom>& s_;
  const PartIndex& parts_;
  const Wanted& wanted_;
  const Visit& visit_;
};

// Who names the features of each kind.
template <class Atom, class Wanted, class Visit>
void visit_parts(PartKind kind, const FeatureSet& set, const features::Sentence<Atom>& s,
                 const PartIndex& parts, const Wanted& wanted, const Visit& visit) {
  const PartWalk walk(set, s, parts, wanted, visit);
  switch (kind) {
    case PartKind::consecutive:
      return walk.consecutive();
    case PartKind::siblings:
      return walk.siblings();
    case PartKind::grandparents:
      return walk.grandparents();
    case PartKind::grandsiblings:
      return walk.grandsiblings();
    case PartKind::head_bigrams:
      return visit_bigrams(set, s, parts, wanted, visit);
  }
}

template <class Weight>
void score_sentence(const ArcTable& table, const Weight* weights, double scale,
                    const HashedSentence& s, const PartIndex& parts, const std::uint8_t* kept,
                    const PartValues<double>& scores, Workspace& workspace) {
  score_kept_arcs(table, weights, scale, s, kept, scores.arcs, workspace);
  const auto all = [](Index) { return true; };
  for_each_kind([&](PartKind kind) {
    double* values = scores[kind];
    if (values == nullptr) return;
    const Index count = parts.count(kind);
    std::fill(values, values + count, 0.0);
    {
      SlotScores<Weight> sinks(weights, table.bits);
      visit_parts(kind, table.features, s, parts, all,
                  [&](Index number, Variants variants, const auto& name_features) {
                    sinks.next(variants, values + number, name_features);
                  });
    }
    for (Index i = 0; i < count; ++i) values[i] *= scale;
  });
}

void expand_sentence(const ArcTable& table, const HashedSentence& s, const PartIndex& parts,
                     const PartScores& d_scores, SlicedEntries& entries, Workspace& workspace) {
  expand_arcs(table, s, d_scores.arcs, entries, workspace);
  for_each_kind([&](PartKind kind) {
    const double* d = d_scores[kind];
    if (d == nullptr) return;
    const auto changed = [&](Index number) { return d[number] != 0.0; };
    visit_parts(kind, table.features, s, parts, changed,
                [&](Index number, Variants variants, const auto& name_features) {
                  SlotEntries sink{entries, table.bits, variants, d[number]};
                  name_features(sink);
                });
  });
}

// Calls job(i, sentence, parts, workspace) for every selected sentence.
template <class Job>
void run(const Selection& selection, const PartBatch& parts, const Job& job) {
  std::vector<double> costs;
  for (Index i = 0; i < parts.size(); ++i) {
    const PartIndex& own = parts[i];
    Index count = 4 * own.n_arcs();
    for_each_kind([&](PartKind kind) { count += own.count(kind); });
    costs.push_back(kWorkPerPart * static_cast<double>(count));
  }
  for_each_by_cost(costs, selection.threads, [&](Index i, Workspace& workspace) {
    job(i, selection.encoded[selection.sentences[at(i)]], parts[i], workspace);
  });
}

}  // namespace

template <class Weight>
void score_parts(const ArcTable& table, const Weight* weights, double scale,
                 const Selection& selection, const PartBatch& parts, const std::uint8_t* kept,
                 const PartValues<double>& scores) {
  run(selection, parts,
      [&](Index i, const HashedSentence& s, const PartIndex& own, Workspace& workspace) {
        const PartBatch::Place& place = parts.place(i);
        score_sentence(table, weights, scale, s, own, kept + place.cells, scores.of(place),
                       workspace);
      });
}

template void score_parts(const ArcTable&, const float*, double, const Selection&, const PartBatch&,
                          const std::uint8_t*, const PartValues<double>&);
template void score_parts(const ArcTable&, const double*, double, const Selection&,
                          const PartBatch&, const std::uint8_t*, const PartValues<double>&);

void expand_parts(const ArcTable& table, const Selection& selection, const PartBatch& parts,
                  const PartScores& d_scores, Gradient& gradient) {
  gradient.begin(parts.size());
  run(selection, parts,
      [&](Index i, const HashedSentence& s, const PartIndex& own, Workspace& workspace) {
        expand_sentence(table, s, own, d_scores.of(parts.place(i)), gradient.of(i), workspace);
      });
}

void part_norms(const ArcTable& table, const Selection& selection, const PartBatch& parts,
                const PartScores& d_scores, double* norms) {
  run(selection, parts,
      [&](Index i, const HashedSentence& s, const PartIndex& own, Workspace& workspace) {
        SlicedEntries entries(std::size_t{1} << static_cast<unsigned>(table.bits));
        expand_sentence(table, s, own, d_scores.of(parts.place(i)), entries, workspace);
        norms[i] = squared_norm(entries);
      });
}

template <class Weight>
std::vector<Contribution> explain_part(const ArcTable& table, const Weight* weights,
                                       const features::Sentence<features::NamedAtom>& sentence,
                                       const PartIndex& parts, PartKind kind, Index number) {
  std::vector<Contribution> entries;
  const auto wanted = [&](Index other) { return other == number; };
  visit_parts(kind, table.features, sentence, parts, wanted,
              [&](Index, Variants variants, const auto& name_features) {
                FeatureRecord<Weight> sink{weights, table.bits, variants, entries};
                name_features(sink);
              });
  return entries;
}

template std::vector<Contribution> explain_part(const ArcTable&, const float*,
                                                const features::Sentence<features::NamedAtom>&,
                                                const PartIndex&, PartKind, Index);
template std::vector<Contribution> explain_part(const ArcTable&, const double*,
                                                const features::Sentence<features::NamedAtom>&,
                                                const PartIndex&, PartKind, Index);

}  // namespace arbora::scoring
