// The feature templates of parts of second order in Carreras (2007), for views of fine and of
// coarse tags (grains.hpp). Every feature fires once, with the part's direction, which the sink
// adds.
#pragma once

#include "arbora/features/grains.hpp"

namespace arbora::features {

// Carreras writes h, m and c for an arc with another modifier c of h or a modifier c of m. Pairs
// are of c with each of the other two: tags, words, tag and word, word and tag.
struct CarrerasNames {
  Template all;
  Template of_h[4];
  Template of_m[4];
};

// The sibling s between head and modifier is Carreras's c.
inline constexpr CarrerasNames kCarrerasSibling{
    "hp mp sp", {"hp sp", "hw sw", "hp sw", "hw sp"}, {"mp sp", "mw sw", "mp sw", "mw sp"}};

// The grandparent g is Carreras's h, and the head his m. Arcs have other weights for "hp mp".
inline constexpr CarrerasNames kCarrerasGrandparent{
    "gp hp mp",
    {"gp mp", "gw mw", "gp mw", "gw mp"},
    {"GRAND hp mp", "GRAND hw mw", "GRAND hp mw", "GRAND hw mp"}};

template <class Words, class Sink>
void carreras_templates(const CarrerasNames& names, const Words& s, Index ih, Index im, Index ic,
                        Sink& f) {
  const auto &h = s[ih], &m = s[im], &c = s[ic];
  f(names.all, h.fine, m.fine, c.fine);
  f(names.of_h[0], h.fine, c.fine);
  f(names.of_h[1], h.form, c.form);
  f(names.of_h[2], h.fine, c.form);
  f(names.of_h[3], h.form, c.fine);
  f(names.of_m[0], m.fine, c.fine);
  f(names.of_m[1], m.form, c.form);
  f(names.of_m[2], m.fine, c.form);
  f(names.of_m[3], m.form, c.fine);
}

// The same where c is START or END, whose word and tag are one symbol.
struct CarrerasEndNames {
  Template all, of_h[2], of_m[2];
};
inline constexpr CarrerasEndNames kCarrerasStart{
    "START hp mp", {"START hp", "START hw"}, {"START mp", "START mw"}};
inline constexpr CarrerasEndNames kCarrerasEnd{
    "END hp mp", {"END hp", "END hw"}, {"END mp", "END mw"}};

template <class Words, class Sink>
void carreras_end_templates(const CarrerasEndNames& names, const Words& s, Index ih, Index im,
                            Sink& f) {
  const auto &h = s[ih], &m = s[im];
  f(names.all, h.fine, m.fine);
  f(names.of_h[0], h.fine);
  f(names.of_h[1], h.form);
  f(names.of_m[0], m.fine);
  f(names.of_m[1], m.form);
}

// A side without modifiers: both symbols.
template <class Words, class Sink>
void carreras_empty_templates(const Words& s, Index head, Sink& f) {
  f("NONE hp", s[head].fine);
  f("NONE hw", s[head].form);
}

}  // namespace arbora::features
