#include "arbora/scoring/arc_table.hpp"

#include <algorithm>

#include "arbora/base/multiversion.hpp"
#include "arbora/scoring/arc_sweep.hpp"

namespace arbora::scoring {
namespace {

using HashedSentence = features::Sentence<std::uint64_t>;

constexpr Index kRoles = 2;

// A sink that sums the weights of one end's features for every variant.
template <class Weight>
auto end_scores(const Weight* weights, int bits, double* totals) {
  return KeySink{[=](std::uint64_t key, double value, Twin twin) {
    const std::uint32_t slot = slot_of(key, bits), end = twin == Twin::yes ? kVariants : 1;
    for (std::uint32_t v = 0; v < end; ++v) {
      totals[v] += value * static_cast<double>(weights[slot ^ v]);
    }
  }};
}

// Its transpose: d holds one number per variant.
auto end_entries(SlicedEntries& entries, int bits, const double* d) {
  return KeySink{[=, &entries](std::uint64_t key, double value, Twin twin) {
    const std::uint32_t slot = slot_of(key, bits), end = twin == Twin::yes ? kVariants : 1;
    for (std::uint32_t v = 0; v < end; ++v) {
      if (d[v] != 0.0) entries.add(slot ^ v, value * d[v]);
    }
  }};
}

double* carve(Workspace& workspace, Index count) {
  auto* room =
      static_cast<double*>(workspace.bytes(static_cast<std::size_t>(count) * sizeof(double)));
  std::fill(room, room + count, 0.0);
  return room;
}

Index end_at(Index side, Role role, Index word) {
  return (static_cast<Index>(role) * side + word) * kVariants;
}

template <class Weight, class Wanted>
void score_wanted(const ArcTable& table, const Weight* weights, double scale,
                  const HashedSentence& s, const Wanted& wanted, double* scores,
                  Workspace& workspace) {
  const Index side = s.n_words + 1;
  double* ends = carve(workspace, kRoles * side * kVariants);
  for (const Role role : {Role::head, Role::modifier}) {
    for (Index i = role == Role::head ? 0 : 1; i < side; ++i) {
      auto sink = end_scores(weights, table.bits, ends + end_at(side, role, i));
      features::end_templates(table.features, s, i, role, sink);
    }
  }
  std::fill(scores, scores + side * side, kForbidden);
  {
    SlotScores<Weight> sinks(weights, table.bits);
    sweep(s, wanted, [&](Index h, Index m, const Between<std::uint64_t>& between) {
      const unsigned variant = features::variant_of(h, m);
      const double* head = ends + end_at(side, Role::head, h);
      const double* modifier = ends + end_at(side, Role::modifier, m);
      double* answer = scores + h * side + m;
      *answer = head[0] + head[variant] + modifier[0] + modifier[variant];
      sinks.next({features::kAnyVariant, variant}, answer, [&](SlotScore<Weight>& sink) {
        features::pair_templates(table.features, s, h, m, between, sink);
      });
    });
  }
  for (Index i = 0; i < side * side; ++i) scores[i] *= scale;  // -inf stays: scale is positive
}

bool allows(const features::ArcFilter& filter, const HashedSentence& s, const std::int32_t* keep,
            Index h, Index m) {
  return filter.keeps_all() || filter.keeps(s, h, m) ||
         (keep != nullptr && (keep[m - 1] == h || keep[m - 1] < 0));
}

}  // namespace

void allow_arcs(const features::ArcFilter& filter, const HashedSentence& s,
                const std::int32_t* keep, double* scores) {
  const Index side = s.n_words + 1;
  for (Index h = 0; h < side; ++h) {
    for (Index m = 0; m < side; ++m) {
      scores[h * side + m] = m != 0 && h != m && allows(filter, s, keep, h, m) ? 0.0 : kForbidden;
    }
  }
}

template <class Weight>
void score_arcs(const ArcTable& table, const Weight* weights, double scale,
                const features::ArcFilter& filter, const HashedSentence& s,
                const std::int32_t* keep, double* scores, Workspace& workspace) {
  const auto wanted = [&](Index h, Index m) { return allows(filter, s, keep, h, m); };
  score_wanted(table, weights, scale, s, wanted, scores, workspace);
}

template <class Weight>
void score_kept_arcs(const ArcTable& table, const Weight* weights, double scale,
                     const HashedSentence& s, const std::uint8_t* kept, double* scores,
                     Workspace& workspace) {
  const auto wanted = [&](Index h, Index m) { return kept[h * (s.n_words + 1) + m] != 0; };
  score_wanted(table, weights, scale, s, wanted, scores, workspace);
}

template void score_kept_arcs(const ArcTable&, const float*, double, const HashedSentence&,
                              const std::uint8_t*, double*, Workspace&);
template void score_kept_arcs(const ArcTable&, const double*, double, const HashedSentence&,
                              const std::uint8_t*, double*, Workspace&);
template void score_arcs(const ArcTable&, const float*, double, const features::ArcFilter&,
                         const HashedSentence&, const std::int32_t*, double*, Workspace&);
template void score_arcs(const ArcTable&, const double*, double, const features::ArcFilter&,
                         const HashedSentence&, const std::int32_t*, double*, Workspace&);

void expand_arcs(const ArcTable& table, const HashedSentence& s, const double* d_scores,
                 SlicedEntries& entries, Workspace& workspace) {
  const Index side = s.n_words + 1;
  double* ends = carve(workspace, kRoles * side * kVariants);
  const auto wanted = [&](Index h, Index m) { return d_scores[h * side + m] != 0.0; };
  sweep(s, wanted, [&](Index h, Index m, const Between<std::uint64_t>& between) {
    const double d = d_scores[h * side + m];
    const unsigned variant = features::variant_of(h, m);
    for (const unsigned v : {features::kAnyVariant, variant}) {
      ends[end_at(side, Role::head, h) + v] += d;
      ends[end_at(side, Role::modifier, m) + v] += d;
    }
    SlotEntries sink{entries, table.bits, {features::kAnyVariant, variant}, d};
    features::pair_templates(table.features, s, h, m, between, sink);
  });
  for (const Role role : {Role::head, Role::modifier}) {
    for (Index i = role == Role::head ? 0 : 1; i < side; ++i) {
      const double* d = ends + end_at(side, role, i);
      if (std::all_of(d, d + kVariants, [](double x) { return x == 0.0; })) continue;
      auto sink = end_entries(entries, table.bits, d);
      features::end_templates(table.features, s, i, role, sink);
    }
  }
}

}  // namespace arbora::scoring
