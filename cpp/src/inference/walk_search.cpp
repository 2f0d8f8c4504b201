#include "arbora/inference/walk_search.hpp"

#include <algorithm>
#include <cmath>

namespace arbora::inference {
namespace {

// Rounding in the sums of changes must not make a bound too low.
constexpr double kSlack = 1e-12;

}  // namespace

WalkSearch::WalkSearch(const StepTables& steps) : steps_(&steps) {
  const PartIndex& parts = steps.parts();
  Index from = 0, most = 0;
  for (Index h = 0; h <= parts.n_words(); ++h) {
    first_.push_back(static_cast<Index>(memories_.size()));
    most = std::max(most, parts.n_modifiers(h));
    for (Index choice = 0; choice < steps.choices(h); ++choice) {
      memories_.emplace_back().from = from;
      from += parts.n_modifiers(h) + 2;
    }
  }
  first_.push_back(static_cast<Index>(memories_.size()));
  from_.resize(at(from));
  best_.resize(at(most + 1));
}

void WalkSearch::change(Index head, int side, double by) {
  for (Index i = first_[at(head)]; i < first_[at(head + 1)]; ++i) {
    Memory& memory = memories_[at(i)];
    memory.stale[side] = true;
    memory.bound += std::max(by, 0.0) + kSlack * (1.0 + std::abs(memory.bound));
  }
}

void WalkSearch::forget() {
  for (Memory& memory : memories_) {
    memory.stale[0] = memory.stale[1] = true;
    memory.bound = kInfinity;
  }
}

Walk WalkSearch::best(Index head, const double* arcs, const double* links, std::uint8_t* chosen) {
  const Index first = first_[at(head)], count = first_[at(head + 1)] - first;
  Walk walk;
  for (;;) {
    walk = {};
    for (Index choice = 0; choice < count; ++choice) {
      const double link = links == nullptr ? 0.0 : links[choice];
      if (link == kForbidden) continue;
      const double bound = memories_[at(first + choice)].bound + link;
      if (bound > walk.value) walk = {bound, choice};
    }
    if (walk.choice < 0) break;
    Memory& memory = memories_[at(first + walk.choice)];
    if (!memory.stale[0] && !memory.stale[1]) break;
    look_again(head, walk.choice, arcs, memory);
  }
  const auto left = static_cast<Index>(steps_->parts().modifiers(head, 0).size());
  const Index all = steps_->parts().n_modifiers(head);
  std::fill(chosen, chosen + all, std::uint8_t{0});
  if (walk.choice < 0) return walk;
  const std::int32_t* from = from_.data() + memories_[at(first + walk.choice)].from;
  mark_walk(from, left, chosen);
  mark_walk(from + left + 1, all - left, chosen + left);
  return walk;
}

void WalkSearch::look_again(Index head, Index choice, const double* arcs, Memory& memory) {
  Index before = 0;  // modifiers on the sides before
  for (const int side : {0, 1}) {
    const auto k = static_cast<Index>(steps_->parts().modifiers(head, side).size());
    if (memory.stale[side]) {
      memory.value[side] = best_of_side(*steps_, head, choice, side, arcs + before, best_.data(),
                                        from_.data() + memory.from + before + side);
      memory.stale[side] = false;
    }
    before += k;
  }
  memory.bound = memory.value[0] + memory.value[1];
}

}  // namespace arbora::inference
