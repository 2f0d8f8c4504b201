// The feature templates of head bigrams (Martins et al. 2013). Letters: m the word, b the word
// before it, h the head of m, k the head of b.
//
// Variants: how the two arcs lie to each other, and the directions and rough distances of both.
#pragma once

#include "arbora/features/part_templates.hpp"

namespace arbora::features {

// How the heads of two neighbours lie: one head for both, one word the head of the other, the later
// word's head outside or inside the earlier arc.
inline std::uint32_t bigram_relation(Index before, Index modifier, Index head) {
  if (before == head) return 0U;
  if (before == modifier) return 1U;
  if (head == modifier - 1) return 2U;
  const bool left = before < modifier - 1, also_left = head < modifier;
  if (left != also_left) return left ? 3U : 4U;  // away from each other, or arcs that cross
  return head < before ? 5U : 6U;                // nested, or crossing
}

inline PartVariants bigram_variants(Index before, Index modifier, Index head) {
  const std::uint32_t left = before < modifier - 1 ? 1U : 0U, also_left = head < modifier ? 1U : 0U;
  const bool near = distance_bin(before, modifier - 1) <= 1U && distance_bin(head, modifier) <= 1U;
  return {bigram_relation(before, modifier, head),
          7U + 4U * left + 2U * also_left + (near ? 0U : 1U)};
}

template <class Words, class Sink>
void plain_bigram_templates(const Words& s, Index before, Index modifier, Index head, Sink& f) {
  const auto &k = s[before], &b = s[modifier - 1], &m = s[modifier], &h = s[head];
  f("BIGRAM kp hp", k.fine, h.fine);
  f("BIGRAM kp bp hp", k.fine, b.fine, h.fine);
  f("BIGRAM kp mp hp", k.fine, m.fine, h.fine);
  f("BIGRAM bp mp", b.fine, m.fine);
  f("BIGRAM kp bp mp hp", k.fine, b.fine, m.fine, h.fine);
  f("BIGRAM kw bp mp hp", k.form, b.fine, m.fine, h.fine);
  f("BIGRAM kp bw mp hp", k.fine, b.form, m.fine, h.fine);
  f("BIGRAM kp bp mw hp", k.fine, b.fine, m.form, h.fine);
  f("BIGRAM kp bp mp hw", k.fine, b.fine, m.fine, h.form);
}

template <class Atom, class Sink>
void bigram_templates(const FeatureSet& set, const Sentence<Atom>& s, Index before, Index modifier,
                      Index head, Sink& f) {
  in_every_grain(set, s, f, [&](const auto& words, auto& names) {
    plain_bigram_templates(words, before, modifier, head, names);
  });
  if (!set.is_rich()) return;
  const Word<Atom>&k = s[before], &b = s[modifier - 1], &m = s[modifier], &h = s[head];
  f("BIGRAM bw mw", b.form, m.form);
  f("BIGRAM bp mw", b.fine, m.form);
  f("BIGRAM bw mp", b.form, m.fine);
  f("BIGRAM kw hw", k.form, h.form);
  f("BIGRAM bp mp mp+1", b.fine, m.fine, s[modifier + 1].fine);
  f("BIGRAM bp-1 bp mp", s[modifier - 2].fine, b.fine, m.fine);
  if (set.columns.two_tags()) f("BIGRAM kc bc mc hc", k.coarse, b.coarse, m.coarse, h.coarse);
  if (set.columns.lemma) {
    f("BIGRAM kl bc mc hc", k.lemma, b.coarse, m.coarse, h.coarse);
    f("BIGRAM kc bc mc hl", k.coarse, b.coarse, m.coarse, h.lemma);
  }
}

}  // namespace arbora::features
