#include "arbora/tree/part_kinds.hpp"

namespace arbora::tree {
namespace {

// In the order of PartKind.
constexpr std::array<const PartLayout*, kPartKinds> kLayouts{
    &kConsecutiveSiblings, &kSiblings, &kGrandparents, &kGrandsiblings, &kHeadBigrams,
};

bool all_kept(const PartIndex& parts, const std::int32_t* heads) {
  for (Index m = 1; m <= parts.n_words(); ++m) {
    const std::int32_t h = heads[m - 1];
    if (h < 0 || h > parts.n_words() || h == m || parts.place(h, m) < 0) return false;
  }
  return true;
}

}  // namespace

const PartLayout& layout_of(PartKind kind) { return *kLayouts[static_cast<std::size_t>(kind)]; }

bool parts_of_tree(const PartIndex& parts, PartKind kind, const std::int32_t* heads,
                   std::vector<Index>& numbers) {
  if (!all_kept(parts, heads)) return false;
  layout_of(kind).of_tree(parts, heads, numbers);
  return true;
}

double score_of_tree(const PartIndex& parts, const PartScores& scores, const std::int32_t* heads) {
  if (!all_kept(parts, heads)) return kForbidden;
  const Index side = parts.n_words() + 1;
  double total = 0.0;
  for (Index m = 1; m < side; ++m) total += scores.arcs[heads[m - 1] * side + m];
  std::vector<Index> numbers;
  for_each_kind([&](PartKind kind) {
    if (scores[kind] == nullptr) return;
    numbers.clear();
    layout_of(kind).of_tree(parts, heads, numbers);
    for (const Index number : numbers) total += scores[kind][number];
  });
  return total;
}

}  // namespace arbora::tree
