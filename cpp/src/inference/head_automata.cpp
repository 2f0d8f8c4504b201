#include "arbora/inference/head_automata.hpp"

#include <algorithm>
#include <utility>

#include "arbora/base/parallel.hpp"

namespace arbora::inference {
namespace {

Index pairs_of_head(const PartIndex& parts, Index head) {
  return sibling_pairs(static_cast<Index>(parts.modifiers(head, 0).size())) +
         sibling_pairs(static_cast<Index>(parts.modifiers(head, 1).size()));
}

// Adds to the pairs of one side what depends on the grandparent and the next modifier alone, and
// forbids the grandparent as a modifier.
void add_grandparent(std::span<const std::int32_t> modifiers, std::int32_t grandparent,
                     const double* of_modifiers, double* pairs) {
  const auto k = static_cast<Index>(modifiers.size());
  for (Index next = 0; next < k; ++next) {
    const bool cycle = modifiers[at(next)] == grandparent;
    const double extra = cycle ? kForbidden : of_modifiers == nullptr ? 0.0 : of_modifiers[next];
    double* row = pairs + sibling_pair(0, next);
    for (Index previous = 0; previous <= next; ++previous) row[previous] += extra;
  }
}

// The best way through one side. `best` and `from` have room for k + 1 numbers; from[j] is the
// step before modifier j, from[k] that before END.
double best_side(const double* pairs, Index k, const double* arcs, double* best,
                 std::int32_t* from) {
  best[0] = 0.0;
  for (Index next = 0; next <= k; ++next) {
    const double* row = pairs + sibling_pair(0, next);
    double top = best[0] + row[0];
    Index which = 0;
    for (Index previous = 1; previous <= next; ++previous) {
      const double value = best[previous] + row[previous];
      if (value >= top) {  // of equals the nearest
        top = value;
        which = previous;
      }
    }
    from[next] = static_cast<std::int32_t>(which);
    if (next == k) return top;
    best[next + 1] = top + arcs[next];
  }
  return kForbidden;  // not reached
}

double score_of_side(const double* pairs, Index k, const double* arcs, const std::uint8_t* chosen) {
  double score = 0.0;
  Index previous = 0;
  for (Index next = 0; next < k; ++next) {
    if (chosen[next] == 0) continue;
    score += pairs[sibling_pair(previous, next)] + arcs[next];
    previous = next + 1;
  }
  return score + pairs[sibling_pair(previous, k)];
}

// Adds to all parts of one head's walk.
class WalkParts {
 public:
  WalkParts(const PartIndex& parts, const PartValues<double>& indicators, double amount)
      : parts_(parts), out_(indicators), amount_(amount) {}

  // `link` is -1 without grandparents.
  void add(Index head, Index link, const std::uint8_t* chosen) const {
    Index first = 0;
    const Index side_length = parts_.n_words() + 1;
    for (const int side : {0, 1}) {
      const auto modifiers = parts_.modifiers(head, side);
      const auto k = static_cast<Index>(modifiers.size());
      Index previous = 0;
      for (Index next = 0; next <= k; ++next) {
        if (next < k && chosen[first + next] == 0) continue;
        step(head, side, link, sibling_pair(previous, next));
        if (next == k) break;
        out_.arcs[head * side_length + modifiers[at(next)]] += amount_;
        if (out_[PartKind::grandparents] != nullptr && link >= 0) {
          out_[PartKind::grandparents][parts_.grandparents_at(link) + first + next] += amount_;
        }
        previous = next + 1;
      }
      first += k;
    }
  }

 private:
  void step(Index head, int side, Index link, Index pair) const {
    if (out_[PartKind::consecutive] != nullptr) {
      out_[PartKind::consecutive][parts_.consecutive_at(head, side) + pair] += amount_;
    }
    if (out_[PartKind::grandsiblings] != nullptr && link >= 0) {
      out_[PartKind::grandsiblings][parts_.grandsiblings_at(link, side, head) + pair] += amount_;
    }
  }

  const PartIndex& parts_;
  const PartValues<double>& out_;
  double amount_;
};

// The arc scores of a head's modifiers, the left ones outwards, then the right.
void arcs_of_head(const PartIndex& parts, const double* arcs, Index head,
                  std::vector<double>& answer) {
  answer.clear();
  for (const int side : {0, 1}) {
    for (const std::int32_t m : parts.modifiers(head, side)) {
      answer.push_back(arcs[head * (parts.n_words() + 1) + m]);
    }
  }
}

// Which of a head's possible modifiers it has in a tree, in the same order.
void modifiers_in_tree(const PartIndex& parts, const std::int32_t* heads, Index head,
                       std::vector<std::uint8_t>& answer) {
  answer.clear();
  for (const int side : {0, 1}) {
    for (const std::int32_t m : parts.modifiers(head, side)) {
      answer.push_back(heads[m - 1] == head ? 1 : 0);
    }
  }
}

double work_of(const PartBatch& parts) {
  const PartBatch::Place& all = parts.place(parts.size());
  return 4.0 * static_cast<double>(all[PartKind::consecutive] + all[PartKind::grandsiblings] +
                                   all[PartKind::grandparents] + 8 * all.arcs);
}

}  // namespace

StepTables::StepTables(const PartIndex& parts, const PartScores& scores, bool grand, Cycles cycles)
    : parts_(&parts), grand_(grand) {
  const Index n = parts.n_words();
  const auto consecutive = [&](Index head, double* to) {
    const Index count = pairs_of_head(parts, head);
    if (scores[PartKind::consecutive] == nullptr) {
      std::fill(to, to + count, 0.0);
    } else {
      std::copy_n(scores[PartKind::consecutive] + parts.consecutive_at(head, 0), count, to);
    }
  };
  if (!grand_) {
    steps_.resize(at(parts.consecutive_at(n, 1) +
                     sibling_pairs(static_cast<Index>(parts.modifiers(n, 1).size()))));
    for (Index h = 0; h <= n; ++h) consecutive(h, steps_.data() + parts.consecutive_at(h, 0));
    return;
  }
  Index total = 0;
  for (Index h = 0; h <= n; ++h) total += parts.links_of(h) * pairs_of_head(parts, h);
  steps_.resize(at(total));
  for (Index h = 0; h <= n; ++h) {
    const auto left = static_cast<Index>(parts.modifiers(h, 0).size());
    for (Index i = 0; i < parts.links_of(h); ++i) {
      const Index link = parts.first_link(h) + i;
      double* to = steps_.data() + parts.grandsiblings_at(link, 0, h);
      consecutive(h, to);
      if (scores[PartKind::grandsiblings] != nullptr) {
        const double* more = scores[PartKind::grandsiblings] + parts.grandsiblings_at(link, 0, h);
        for (Index j = 0; j < pairs_of_head(parts, h); ++j) to[j] += more[j];
      }
      const double* of_modifiers =
          scores[PartKind::grandparents] == nullptr
              ? nullptr
              : scores[PartKind::grandparents] + parts.grandparents_at(link);
      constexpr std::int32_t kNobody = -2;
      const std::int32_t excluded = cycles == Cycles::ignored ? kNobody : parts.grandparent(link);
      add_grandparent(parts.modifiers(h, 0), excluded, of_modifiers, to);
      add_grandparent(parts.modifiers(h, 1), excluded,
                      of_modifiers == nullptr ? nullptr : of_modifiers + left,
                      to + sibling_pairs(left));
    }
  }
}

void StepTables::add(Index head, int side, Automaton automaton) {
  automata_.resize(at(2 * (parts_->n_words() + 1)));
  automata_[at(2 * head + side)] = std::move(automaton);
}

double best_of_side(const StepTables& steps, Index head, Index choice, int side, const double* arcs,
                    double* best, std::int32_t* from) {
  const double* pairs = steps.side(head, choice, side);
  const Automaton* automaton = steps.automaton(head, side);
  if (automaton != nullptr) {
    const bool plain = !steps.grand() && !steps.parts().kinds().has(PartKind::consecutive);
    return automaton->best(plain ? nullptr : pairs, arcs, from);
  }
  return best_side(pairs, static_cast<Index>(steps.parts().modifiers(head, side).size()), arcs,
                   best, from);
}

Walk best_walk(const StepTables& steps, Index head, const double* arcs, const double* links,
               std::uint8_t* chosen, WalkScratch& scratch) {
  const PartIndex& parts = steps.parts();
  const auto left = static_cast<Index>(parts.modifiers(head, 0).size());
  const auto right = static_cast<Index>(parts.modifiers(head, 1).size());
  scratch.best.resize(at(std::max(left, right) + 1));
  scratch.from.resize(at(left + right + 2));
  scratch.kept.resize(at(left + right + 2));
  Walk walk;
  for (Index choice = 0; choice < steps.choices(head); ++choice) {
    double value = links == nullptr ? 0.0 : links[choice];
    if (value == kForbidden) continue;
    value += best_of_side(steps, head, choice, 0, arcs, scratch.best.data(), scratch.from.data());
    value += best_of_side(steps, head, choice, 1, arcs + left, scratch.best.data(),
                          scratch.from.data() + left + 1);
    if (value > walk.value) {
      walk = {value, choice};
      std::swap(scratch.from, scratch.kept);
    }
  }
  std::fill(chosen, chosen + left + right, std::uint8_t{0});
  if (walk.choice < 0) return walk;
  mark_walk(scratch.kept.data(), left, chosen);
  mark_walk(scratch.kept.data() + left + 1, right, chosen + left);
  return walk;
}

double score_of_walk(const StepTables& steps, Index head, Index choice, const double* arcs,
                     const std::uint8_t* chosen) {
  double score = 0.0;
  for (const int side : {0, 1}) {
    const auto k = static_cast<Index>(steps.parts().modifiers(head, side).size());
    score += score_of_side(steps.side(head, choice, side), k, arcs, chosen);
    const Automaton* automaton = steps.automaton(head, side);
    if (automaton != nullptr) score += automaton->score(chosen);
    arcs += k;
    chosen += k;
  }
  return score;
}

double score_of_tree(const StepTables& steps, const double* arcs, const std::int32_t* heads) {
  const PartIndex& parts = steps.parts();
  std::vector<double> of_head;
  std::vector<std::uint8_t> chosen;
  double score = 0.0;
  for (Index h = 0; h <= parts.n_words(); ++h) {
    arcs_of_head(parts, arcs, h, of_head);
    modifiers_in_tree(parts, heads, h, chosen);
    const bool grand = steps.grand() && h > 0;
    const Index choice = grand ? parts.link(heads[h - 1], h) - parts.first_link(h) : 0;
    score += score_of_walk(steps, h, choice, of_head.data(), chosen.data());
  }
  return score;
}

namespace {

// The best walks of one sentence's heads, and the heads that words choose for themselves.
class BestWalks {
 public:
  BestWalks(const PartIndex& parts, const PartScores& scores, const PartValues<double>& indicators)
      : parts_(parts), scores_(scores), out_(indicators), steps_(parts, scores) {}

  double run(bool own_heads) {
    double total = 0.0;
    for (Index h = 0; h <= parts_.n_words(); ++h) {
      links_.clear();
      if (own_heads && h > 0) {
        for (const std::int32_t g : parts_.heads(h)) links_.push_back(scores_.arcs[cell(g, h)]);
      }
      total += head(h);
    }
    return total;
  }

 private:
  double head(Index h) {
    const bool competing = !links_.empty();
    arcs_of_head(parts_, scores_.arcs, h, arcs_);
    chosen_.resize(arcs_.size());
    const double* links = competing && steps_.grand() ? links_.data() : nullptr;
    const Walk walk = best_walk(steps_, h, arcs_.data(), links, chosen_.data(), scratch_);
    if (walk.choice < 0) return walk.value;
    const Index link = steps_.grand() ? parts_.first_link(h) + walk.choice : -1;
    WalkParts(parts_, out_, 1.0).add(h, link, chosen_.data());
    if (!competing) return walk.value;
    const Index own = steps_.grand()
                          ? walk.choice
                          : std::max_element(links_.begin(), links_.end()) - links_.begin();
    out_.arcs[cell(parts_.heads(h)[at(own)], h)] += 1.0;
    return steps_.grand() ? walk.value : walk.value + links_[at(own)];
  }

  Index cell(Index head, Index modifier) const { return head * (parts_.n_words() + 1) + modifier; }

  const PartIndex& parts_;
  const PartScores& scores_;
  const PartValues<double>& out_;
  StepTables steps_;
  std::vector<double> arcs_, links_;
  std::vector<std::uint8_t> chosen_;
  WalkScratch scratch_;
};

// Adds an amount to every part of a tree.
void add_tree(const PartIndex& index, const std::int32_t* heads, double amount,
              const PartValues<double>& out) {
  const WalkParts add(index, out, amount);
  std::vector<std::uint8_t> chosen;
  for (Index h = 0; h <= index.n_words(); ++h) {
    modifiers_in_tree(index, heads, h, chosen);
    const std::int32_t g = h == 0 ? -1 : heads[h - 1];
    add.add(h, index.kinds().grand() ? index.link(g, h) : -1, chosen.data());
  }
  for_each_kind([&](PartKind kind) {  // that no walk has
    if (out[kind] == nullptr || layout_of(kind).in_walks) return;
    std::vector<Index> numbers;
    layout_of(kind).of_tree(index, heads, numbers);
    for (const Index number : numbers) out[kind][number] += amount;
  });
}

void best_of_batch(const PartBatch& parts, const PartScores& scores,
                   const PartValues<double>& indicators, double* values, int threads,
                   bool own_heads) {
  for_each_sentence(parts.size(), threads, work_of(parts), [&](Index i, Workspace&) {
    const PartScores own = scores.of(parts.place(i));
    const PartValues<double> out = indicators.of(parts.place(i));
    values[i] = BestWalks(parts[i], own, out).run(own_heads);
  });
}

}  // namespace

void batch_best_walks(const PartBatch& parts, const PartScores& scores,
                      const PartValues<double>& indicators, double* values, int threads) {
  best_of_batch(parts, scores, indicators, values, threads, false);
}

void batch_best_choices(const PartBatch& parts, const PartScores& scores,
                        const PartValues<double>& indicators, double* values, int threads) {
  best_of_batch(parts, scores, indicators, values, threads, true);
}

void batch_tree_parts(const PartBatch& parts, const PartScores& scores, const TreeLists& trees,
                      const PartValues<double>& indicators, double* values, int threads) {
  std::vector<Index> first_tree, first_head;  // of each sentence
  Index tree = 0, head = 0;
  for (Index i = 0; i < parts.size(); ++i) {
    first_tree.push_back(tree);
    first_head.push_back(head);
    tree += trees.counts[i];
    head += trees.counts[i] * parts[i].n_words();
  }
  for_each_sentence(parts.size(), threads, work_of(parts), [&](Index i, Workspace&) {
    const PartScores own = scores.of(parts.place(i));
    const PartValues<double> out = indicators.of(parts.place(i));
    const std::int32_t* heads = trees.heads + first_head[at(i)];
    for (Index t = first_tree[at(i)]; t < first_tree[at(i)] + trees.counts[i]; ++t) {
      if (trees.amounts[t] != 0.0) add_tree(parts[i], heads, trees.amounts[t], out);
      values[t] = score_of_tree(parts[i], own, heads);
      heads += parts[i].n_words();
    }
  });
}

}  // namespace arbora::inference
