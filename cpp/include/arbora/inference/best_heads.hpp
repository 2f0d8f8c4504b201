// The best head of every word, independently, vectorised: the start of the search for a best
// spanning tree.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "arbora/base/pack.hpp"
#include "arbora/tree/arc_scores.hpp"

namespace arbora::inference {

// A row of candidate arcs against the best so far, four positions at a time. An arc's two ends are
// `here` and the position in the row; of equal scores the shorter arc wins, then the earlier.
ARBORA_INLINE void keep_better_step(Pack score, Pack end, Pack position, double* best_score,
                                    double* best_end) {
  const Pack old_score = load_pack(best_score), old_end = load_pack(best_end);
  const Pack length = magnitude(end - position), old_length = magnitude(old_end - position);
  store_pack(best_score, where_better(score, old_score, length, old_length, score, old_score));
  store_pack(best_end, where_better(score, old_score, length, old_length, end, old_end));
}

ARBORA_INLINE Pack positions(Index first) {
  const auto x = static_cast<double>(first);
  return Pack{x, x + 1, x + 2, x + 3};
}

// The best heads of 4 * packs words on one side of them, kept in registers while the loop runs over
// heads.
template <int packs>
struct BestHeads {
  Pack score[packs], head[packs];

  ARBORA_INLINE BestHeads() {
    for (int i = 0; i < packs; ++i) {
      score[i] = splat(kForbidden);
      head[i] = splat(0.0);
    }
  }
};

// The best head of every word in a block of columns among first_head..n. Heads to the left of a
// word come nearer as the loop runs, so the later of equals is kept; on the right, the earlier.
template <int packs>
ARBORA_INLINE void best_heads_of(ArcScores scores, Index first_head, Index column, double* best,
                                 double* head) {
  constexpr Index width = packs * kPackWidth;
  BestHeads<packs> left, right;
  const auto offer_left = [&](int i, Pack score, Pack h) {
    left.head[i] = where_below(score, left.score[i], left.head[i], h);
    left.score[i] = larger(score, left.score[i]);
  };
  const auto offer_right = [&](int i, Pack score, Pack h) {
    right.head[i] = where_below(right.score[i], score, h, right.head[i]);
    right.score[i] = larger(score, right.score[i]);
  };
  const auto each = [&](Index from, Index to, const auto& offer) {
    for (Index h = from; h < to; ++h) {
      const double* row = scores.row(h) + column;
      for (int i = 0; i < packs; ++i) {
        offer(i, load_pack(row + i * kPackWidth), splat(static_cast<double>(h)));
      }
    }
  };
  each(first_head, column, offer_left);
  for (int on_diagonal = 0; on_diagonal < packs; ++on_diagonal) {
    const Index start = column + on_diagonal * kPackWidth;
    each(std::max(first_head, start), start + kPackWidth, [&](int i, Pack score, Pack h) {
      if (i > on_diagonal) return offer_left(i, score, h);
      if (i < on_diagonal) return offer_right(i, score, h);
      const Pack words = positions(start), none = splat(kForbidden);
      offer_left(i, where_below(h, words, score, none), h);
      offer_right(i, where_below(words, h, score, none), h);
    });
  }
  each(column + width, scores.side(), offer_right);
  for (int i = 0; i < packs; ++i) {
    const Index at = column + i * kPackWidth;
    store_pack(best + at, left.score[i]);
    store_pack(head + at, left.head[i]);
    keep_better_step(right.score[i], right.head[i], positions(at), best + at, head + at);
  }
}

template <int packs>
ARBORA_INLINE void best_heads_in_blocks(ArcScores scores, Index first_head, double* best,
                                        double* head) {
  constexpr Index width = packs * kPackWidth;
  const Index side = scores.side();
  for (Index column = 0; column < side; column += width) {
    // The last block overlaps the one before, to stay within the row.
    best_heads_of<packs>(scores, first_head, std::min(column, side - width), best, head);
  }
}

// The best head of every word among first_head..n: score, then nearness, then the smaller index.
// best and head have room for whole packs.
ARBORA_INLINE void find_best_heads(ArcScores scores, Index first_head, double* best, double* head) {
  const Index side = scores.side();
  if (side >= 4 * kPackWidth) return best_heads_in_blocks<4>(scores, first_head, best, head);
  if (side >= kPackWidth) return best_heads_in_blocks<1>(scores, first_head, best, head);
  for (Index m = 1; m < side; ++m) {
    best[m] = kForbidden;
    head[m] = static_cast<double>(first_head);
    for (Index h = first_head; h < side; ++h) {
      const bool nearer = std::abs(h - m) < std::abs(static_cast<Index>(head[m]) - m);
      if (scores(h, m) < best[m] || (scores(h, m) == best[m] && !nearer)) continue;
      best[m] = scores(h, m);
      head[m] = static_cast<double>(h);
    }
  }
}

}  // namespace arbora::inference
