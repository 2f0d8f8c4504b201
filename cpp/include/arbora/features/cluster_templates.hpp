// The feature templates of clusters of words, of one end of an arc and of both; see
// arc_templates.hpp. Letters: k the cluster, k4 and k6 the first four and six letters of its name.
#pragma once

#include "arbora/features/words.hpp"

namespace arbora::features {

// The end of an arc that a word is.
enum class Role : int { head = 0, modifier = 1 };

// Clusters of one end with its tag, and of the words beside it.
template <class Atom, class Sink>
void cluster_end_templates(const Sentence<Atom>& s, Index i, Role role, Sink& sink) {
  const auto f = [&](float share, Template head, Template modifier, const auto&... atoms) {
    sink.weighted(share, role == Role::head ? head : modifier, atoms...);
  };
  const Word<Atom>& word = s[i];
  for (const Member<Atom>& k : s.members(i)) {
    f(k.share, "hk hp", "mk mp", k.cluster, word.fine);
    f(k.share, "hk6 hp", "mk6 mp", k.long_prefix, word.fine);
  }
  for (const Member<Atom>& k : s.members(i - 1)) {
    f(k.share, "hk-1 hp", "mk-1 mp", k.cluster, word.fine);
  }
  for (const Member<Atom>& k : s.members(i + 1)) {
    f(k.share, "hp hk+1", "mp mk+1", word.fine, k.cluster);
  }
}

// Clusters take the place of tags and of words (Koo, Carreras & Collins 2008).
template <class Atom, class Sink>
void cluster_templates(const Sentence<Atom>& s, Index head, Index modifier, Sink& sink) {
  const Word<Atom>&h = s[head], &m = s[modifier];
  for (const Member<Atom>& a : s.members(head)) {
    sink.weighted(a.share, "hk mp", a.cluster, m.fine);
    sink.weighted(a.share, "hk6 mw", a.long_prefix, m.form);
    for (const Member<Atom>& b : s.members(modifier)) {
      const float share = a.share * b.share;
      sink.weighted(share, "hk mk", a.cluster, b.cluster);
      sink.weighted(share, "hk4 mk4", a.short_prefix, b.short_prefix);
      sink.weighted(share, "hk6 mk6", a.long_prefix, b.long_prefix);
      sink.weighted(share, "hk4 hp mk4 mp", a.short_prefix, h.fine, b.short_prefix, m.fine);
    }
  }
  for (const Member<Atom>& b : s.members(modifier)) {
    sink.weighted(b.share, "hp mk", h.fine, b.cluster);
    sink.weighted(b.share, "hw mk6", h.form, b.long_prefix);
  }
}

// More of them, with the tags of both ends.
template <class Atom, class Sink>
void wide_cluster_templates(const Sentence<Atom>& s, Index head, Index modifier, Sink& sink) {
  const Word<Atom>&h = s[head], &m = s[modifier];
  for (const Member<Atom>& a : s.members(head)) {
    sink.weighted(a.share, "hk hp mp", a.cluster, h.fine, m.fine);
    for (const Member<Atom>& b : s.members(modifier)) {
      sink.weighted(a.share * b.share, "hk6 hp mk6 mp", a.long_prefix, h.fine, b.long_prefix,
                    m.fine);
    }
  }
  for (const Member<Atom>& b : s.members(modifier)) {
    sink.weighted(b.share, "hp mk mp", h.fine, b.cluster, m.fine);
  }
  for (const Member<Atom>& b : s.members(modifier - 1)) {
    sink.weighted(b.share, "hp mp mk6-1", h.fine, m.fine, b.long_prefix);
  }
  for (const Member<Atom>& b : s.members(modifier + 1)) {
    sink.weighted(b.share, "hp mp mk6+1", h.fine, m.fine, b.long_prefix);
  }
  for (const Member<Atom>& a : s.members(head - 1)) {
    sink.weighted(a.share, "hp mp hk6-1", h.fine, m.fine, a.long_prefix);
  }
  for (const Member<Atom>& a : s.members(head + 1)) {
    sink.weighted(a.share, "hp mp hk6+1", h.fine, m.fine, a.long_prefix);
  }
}

}  // namespace arbora::features
