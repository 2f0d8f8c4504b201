#include "arbora/tree/feasibility.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "arbora/base/interruption.hpp"

namespace arbora::tree {
namespace {

// A set of words, a bit each.
class WordSet {
 public:
  explicit WordSet(Index n_words) : bits_(static_cast<std::size_t>(n_words / 64 + 1), 0) {}
  bool has(Index word) const { return (bits_[place(word)] >> (word % 64)) & 1U; }
  Index size() const {
    Index count = 0;
    for (const std::uint64_t bits : bits_) count += std::popcount(bits);
    return count;
  }
  void add(Index word) { bits_[place(word)] |= std::uint64_t{1} << (word % 64); }
  // Adds the words of a row of bits; returns the new ones.
  template <class OnNew>
  void add_row(const std::uint64_t* row, OnNew on_new) {
    for (std::size_t w = 0; w < bits_.size(); ++w) {
      for (std::uint64_t fresh = row[w] & ~bits_[w]; fresh != 0; fresh &= fresh - 1) {
        on_new(static_cast<Index>(w) * 64 + std::countr_zero(fresh));
      }
      bits_[w] |= row[w];
    }
  }

 private:
  static std::size_t place(Index word) { return static_cast<std::size_t>(word / 64); }

  std::vector<std::uint64_t> bits_;
};

// The allowed arcs as bits, a row of modifiers for each head or, upwards, of head words for each
// modifier.
enum class Direction { down, up };

class ArcBits {
 public:
  ArcBits(ArcScores scores, Direction direction)
      : n_words_(scores.n_words),
        words_(static_cast<std::size_t>(n_words_ / 64 + 1)),
        rows_(static_cast<std::size_t>(scores.side()) * words_, 0) {
    const bool down = direction == Direction::down;
    for (Index h = down ? 0 : 1; h <= n_words_; ++h) {
      const double* row = scores.row(h);
      for (Index m = 1; m <= n_words_; ++m) {
        const Index from = down ? h : m, to = down ? m : h;
        rows_[static_cast<std::size_t>(from) * words_ + static_cast<std::size_t>(to / 64)] |=
            static_cast<std::uint64_t>(row[m] != kForbidden) << (to % 64);
      }
    }
  }

  // Adds `start`, and every word that a path of allowed arcs joins to it.
  void reach(Index start, WordSet& seen) const {
    std::vector<Index> open{start};
    seen.add(start);
    Polling polling;
    while (!open.empty()) {
      const Index here = open.back();
      open.pop_back();
      polling.after(static_cast<Index>(words_));
      seen.add_row(rows_.data() + static_cast<std::size_t>(here) * words_,
                   [&](Index word) { open.push_back(word); });
    }
  }
  WordSet reach(Index start) const {
    WordSet seen(n_words_);
    reach(start, seen);
    return seen;
  }

 private:
  Index n_words_;
  std::size_t words_;
  std::vector<std::uint64_t> rows_;
};

// The first word that is not in the set, or 0.
Index first_missing(const WordSet& seen, Index n_words) {
  for (Index word = 1; word <= n_words; ++word) {
    if (!seen.has(word)) return word;
  }
  return 0;
}

// A word that reaches all others over word arcs, if there is one: of the words at which a scan
// finds something new, the last is the only candidate.
std::optional<Index> ancestor_of_all(const ArcBits& arcs, Index n_words) {
  WordSet seen(n_words);
  Index candidate = 1;
  for (Index start = 1; start <= n_words; ++start) {
    if (seen.has(start)) continue;
    candidate = start;
    arcs.reach(start, seen);
  }
  if (first_missing(arcs.reach(candidate), n_words) != 0) return std::nullopt;
  return candidate;
}

Verdict spanning_verdict(ArcScores scores, Root root) {
  const Index n = scores.n_words;
  for (Index m = 1; m <= n; ++m) {
    Index h = 0;
    while (h <= n && !scores.allows(h, m)) ++h;
    if (h > n) return {Problem::no_head, m};
  }
  const ArcBits arcs(scores, Direction::down);
  if (const Index word = first_missing(arcs.reach(0), n); word != 0) {
    return {Problem::unreachable, word};
  }
  if (root == Root::multi) return {};
  const std::vector<bool> roots = possible_single_roots(scores);
  if (std::find(roots.begin(), roots.end(), true) != roots.end()) return {};

  // Name the word that the most capable root word still fails to reach.
  Verdict verdict{Problem::no_root, 1};
  Index most = -1;
  Polling polling;
  for (Index r = 1; r <= n; ++r) {
    if (!scores.allows(0, r)) continue;
    polling.after(n * n / 64);
    const WordSet seen = arcs.reach(r);
    if (seen.size() > most) {
      most = seen.size();
      verdict = {Problem::second_root, first_missing(seen, n)};
    }
  }
  return verdict;
}

// Eisner's chart with one bit per item, rows of bits by left end: which spans can be built at all.
class SpanBits {
 public:
  explicit SpanBits(Index n)
      : words_(static_cast<std::size_t>(n / 64 + 1)),
        bits_(static_cast<std::size_t>(n + 2) * words_, 0) {}
  bool get(Index s, Index t) const { return (row(s)[t / 64] >> (t % 64)) & 1U; }
  void set(Index s, Index t) { mutable_row(s)[t / 64] |= std::uint64_t{1} << (t % 64); }
  // Row s of this chart gains the bits after position `after` of another chart's row.
  void gain(Index s, const SpanBits& other, Index other_row, Index after) {
    std::uint64_t* into = mutable_row(s);
    const std::uint64_t* from = other.row(other_row);
    std::size_t w = static_cast<std::size_t>((after + 1) / 64);
    std::uint64_t keep = ~std::uint64_t{0} << ((after + 1) % 64);
    for (; w < words_; ++w, keep = ~std::uint64_t{0}) into[w] |= from[w] & keep;
  }

 private:
  const std::uint64_t* row(Index s) const {
    return bits_.data() + static_cast<std::size_t>(s) * words_;
  }
  std::uint64_t* mutable_row(Index s) {
    return bits_.data() + static_cast<std::size_t>(s) * words_;
  }

  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

// The recursion of eisner.hpp over booleans; `freed` is a word that any head may take, or 0.
bool has_projective_tree(ArcScores scores, Root root, Index freed) {
  const Index n = scores.n_words;
  const auto allows = [&](Index h, Index m) {
    return scores.allows(h, m) || (m == freed && h != m);
  };
  const Index first = root == Root::multi ? 0 : 1;
  SpanBits complete_right(n), complete_left(n), open_left(n), joint(n);
  Polling polling;
  for (Index s = n; s >= first; --s) {
    complete_right.set(s, s);
    complete_left.set(s, s);
    for (Index k = s; k <= n; ++k) {
      bool open_right = false;
      if (k > s && joint.get(s, k)) {
        open_right = allows(s, k);
        if (open_right) complete_right.set(s, k);
        if (s >= 1 && allows(k, s)) {
          open_left.set(s, k);
          complete_left.set(s, k);
        }
      }
      if (k == n) break;
      polling.after(10 + (n - k) / 16);
      if (complete_right.get(s, k)) joint.gain(s, complete_left, k + 1, k);
      if (open_right) complete_right.gain(s, complete_right, k, k);
      if (k > s && complete_left.get(s, k)) complete_left.gain(s, open_left, k, k);
    }
  }
  if (root == Root::multi) return complete_right.get(0, n);
  for (Index r = 1; r <= n; ++r) {
    if (allows(0, r) && complete_left.get(1, r) && complete_right.get(r, n)) return true;
  }
  return false;
}

}  // namespace

std::vector<bool> possible_single_roots(ArcScores scores) {
  const Index n = scores.n_words;
  const std::optional<Index> top = ancestor_of_all(ArcBits(scores, Direction::down), n);
  std::vector<bool> roots(static_cast<std::size_t>(n + 1), false);
  if (!top) return roots;
  const WordSet above = ArcBits(scores, Direction::up).reach(*top);
  for (Index r = 1; r <= n; ++r) {
    roots[static_cast<std::size_t>(r)] = above.has(r) && scores.allows(0, r);
  }
  return roots;
}

// The arc h -> m is in a tree if a path leads from the root to h without passing m: the words that
// are only reachable through m become its descendants.
std::vector<bool> possible_spanning_arcs(ArcScores scores, Root root,
                                         std::span<const Index> modifiers) {
  const Index n = scores.n_words, side = scores.side();
  const ArcBits arcs(scores, Direction::down);
  const std::vector<bool> roots =
      root == Root::single ? possible_single_roots(scores) : std::vector<bool>();
  std::vector<bool> possible(static_cast<std::size_t>(side * side), false);
  for (const Index m : modifiers) {
    WordSet seen(n);
    seen.add(m);
    if (root == Root::multi) arcs.reach(0, seen);
    for (Index r = 1; root == Root::single && r <= n; ++r) {
      if (roots[static_cast<std::size_t>(r)] && !seen.has(r)) arcs.reach(r, seen);
    }
    const bool of_root = root == Root::multi || roots[static_cast<std::size_t>(m)];
    for (Index h = 0; h <= n; ++h) {
      const bool reached = h == 0 ? of_root : h != m && seen.has(h);
      possible[static_cast<std::size_t>(h * side + m)] = reached && scores.allows(h, m);
    }
  }
  return possible;
}

Verdict feasibility(ArcScores scores, Trees trees, Root root) {
  const Verdict verdict = spanning_verdict(scores, root);
  if (verdict.problem != Problem::none || trees == Trees::nonprojective) return verdict;
  if (has_projective_tree(scores, root, 0)) return {};
  // Finding the word to name costs one chart per word: too slow for very long sentences.
  constexpr Index kLongestExplained = 300;
  if (scores.n_words > kLongestExplained) return {Problem::crossing_any, 0};
  for (Index word = 1; word <= scores.n_words; ++word) {
    if (has_projective_tree(scores, root, word)) return {Problem::crossing, word};
  }
  return {Problem::crossing_any, 0};
}

}  // namespace arbora::tree
