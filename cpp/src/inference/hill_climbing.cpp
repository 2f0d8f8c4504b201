#include "arbora/inference/hill_climbing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "arbora/base/parallel.hpp"
#include "arbora/inference/best_tree.hpp"
#include "arbora/inference/level_arcs.hpp"
#include "arbora/inference/sums.hpp"

namespace arbora::inference {
namespace {

double largest_score(const PartIndex& parts, const PartScores& scores) {
  double largest = 0.0;
  const auto look = [&](const double* values, Index count) {
    if (values == nullptr) return;
    for (Index i = 0; i < count; ++i) {
      if (values[i] != kForbidden) largest = std::max(largest, std::abs(values[i]));
    }
  };
  look(scores.arcs, (parts.n_words() + 1) * (parts.n_words() + 1));
  for_each_kind([&](PartKind kind) { look(scores[kind], parts.count(kind)); });
  return largest;
}

// The score of the step s -> m -> t of a path in place of s -> t.
double detour(const double* pairs, Index s, Index m, Index t) {
  return pairs[sibling_pair(s, m)] + pairs[sibling_pair(m + 1, t)] - pairs[sibling_pair(s, t)];
}

}  // namespace

HillClimber::HillClimber(const PartIndex& parts, const PartScores& scores, Trees trees, Root root)
    : parts_(parts), scores_(scores), trees_(trees), root_(root) {
  // Gains are sums of some 4n terms; their rounding errors stay below this.
  const auto n = static_cast<double>(parts.n_words());
  least_gain_ = 1e-14 * n * n * largest_score(parts, scores);
}

double HillClimber::choice(Index word, Index head) const {
  double total = scores_.arcs[head * (parts_.n_words() + 1) + word] + among_modifiers(head, word);
  if (parts_.kinds().grand()) total += under(parts_.link(head, word), word);
  return total;
}

// The score that a modifier adds to a head's parts, given the head's other modifiers.
double HillClimber::among_modifiers(Index head, Index modifier) const {
  const PartKinds kinds = parts_.kinds();
  double total = 0.0;
  const int side = modifier > head ? 1 : 0;
  const auto possible = parts_.modifiers(head, side);
  const Index place = parts_.place(head, modifier);
  const Index link = kinds.grand() ? parts_.link(head_of(head), head) : -1;
  if (kinds.has(PartKind::consecutive) || kinds.has(PartKind::grandsiblings)) {
    Index before = place - 1, after = place + 1;
    while (before >= 0 && heads_[at(possible[at(before)] - 1)] != head) --before;
    const auto end = static_cast<Index>(possible.size());
    while (after < end && heads_[at(possible[at(after)] - 1)] != head) ++after;
    if (kinds.has(PartKind::consecutive)) {
      const double* pairs = scores_[PartKind::consecutive] + parts_.consecutive_at(head, side);
      total += detour(pairs, before + 1, place, after);
    }
    if (kinds.has(PartKind::grandsiblings)) {
      const double* pairs =
          scores_[PartKind::grandsiblings] + parts_.grandsiblings_at(link, side, head);
      total += detour(pairs, before + 1, place, after);
    }
  }
  if (kinds.has(PartKind::grandparents)) {
    const Index left = side == 0 ? 0 : static_cast<Index>(parts_.modifiers(head, 0).size());
    total += scores_[PartKind::grandparents][parts_.grandparents_at(link) + left + place];
  }
  if (kinds.has(PartKind::siblings)) total += sibling_scores(head, modifier);
  return total;
}

double HillClimber::sibling_scores(Index head, Index modifier) const {
  const double* pairs = scores_[PartKind::siblings] + parts_.siblings_at(head);
  const auto left = parts_.modifiers(head, 0), right = parts_.modifiers(head, 1);
  const auto n_left = static_cast<Index>(left.size());
  const Index place = parts_.place(head, modifier);
  const Index rank = modifier < head ? n_left - 1 - place : n_left + place;
  double total = 0.0;
  const auto add = [&](std::int32_t other, Index other_rank) {
    if (other == modifier || heads_[at(other - 1)] != head) return;
    const Index i = std::min(rank, other_rank), j = std::max(rank, other_rank);
    total += pairs[j * (j - 1) / 2 + i];
  };
  for (Index k = 0; k < n_left; ++k) add(left[at(k)], n_left - 1 - k);
  for (Index k = 0; k < static_cast<Index>(right.size()); ++k) add(right[at(k)], n_left + k);
  return total;
}

// The parts of a head's modifiers that depend on the head's own head.
double HillClimber::under(Index link, Index head) const {
  const PartKinds kinds = parts_.kinds();
  double total = 0.0;
  Index left = 0;
  for (const int side : {0, 1}) {
    const auto possible = parts_.modifiers(head, side);
    const auto end = static_cast<Index>(possible.size());
    const double* of_modifiers =
        kinds.has(PartKind::grandparents)
            ? scores_[PartKind::grandparents] + parts_.grandparents_at(link) + left
            : nullptr;
    const double* pairs =
        kinds.has(PartKind::grandsiblings)
            ? scores_[PartKind::grandsiblings] + parts_.grandsiblings_at(link, side, head)
            : nullptr;
    Index previous = 0;
    for (Index j = 0; j < end; ++j) {
      if (heads_[at(possible[at(j)] - 1)] != head) continue;
      if (of_modifiers != nullptr) total += of_modifiers[j];
      if (pairs != nullptr) total += pairs[sibling_pair(previous, j)];
      previous = j + 1;
    }
    if (pairs != nullptr) total += pairs[sibling_pair(previous, end)];
    left += end;
  }
  return total;
}

bool HillClimber::is_below(Index word, Index above) const {
  while (word != 0 && word != above) word = heads_[at(word - 1)];
  return word == above;
}

bool HillClimber::crosses(Index word, Index head) const {
  const Index a = std::min(word, head), b = std::max(word, head);
  for (Index m = 1; m <= parts_.n_words(); ++m) {
    if (m == word) continue;
    const Index h = heads_[at(m - 1)], c = std::min(m, h), d = std::max(m, h);
    if ((a < c && c < b && b < d) || (c < a && a < d && d < b)) return true;
  }
  return false;
}

bool HillClimber::allows(Index word, Index head) const {
  return !is_below(head, word) && (trees_ == Trees::nonprojective || !crosses(word, head));
}

Index HillClimber::root_word() const {
  return std::find(heads_.begin(), heads_.end(), 0) - heads_.begin() + 1;
}

HeadChange HillClimber::best_change(Index word) {
  HeadChange best{.word = word};
  const std::int32_t old = head_of(word);
  const double now = choice(word, old);
  for (const std::int32_t head : parts_.heads(word)) {
    if (head == old || !allows(word, head)) continue;
    const double gain = choice(word, head) - now;
    if (head == 0 && root_ == Root::single) {
      consider_root(word, gain, best);
    } else if (gain > best.gain) {
      best = {.word = word, .head = head, .gain = gain};
    }
  }
  return best;
}

// The gain of making the word the root and attaching the old root to its best head.
void HillClimber::consider_root(Index word, double gain, HeadChange& best) {
  const Index old_root = root_word();
  const std::int32_t old = std::exchange(heads_[at(word - 1)], 0);
  const double now = choice(old_root, 0);
  for (const std::int32_t head : parts_.heads(old_root)) {
    if (head == 0 || !allows(old_root, head)) continue;
    const double both = gain + choice(old_root, head) - now;
    if (both > best.gain) {
      best = {.word = word, .head = 0, .old_root = old_root, .root_head = head, .gain = both};
    }
  }
  heads_[at(word - 1)] = old;
}

void HillClimber::apply(const HeadChange& change) {
  heads_[at(change.word - 1)] = change.head;
  if (change.old_root != 0) heads_[at(change.old_root - 1)] = change.root_head;
}

void HillClimber::climb() {
  while (true) {
    HeadChange best;
    for (Index m = 1; m <= parts_.n_words(); ++m) {
      const HeadChange change = best_change(m);
      if (change.gain > best.gain) best = change;
    }
    if (best.gain <= least_gain_) return;
    apply(best);
  }
}

void HillClimber::sweep() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Index word : from_leaves()) {
      const HeadChange change = best_change(word);
      if (change.gain <= least_gain_) continue;
      apply(change);
      changed = true;
    }
  }
}

// The words, the deepest first.
std::vector<Index> HillClimber::from_leaves() const {
  std::vector<Index> words(heads_.size()), depth(heads_.size() + 1, 0);
  std::iota(words.begin(), words.end(), 1);
  for (const Index word : words) {
    for (Index above = word; above != 0; above = heads_[at(above - 1)]) ++depth[at(word)];
  }
  std::stable_sort(words.begin(), words.end(),
                   [&](Index a, Index b) { return depth[at(a)] > depth[at(b)]; });
  return words;
}

namespace {

PartScores with_arcs(PartScores scores, const double* arcs) {
  scores.arcs = arcs;
  return scores;
}

// The best tree of a sentence that was found, and its score.
struct Found {
  std::vector<std::int32_t> heads;
  double score = kForbidden;

  // Whether the candidate is better, and the new best.
  bool take(const std::vector<std::int32_t>& candidate, double its_score) {
    if (its_score <= score) return false;
    heads = candidate;
    score = its_score;
    return true;
  }
};

void first_tree(ArcScores arcs, const ClimbOptions& options, std::int32_t* heads,
                Workspace& workspace) {
  if (best_projective_tree(arcs, options.root, heads, workspace)) return;
  if (options.trees == Trees::nonprojective &&
      best_spanning_tree(arcs, options.root, heads, workspace)) {
    return;
  }
  throw std::logic_error("a sentence without a tree was not caught before");
}

// Starts once more from trees of the first-order model.
void restart(const PartIndex& parts, const PartScores& scores, const ClimbOptions& options,
             Index sentence, HillClimber& climber, Found& best, Workspace& workspace) {
  const Index n = parts.n_words();
  std::vector<std::int32_t> drawn(static_cast<std::size_t>(n * options.restarts));
  const auto sample = options.trees == Trees::projective ? projective_sample : spanning_sample;
  const DrawKey key{options.seed, static_cast<std::uint64_t>(sentence)};
  sample({scores.arcs, n}, options.root, key, options.restarts, drawn.data(), workspace);
  Index in_vain = 0;
  for (Index i = 0; i < options.restarts && in_vain < options.patience; ++i) {
    climber.start(drawn.data() + i * n);
    climber.sweep();
    const double score = score_of_tree(parts, scores, climber.heads().data());
    in_vain = best.take(climber.heads(), score) ? 0 : in_vain + 1;
  }
}

}  // namespace

void batch_climb(const PartBatch& parts, const PartScores& scores, const ClimbOptions& options,
                 bool given, std::int32_t* heads, double* score) {
  double work = 0.0;
  for (Index i = 0; i < parts.size(); ++i) {
    const auto arcs = static_cast<double>(parts[i].n_arcs());
    work += arcs * arcs * static_cast<double>(1 + options.restarts);
  }
  for_each_sentence(parts.size(), options.threads, work, [&](Index i, Workspace& workspace) {
    const PartIndex& sentence = parts[i];
    const PartScores own = scores.of(parts.place(i));
    std::int32_t* answer = heads + parts.place(i).words;
    const LevelArcs level(sentence, own.arcs);
    const PartScores seen = with_arcs(own, level.scores());
    if (!given) first_tree({seen.arcs, sentence.n_words()}, options, answer, workspace);
    Found best;
    HillClimber climber(sentence, seen, options.trees, options.root);
    climber.start(answer);
    best.take(climber.heads(), score_of_tree(sentence, seen, answer));
    climber.climb();
    best.take(climber.heads(), score_of_tree(sentence, seen, climber.heads().data()));
    if (options.restarts > 0) restart(sentence, seen, options, i, climber, best, workspace);
    std::copy(best.heads.begin(), best.heads.end(), answer);
    score[i] = score_of_tree(sentence, own, answer);
  });
}

void head_changes(const PartIndex& parts, const PartScores& scores, Trees trees, Root root,
                  const std::int32_t* heads, double* gains) {
  const LevelArcs level(parts, scores.arcs);
  HillClimber climber(parts, with_arcs(scores, level.scores()), trees, root);
  climber.start(heads);
  const Index side = parts.n_words() + 1;
  std::fill(gains, gains + side * side, kForbidden);
  for (Index m = 1; m < side; ++m) {
    const double now = climber.choice(m, heads[m - 1]);
    for (const std::int32_t h : parts.heads(m)) {
      if (h == heads[m - 1] || !climber.allows(m, h)) continue;
      if (root == Root::single && h == 0) continue;
      gains[h * side + m] = climber.choice(m, h) - now;
    }
  }
}

}  // namespace arbora::inference
