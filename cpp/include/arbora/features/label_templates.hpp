// The feature templates of labels: of an arc alone (for labels inside the sum over trees), and of
// an arc in its tree (for labels that are chosen after the tree); and those of known clusters.
// Names as in arc_templates.hpp; g is the head's head, s a sibling, k a child of the modifier.
#pragma once

#include "arbora/features/arc_templates.hpp"

namespace arbora::features {

// Clusters of both ends, with tags and words.
template <class Atom, class Sink>
void cluster_label_templates(const Sentence<Atom>& s, Index head, Index modifier,
                             std::uint64_t direction, Sink& sink) {
  const Word<Atom>&h = s[head], &m = s[modifier];
  for (const Member<Atom>& a : s.members(head)) {
    sink.weighted(a.share, "hk mp", direction, a.cluster, m.fine);
    sink.weighted(a.share, "hk mw", direction, a.cluster, m.form);
    for (const Member<Atom>& b : s.members(modifier)) {
      const float share = a.share * b.share;
      sink.weighted(share, "hk mk", direction, a.cluster, b.cluster);
      sink.weighted(share, "hk6 mk6 mp", direction, a.long_prefix, b.long_prefix, m.fine);
    }
  }
  for (const Member<Atom>& b : s.members(modifier)) {
    sink.weighted(b.share, "hp mk mp", direction, h.fine, b.cluster, m.fine);
    sink.weighted(b.share, "hw mk", direction, h.form, b.cluster);
  }
}

template <class Atom, class Sink>
void label_templates(const FeatureSet& set, const Sentence<Atom>& s, Index head, Index modifier,
                     Sink& sink) {
  const Word<Atom>&h = s[head], &m = s[modifier];
  const Word<Atom>&h_1 = s[head - 1], &h1 = s[head + 1], &m_1 = s[modifier - 1],
        &m1 = s[modifier + 1];
  const std::uint64_t direction = head == 0 ? 2 : modifier > head ? 1 : 0;
  const std::uint64_t adjacent = std::abs(head - modifier) == 1 ? 1 : 0;
  const auto f = [&](const Template& name, const auto&... atoms) {
    sink(name, direction, atoms...);
  };
  f("bias", adjacent);
  const Word<Atom>&before = s[std::min(head, modifier)], &last = s[std::max(head, modifier) - 1];
  const auto some = [](int count) { return static_cast<std::uint64_t>(std::min(count, 3)); };
  const std::uint64_t distance = variant_of(head, modifier);
  f("hp mp distance", h.fine, m.fine, distance);
  f("hc mc between", h.coarse, m.coarse, some(last.verbs - before.verbs),
    some(last.marks - before.marks), some(last.conjunctions - before.conjunctions));
  f("ml between", m.lemma, some(last.marks - before.marks),
    some(last.conjunctions - before.conjunctions));
  f("mp", m.fine);
  f("mw", m.form);
  f("hp", h.fine);
  f("hw", h.form);
  f("hp mp", h.fine, m.fine);
  f("hp mp adjacent", h.fine, m.fine, adjacent);
  f("hw mw", h.form, m.form);
  f("hw mp", h.form, m.fine);
  f("hp mw", h.fine, m.form);
  f("mp-1 mp mp+1", m_1.fine, m.fine, m1.fine);
  f("hp mp mp+1", h.fine, m.fine, m1.fine);
  f("hp mp mp-1", h.fine, m.fine, m_1.fine);
  f("hp hp+1 mp", h.fine, h1.fine, m.fine);
  f("hp-1 hp mp", h_1.fine, h.fine, m.fine);
  f("hp mw-1", h.fine, m_1.form);
  f("hp mw+1", h.fine, m1.form);
  f("hp m suffix", h.fine, m.suffix);
  f("h suffix mp", h.suffix, m.fine);
  f("m suffix", m.suffix);
  f("m prefix", m.prefix);
  if (set.columns.lemma) {
    f("ml", m.lemma);
    f("hl ml", h.lemma, m.lemma);
    f("hl mp", h.lemma, m.fine);
    f("hp ml", h.fine, m.lemma);
  }
  if (set.columns.two_tags()) {
    f("mc", m.coarse);
    f("hc mc", h.coarse, m.coarse);
    f("hl mc", h.lemma, m.coarse);
    f("hc ml", h.coarse, m.lemma);
  }
  if (set.columns.feats) {
    f("mf", m.feats);
    f("hp mp mf", h.fine, m.fine, m.feats);
    f("hf mf", h.feats, m.feats);
    f("hl mf", h.lemma, m.feats);
    f("ml mf", m.lemma, m.feats);
    for (const Morph<Atom>& b : s.morphs(modifier)) {
      f("hc mc ma", h.coarse, m.coarse, b.atom);
      f("hl ma", h.lemma, b.atom);
      for (const Morph<Atom>& a : s.morphs(head)) f("ha ma", a.atom, b.atom);
    }
    for (const Morph<Atom>& a : s.morphs(head)) f("hc mc ha", h.coarse, m.coarse, a.atom);
  }
  if (set.looks_at_inflection()) {
    f("hc hf mc mf", h.coarse, h.feats, m.coarse, m.feats);
    f("hl mc mf", h.lemma, m.coarse, m.feats);
    f("hc mc mf mc+1 mf+1", h.coarse, m.coarse, m.feats, m1.coarse, m1.feats);
    f("hc mc-1 mf-1 mc mf", h.coarse, m_1.coarse, m_1.feats, m.coarse, m.feats);
    f("mc mf distance", m.coarse, m.feats, distance);
    f("hc mc mf distance", h.coarse, m.coarse, m.feats, distance);
    for (const Morph<Atom>& a : s.morphs(modifier + 1)) {
      f("hc mc mc+1 ma+1", h.coarse, m.coarse, m1.coarse, a.atom);
    }
    for (const Morph<Atom>& a : s.morphs(modifier - 1)) {
      f("hc mc-1 ma-1 mc", h.coarse, m_1.coarse, a.atom, m.coarse);
    }
  }
  for (const Member<Atom>& b : s.members(modifier)) {
    sink.weighted(b.share, "mk", direction, b.cluster);
    sink.weighted(b.share, "hp mk", direction, h.fine, b.cluster);
  }
  if (set.looks_at_clusters()) cluster_label_templates(s, head, modifier, direction, sink);
}

// Features of an arc that belongs to clusters which are known: the cluster alone, and with tags and
// words. The sink adds the cluster.
template <class Atom, class Sink>
void soft_cluster_templates(const Sentence<Atom>& s, Index head, Index modifier, Sink& f) {
  const Word<Atom>&h = s[head], &m = s[modifier];
  f("k");
  f("k hp", h.fine);
  f("k mp", m.fine);
  f("k hp mp", h.fine, m.fine);
  f("k hw", h.form);
  f("k mw", m.form);
}

// The children of every word, for the templates that see the tree.
class Children {
 public:
  void fill(const std::int32_t* heads, Index n_words);
  std::span<const std::int32_t> of(Index word) const {
    return {list_.data() + first_[static_cast<std::size_t>(word)],
            list_.data() + first_[static_cast<std::size_t>(word) + 1]};
  }

 private:
  std::vector<std::int32_t> list_;  // children in order, head by head
  std::vector<std::uint32_t> first_;
};

template <class Atom, class Sink>
void tree_label_templates(const FeatureSet& set, const Sentence<Atom>& s, const std::int32_t* heads,
                          const Children& children, Index modifier, Sink& sink) {
  const Index head = heads[modifier - 1];
  label_templates(set, s, head, modifier, sink);
  const Index grand = head == 0 ? -1 : heads[head - 1];
  const Word<Atom>&g = s[grand], &h = s[head], &m = s[modifier];
  const std::uint64_t direction = head == 0 ? 2 : modifier > head ? 1 : 0;
  const auto f = [&](const Template& name, const auto&... atoms) {
    sink(name, direction, atoms...);
  };
  f("gp hp mp", g.fine, h.fine, m.fine);
  f("gl mp", g.lemma, m.fine);
  std::uint64_t earlier = 0, later = 0;  // siblings on the same side, nearer and farther
  const Index distance = std::abs(modifier - head);
  for (const std::int32_t sibling : children.of(head)) {
    if (sibling == modifier) continue;
    const Word<Atom>& other = s[sibling];
    const std::uint64_t side = sibling > modifier ? 1 : 0;
    f("hp mp sp", h.fine, m.fine, other.fine, side);
    f("hc mp sl", h.coarse, m.fine, other.lemma);
    f("ml sl", m.lemma, other.lemma);
    if (set.columns.feats) {
      f("mc mf sc sf", m.coarse, m.feats, other.coarse, other.feats);
      for (const Morph<Atom>& a : s.morphs(modifier)) {
        for (const Morph<Atom>& b : s.morphs(sibling)) f("ma sa", a.atom, b.atom);
      }
    }
    if (set.looks_at_inflection()) {
      f("mc mf sc sf side", m.coarse, m.feats, other.coarse, other.feats, side);
      f("hl mf sc sf", h.lemma, m.feats, other.coarse, other.feats);
    }
    if ((sibling > head) != (modifier > head)) continue;
    (std::abs(sibling - head) < distance ? earlier : later) += 1;
  }
  f("hp mp siblings", h.fine, m.fine, std::min<std::uint64_t>(earlier, 4),
    std::min<std::uint64_t>(later, 4));
  const std::span<const std::int32_t> below = children.of(modifier);
  f("hp mp children", h.fine, m.fine, std::min<std::uint64_t>(below.size(), 5));
  for (const std::int32_t child : below) {
    const Word<Atom>& k = s[child];
    const std::uint64_t side = child > modifier ? 1 : 0;
    f("mp kp", m.fine, k.fine, side);
    f("hc mp kl", h.coarse, m.fine, k.lemma);
    f("hl kl", h.lemma, k.lemma);
    f("hp mp kp", h.fine, m.fine, k.fine, side);
    if (set.looks_at_inflection()) {
      f("hc mc kc kf", h.coarse, m.coarse, k.coarse, k.feats);
      f("mc mf kc kf", m.coarse, m.feats, k.coarse, k.feats);
      f("hc mc mf kl", h.coarse, m.coarse, m.feats, k.lemma);
      for (const Morph<Atom>& b : s.morphs(child)) {
        f("hc mc kc ka", h.coarse, m.coarse, k.coarse, b.atom);
        for (const Morph<Atom>& a : s.morphs(modifier)) {
          f("mc ma kc ka", m.coarse, a.atom, k.coarse, b.atom);
        }
      }
    }
  }
}

}  // namespace arbora::features
