#include "arbora/tree/feasibility.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace arbora {
namespace {

// Marks every word that a path of allowed arcs joins to `start`: from it or, backwards, to it.
enum class Direction { down, up };

std::vector<bool> reach(ArcScores scores, Index start, Direction direction) {
  const Index n = scores.n_words;
  std::vector<bool> seen(static_cast<std::size_t>(n + 1), false);
  std::vector<Index> open{start};
  seen[static_cast<std::size_t>(start)] = true;
  while (!open.empty()) {
    const Index here = open.back();
    open.pop_back();
    for (Index word = 1; word <= n; ++word) {
      if (seen[static_cast<std::size_t>(word)]) continue;
      const bool joined =
          direction == Direction::down ? scores.allows(here, word) : scores.allows(word, here);
      if (!joined) continue;
      seen[static_cast<std::size_t>(word)] = true;
      open.push_back(word);
    }
  }
  return seen;
}

Index first_missing(const std::vector<bool>& seen) {
  for (std::size_t word = 1; word < seen.size(); ++word) {
    if (!seen[word]) return static_cast<Index>(word);
  }
  return 0;
}

// A word that reaches all others over word arcs, if there is one: of the words at which a scan
// finds something new, the last is the only candidate.
std::optional<Index> ancestor_of_all(ArcScores scores) {
  const Index n = scores.n_words;
  std::vector<bool> seen(static_cast<std::size_t>(n + 1), false);
  std::vector<Index> open;
  Index candidate = 1;
  for (Index start = 1; start <= n; ++start) {
    if (seen[static_cast<std::size_t>(start)]) continue;
    candidate = start;
    seen[static_cast<std::size_t>(start)] = true;
    open.push_back(start);
    while (!open.empty()) {
      const Index here = open.back();
      open.pop_back();
      for (Index word = 1; word <= n; ++word) {
        if (seen[static_cast<std::size_t>(word)] || !scores.allows(here, word)) continue;
        seen[static_cast<std::size_t>(word)] = true;
        open.push_back(word);
      }
    }
  }
  if (first_missing(reach(scores, candidate, Direction::down)) != 0) return std::nullopt;
  return candidate;
}

Verdict spanning_verdict(ArcScores scores, Root root) {
  const Index n = scores.n_words;
  for (Index m = 1; m <= n; ++m) {
    Index h = 0;
    while (h <= n && !scores.allows(h, m)) ++h;
    if (h > n) return {Problem::no_head, m};
  }
  if (const Index word = first_missing(reach(scores, 0, Direction::down)); word != 0) {
    return {Problem::unreachable, word};
  }
  if (root == Root::multi) return {};
  const std::vector<bool> roots = possible_single_roots(scores);
  if (std::find(roots.begin(), roots.end(), true) != roots.end()) return {};

  // Name the word that the most capable root word still fails to reach.
  Verdict verdict{Problem::no_root, 1};
  Index most = -1;
  for (Index r = 1; r <= n; ++r) {
    if (!scores.allows(0, r)) continue;
    const std::vector<bool> seen = reach(scores, r, Direction::down);
    const auto reached = static_cast<Index>(std::count(seen.begin(), seen.end(), true));
    if (reached > most) {
      most = reached;
      verdict = {Problem::second_root, first_missing(seen)};
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
  const std::optional<Index> top = ancestor_of_all(scores);
  std::vector<bool> roots(static_cast<std::size_t>(scores.n_words + 1), false);
  if (!top) return roots;
  roots = reach(scores, *top, Direction::up);
  roots[0] = false;
  for (Index r = 1; r <= scores.n_words; ++r) {
    if (!scores.allows(0, r)) roots[static_cast<std::size_t>(r)] = false;
  }
  return roots;
}

Verdict feasibility(ArcScores scores, Trees trees, Root root) {
  const Verdict verdict = spanning_verdict(scores, root);
  if (verdict.problem != Problem::none || trees == Trees::nonprojective) return verdict;
  if (has_projective_tree(scores, root, 0)) return {};
  // Finding the word to name costs one chart per word: not worth minutes on a very long sentence.
  constexpr Index kLongestExplained = 300;
  if (scores.n_words > kLongestExplained) return {Problem::crossing_any, 0};
  for (Index word = 1; word <= scores.n_words; ++word) {
    if (has_projective_tree(scores, root, word)) return {Problem::crossing, word};
  }
  return {Problem::crossing_any, 0};
}

}  // namespace arbora
