// The feature templates of parts of second order (Carreras 2007; Martins et al. 2013), written once
// for all sinks as in arc_templates.hpp. Letters: g the head's head, h head, s the sibling before
// m, m modifier.
//
// Every feature fires twice, with each of the part's two variants, which the sink adds: siblings
// with their direction, and with direction and distance; grandparents with where the three words
// stand, and with the distance of the modifier. The templates of Carreras (2007) fire once, without
// distances.
#pragma once

#include "arbora/features/arc_templates.hpp"
#include "arbora/features/carreras_templates.hpp"

namespace arbora::features {

// Both below kVariants, so that a feature's twins lie in one line of memory.
struct PartVariants {
  std::uint32_t first = 0, second = 0;
};

inline std::uint32_t distance_bin(Index a, Index b) {
  const Index distance = std::abs(a - b);
  return distance <= 1 ? 0U : distance <= 2 ? 1U : distance <= 5 ? 2U : distance <= 10 ? 3U : 4U;
}

// `inner` is the previous sibling, or the head for START.
inline PartVariants sibling_variants(Index head, Index inner, Index modifier) {
  const std::uint32_t right = modifier > head ? 1U : 0U;
  return {1U + right, 4U + 5U * right + distance_bin(inner, modifier)};
}

// Of any two modifiers, the nearer first if they are on one side of the head; with the head between
// them they are neither left nor right of it, and their distance is rough.
inline PartVariants pair_variants(Index head, Index nearer, Index modifier) {
  if ((nearer < head) == (modifier < head)) return sibling_variants(head, nearer, modifier);
  return {3U, 14U + (distance_bin(nearer, modifier) > 2U ? 1U : 0U)};
}

// For steps that end a side: no distance.
inline PartVariants end_variants(int side) {
  return {1U + static_cast<std::uint32_t>(side), 14U + static_cast<std::uint32_t>(side)};
}

inline PartVariants grandparent_variants(Index grand, Index head, Index modifier) {
  const std::uint32_t outer = grand < head ? 0U : 1U;
  const std::uint32_t place = modifier < std::min(grand, head)   ? 0U
                              : modifier > std::max(grand, head) ? 2U
                                                                 : 1U;
  const std::uint32_t right = modifier > head ? 1U : 0U;
  return {1U + 3U * outer + place, 8U + 4U * right + std::min(3U, distance_bin(head, modifier))};
}

// Three words together: all mixtures of words and tags, and one neighbour's tag of each word. The
// names say which three.
struct TripleNames {
  Template ppp, wpp, pwp, ppw, wwp, wpw, pww, pairs_pp, pairs_wp, pairs_pw, pairs_ww, context[6],
      ccc, lcc, clc, ccl, lcl, feats_a, feats_b, atoms, atom_p, atom_c, atom_pair;
};

// The atoms of FEATS of `pair` and of `c` (see triple_templates), alone and together.
template <class Atom, class Sink>
void inflection_templates(const Sentence<Atom>& s, const TripleNames& names, Index ia, Index ib,
                          Index ic, Index pair, Sink& f) {
  const Word<Atom>&a = s[ia], &b = s[ib], &c = s[ic], &third = s[pair == ia ? ib : ia];
  for (const Morph<Atom>& one : s.morphs(pair)) {
    f(names.atom_p, a.coarse, b.coarse, c.coarse, one.atom);
    for (const Morph<Atom>& other : s.morphs(ic)) {
      f(names.atom_pair, third.coarse, one.atom, other.atom);
    }
  }
  for (const Morph<Atom>& other : s.morphs(ic)) {
    f(names.atom_c, a.coarse, b.coarse, c.coarse, other.atom);
  }
}

// `a b c`; the pair features are of the two words that no arc joins: a and c for grandparents, b
// and c for siblings (where a is the head).
template <class Atom, class Sink>
void triple_templates(const FeatureSet& set, const Sentence<Atom>& s, const TripleNames& names,
                      Index ia, Index ib, Index ic, Index pair, Sink& f) {
  const Word<Atom>&a = s[ia], &b = s[ib], &c = s[ic], &p = s[pair];
  f(names.ppp, a.fine, b.fine, c.fine);
  f(names.wpp, a.form, b.fine, c.fine);
  f(names.pwp, a.fine, b.form, c.fine);
  f(names.ppw, a.fine, b.fine, c.form);
  f(names.pairs_pp, p.fine, c.fine);
  f(names.pairs_wp, p.form, c.fine);
  f(names.pairs_pw, p.fine, c.form);
  f(names.pairs_ww, p.form, c.form);
  f(names.context[0], a.fine, b.fine, c.fine, s[ia - 1].fine);
  f(names.context[1], a.fine, b.fine, c.fine, s[ia + 1].fine);
  f(names.context[2], a.fine, b.fine, c.fine, s[ib - 1].fine);
  f(names.context[3], a.fine, b.fine, c.fine, s[ib + 1].fine);
  f(names.context[4], a.fine, b.fine, c.fine, s[ic - 1].fine);
  f(names.context[5], a.fine, b.fine, c.fine, s[ic + 1].fine);
  if (!set.is_rich()) return;
  f(names.wwp, a.form, b.form, c.fine);
  f(names.wpw, a.form, b.fine, c.form);
  f(names.pww, a.fine, b.form, c.form);
  if (set.columns.lemma) {
    f(names.lcc, a.lemma, b.coarse, c.coarse);
    f(names.clc, a.coarse, b.lemma, c.coarse);
    f(names.ccl, a.coarse, b.coarse, c.lemma);
    f(names.lcl, p.lemma, c.lemma);
  }
  if (set.columns.two_tags()) f(names.ccc, a.coarse, b.coarse, c.coarse);
  if (set.columns.feats) {
    f(names.feats_a, a.coarse, b.coarse, c.coarse, c.feats);
    f(names.feats_b, p.coarse, p.feats, c.coarse, c.feats);
    for (const Morph<Atom>& one : s.morphs(pair)) {
      for (const Morph<Atom>& other : s.morphs(ic)) {
        if (hash_of(one.attribute) != hash_of(other.attribute)) continue;
        const std::uint64_t agrees = hash_of(one.atom) == hash_of(other.atom) ? 1 : 0;
        f(names.atoms, one.attribute, agrees, p.coarse, c.coarse);
      }
    }
  }
  if (set.looks_at_inflection()) inflection_templates(s, names, ia, ib, ic, pair, f);
}

inline constexpr TripleNames kGrandparentNames{"gp hp mp",
                                               "gw hp mp",
                                               "gp hw mp",
                                               "gp hp mw",
                                               "gw hw mp",
                                               "gw hp mw",
                                               "gp hw mw",
                                               "gp mp",
                                               "gw mp",
                                               "gp mw",
                                               "gw mw",
                                               {"gp hp mp gp-1", "gp hp mp gp+1", "gp hp mp hp-1",
                                                "gp hp mp hp+1", "gp hp mp mp-1", "gp hp mp mp+1"},
                                               "gc hc mc",
                                               "gl hc mc",
                                               "gc hl mc",
                                               "gc hc ml",
                                               "gl ml",
                                               "gc hc mc mf",
                                               "gc gf mc mf",
                                               "g m agreement",
                                               "gc hc mc ga",
                                               "gc hc mc ma",
                                               "hc ga ma"};

inline constexpr TripleNames kSiblingNames{"hp sp mp",
                                           "hw sp mp",
                                           "hp sw mp",
                                           "hp sp mw",
                                           "hw sw mp",
                                           "hw sp mw",
                                           "hp sw mw",
                                           "sp mp",
                                           "sw mp",
                                           "sp mw",
                                           "sw mw",
                                           {"hp sp mp hp-1", "hp sp mp hp+1", "hp sp mp sp-1",
                                            "hp sp mp sp+1", "hp sp mp mp-1", "hp sp mp mp+1"},
                                           "hc sc mc",
                                           "hl sc mc",
                                           "hc sl mc",
                                           "hc sc ml",
                                           "sl ml",
                                           "hc sc mc mf",
                                           "sc sf mc mf",
                                           "s m agreement",
                                           "hc sc mc sa",
                                           "hc sc mc ma",
                                           "hc sa ma"};

// A modifier and the one before it on the same side, or any other two modifiers of a head.
template <class Atom, class Sink>
void sibling_templates(const FeatureSet& set, const Sentence<Atom>& s, Index head, Index sibling,
                       Index modifier, Sink& f) {
  if (set.is_carreras()) {
    return in_every_grain(set, s, f, [&](const auto& words, auto& names) {
      carreras_templates(kCarrerasSibling, words, head, modifier, sibling, names);
    });
  }
  triple_templates(set, s, kSiblingNames, head, sibling, modifier, sibling, f);
  if (!set.is_rich()) return;
  const Word<Atom>&h = s[head], &b = s[sibling], &m = s[modifier];
  const Word<Atom>&before = s[std::min(sibling, modifier)],
        &last = s[std::max(sibling, modifier) - 1];
  const auto some = [](int count) { return static_cast<std::uint64_t>(std::min(count, 3)); };
  f("hp sp mp marks conjunctions", h.fine, b.fine, m.fine, some(last.marks - before.marks),
    some(last.conjunctions - before.conjunctions));
  f("hc sc mc verbs", h.coarse, b.coarse, m.coarse, some(last.verbs - before.verbs));
}

// The first modifier of a side.
template <class Atom, class Sink>
void first_modifier_templates(const FeatureSet& set, const Sentence<Atom>& s, Index head,
                              Index modifier, Sink& f) {
  if (set.is_carreras()) {
    return in_every_grain(set, s, f, [&](const auto& words, auto& names) {
      carreras_end_templates(kCarrerasStart, words, head, modifier, names);
    });
  }
  const Word<Atom>&h = s[head], &m = s[modifier];
  f("START hp mp", h.fine, m.fine);
  f("START hw mp", h.form, m.fine);
  f("START hp mw", h.fine, m.form);
  f("START hp mp mp-1", h.fine, m.fine, s[modifier - 1].fine);
  f("START hp mp mp+1", h.fine, m.fine, s[modifier + 1].fine);
  if (!set.is_rich()) return;
  f("START hl mc", h.lemma, m.coarse);
  f("START hc ml", h.coarse, m.lemma);
  f("START hl ml", h.lemma, m.lemma);
  if (set.columns.feats) f("START hc mc mf", h.coarse, m.coarse, m.feats);
}

// The last modifier of a side.
template <class Atom, class Sink>
void last_modifier_templates(const FeatureSet& set, const Sentence<Atom>& s, Index head,
                             Index modifier, Sink& f) {
  if (set.is_carreras()) {
    return in_every_grain(set, s, f, [&](const auto& words, auto& names) {
      carreras_end_templates(kCarrerasEnd, words, head, modifier, names);
    });
  }
  const Word<Atom>&h = s[head], &m = s[modifier];
  f("END hp mp", h.fine, m.fine);
  f("END hw mp", h.form, m.fine);
  f("END hp mw", h.fine, m.form);
  f("END hp mp mp-1", h.fine, m.fine, s[modifier - 1].fine);
  f("END hp mp mp+1", h.fine, m.fine, s[modifier + 1].fine);
  if (!set.is_rich()) return;
  f("END hl mc", h.lemma, m.coarse);
  f("END hc ml", h.coarse, m.lemma);
  if (set.columns.feats) {
    f("END hc hf mc", h.coarse, h.feats, m.coarse);
    f("END hc mc mf", h.coarse, m.coarse, m.feats);
  }
}

// A side without modifiers.
template <class Atom, class Sink>
void no_modifier_templates(const FeatureSet& set, const Sentence<Atom>& s, Index head, Sink& f) {
  if (set.is_carreras()) {
    return in_every_grain(set, s, f, [&](const auto& words, auto& names) {
      carreras_empty_templates(words, head, names);
    });
  }
  const Word<Atom>& h = s[head];
  f("NONE hp", h.fine);
  f("NONE hw", h.form);
  f("NONE hp-1 hp", s[head - 1].fine, h.fine);
  f("NONE hp hp+1", h.fine, s[head + 1].fine);
  if (!set.is_rich()) return;
  f("NONE hl hc", h.lemma, h.coarse);
  if (set.columns.feats) f("NONE hc hf", h.coarse, h.feats);
}

template <class Atom, class Sink>
void grandparent_templates(const FeatureSet& set, const Sentence<Atom>& s, Index grand, Index head,
                           Index modifier, Sink& f) {
  if (set.is_carreras()) {
    return in_every_grain(set, s, f, [&](const auto& words, auto& names) {
      carreras_templates(kCarrerasGrandparent, words, grand, head, modifier, names);
    });
  }
  triple_templates(set, s, kGrandparentNames, grand, head, modifier, grand, f);
  if (!set.is_rich()) return;
  // What is attached through a function word: the lexical words on both sides of it.
  f("gl hl ml", s[grand].lemma, s[head].lemma, s[modifier].lemma);
}

// A grandparent with two consecutive siblings: at most one word, as in Koo & Collins (2010).
template <class Atom, class Sink>
void grandsibling_templates(const FeatureSet& set, const Sentence<Atom>& s, Index grand, Index head,
                            Index sibling, Index modifier, Sink& sink) {
  in_every_grain(set, s, sink, [&](const auto& words, auto& f) {
    const auto &g = words[grand], &h = words[head], &b = words[sibling], &m = words[modifier];
    f("gp hp sp mp", g.fine, h.fine, b.fine, m.fine);
    f("gw hp sp mp", g.form, h.fine, b.fine, m.fine);
    f("gp hw sp mp", g.fine, h.form, b.fine, m.fine);
    f("gp hp sw mp", g.fine, h.fine, b.form, m.fine);
    f("gp hp sp mw", g.fine, h.fine, b.fine, m.form);
  });
  if (!set.is_rich()) return;
  const Word<Atom>&g = s[grand], &h = s[head], &b = s[sibling], &m = s[modifier];
  if (set.columns.two_tags()) sink("gc hc sc mc", g.coarse, h.coarse, b.coarse, m.coarse);
  sink("gc hl sc mc", g.coarse, h.lemma, b.coarse, m.coarse);
}

// The same at the ends of a side: `first` for START, `last` for END.
template <class Atom, class Sink>
void grand_end_templates(const FeatureSet& set, const Sentence<Atom>& s, const Template& of_tags,
                         const Template& of_head, const Template& of_modifier, Index grand,
                         Index head, Index modifier, Sink& sink) {
  in_every_grain(set, s, sink, [&](const auto& words, auto& f) {
    f(of_tags, words[grand].fine, words[head].fine, words[modifier].fine);
  });
  if (!set.is_rich()) return;
  const Word<Atom>&g = s[grand], &h = s[head], &m = s[modifier];
  sink(of_head, g.coarse, h.lemma, m.coarse);
  sink(of_modifier, g.coarse, h.coarse, m.lemma);
}

template <class Atom, class Sink>
void grand_alone_templates(const FeatureSet& set, const Sentence<Atom>& s, Index grand, Index head,
                           Sink& sink) {
  in_every_grain(set, s, sink, [&](const auto& words, auto& f) {
    f("NONE gp hp", words[grand].fine, words[head].fine);
    f("NONE gp hw", words[grand].fine, words[head].form);
  });
}

}  // namespace arbora::features
