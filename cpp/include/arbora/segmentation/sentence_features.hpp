// Features of the place between two tokens: does a sentence end here?
#pragma once

#include <algorithm>
#include <span>

#include "arbora/segmentation/boundary_features.hpp"

namespace arbora::segmentation {

struct Token {
  Index begin, end;  // characters
};

// How two tokens are separated. Without line ends in the training data, line ends are spaces.
enum class Gap : std::uint8_t { none, space, line, paragraph };

// What features see of a token.
struct TokenAtoms {
  std::uint64_t form = 0, shape = 0, first = 0, last = 0, suffix = 0, length = 0;
  std::uint64_t capital = 0;  // 1: a capital first, but usually small; 2: a capital; 0: none
  Gap gap = Gap::paragraph;   // after it
};
// Those of token t, or of an edge.
const TokenAtoms& atoms_at(std::span<const TokenAtoms> atoms, Index t);
TokenAtoms token_atoms(const Characters& text, Token token, const Lexicon& lexicon, int part);

// The gap after a token, from its end to the beginning of the next, or the end of the text.
Gap gap_after(const Characters& text, Index end, Index next, bool lines_matter);

// What is known of the sentence so far: since its first token `start`, up to token `t`.
struct SoFar {
  int open_brackets = 0;
  bool open_quote = false;
  void add(const Characters& text, Token token);
};

inline std::uint64_t length_bucket(Index n) {
  return n < 4    ? static_cast<std::uint64_t>(n)
         : n < 8  ? 4
         : n < 16 ? 5
         : n < 32 ? 6
         : n < 64 ? 7
                  : 8;
}

// Tokens of a paragraph from `start`, the first of the sentence; t is not the last token.
template <class Take>
void sentence_features(std::span<const TokenAtoms> tokens, Index start, Index t,
                       const SoFar& so_far, Take take) {
  static const TokenAtoms kEdge;
  const auto token = [&](Index k) -> const TokenAtoms& {
    return k < 0 || k >= static_cast<Index>(tokens.size()) ? kEdge : tokens[at(k)];
  };
  const auto key = [&](const features::Template& of, auto... atoms) {
    take(features::key_of(of, atoms...));
  };
  const TokenAtoms &p2 = token(t - 2), &p = token(t - 1), &a = token(t), &b = token(t + 1),
                   &b2 = token(t + 2);
  const auto gap = static_cast<std::uint64_t>(a.gap);
  const auto before = static_cast<std::uint64_t>(p.gap), after = static_cast<std::uint64_t>(b.gap);
  const std::uint64_t length = length_bucket(t + 1 - start);
  const std::uint64_t open =
      (so_far.open_quote ? 1u : 0u) + 2u * static_cast<unsigned>(std::min(so_far.open_brackets, 2));
  key("bias");
  key("a", a.form);
  key("b", b.form);
  key("a gap", a.form, gap);
  key("a b", a.form, b.form);
  key("p a", p.form, a.form, b.first);
  key("p2 p a", p2.form, p.form, a.form);
  key("b b2", b.form, b2.form, gap);
  key("a bs", a.form, b.shape, gap);
  key("as bs", a.shape, b.shape, gap);
  key("as b", a.shape, b.form, gap);
  key("ps as bs", p.shape, a.shape, b.shape, gap);
  key("ps a bs", p.shape, a.form, b.shape, gap);
  key("p a bs", p.form, a.form, b.shape);
  key("ps as bs b2s", p.shape, a.shape, b.shape, b2.shape, gap);
  key("as bs b2s", a.shape, b.shape, b2.shape);
  key("a bs b2s", a.form, b.shape, b2.shape, gap);
  key("suffix", a.suffix, b.first, gap);
  key("a length", a.form, a.length, p.length);
  key("gaps", before, gap, after, a.last, b.first);
  key("last first", a.last, b.first, gap, after);
  key("a first2", a.form, b.first, b2.first, after);
  key("so far", length, a.last, b.first);
  key("so far a", length, a.form, b.first);
  key("capitals", a.capital, b.capital, gap, a.last);
  key("a capital", a.form, b.capital, gap);
  key("suffix capital", a.suffix, b.capital, gap);
  key("four capitals", p.capital, a.capital, b.capital, b2.capital, gap, a.last);
  key("capital so far", length, a.last, b.capital, gap);
  key("p a b", p.form, a.form, b.form);
  key("open", open, a.form, b.first);
  key("open gap", open, gap, a.last, b.form);
}

}  // namespace arbora::segmentation
