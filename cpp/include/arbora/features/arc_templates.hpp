// The feature templates of arcs, written once: a sink receives every template's name with its atoms
// and makes of it a score, a gradient or an explanation.
//
//   sink(name, atoms...)                 a feature of value 1
//   sink.weighted(value, name, atoms...) a feature of another value
//   sink.alone(name, atoms...)           a feature that never fires with the variant; of ends only
//
// Letters in names: h head, m modifier, b a word between them; w form, l lemma, p fine tag, c
// coarse tag, f all of FEATS, a an atom of FEATS; -1 and +1 the words before and after. Every
// feature fires twice, alone and together with the arc's variant (direction and distance), which
// the sink adds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "arbora/features/cluster_templates.hpp"
#include "arbora/features/grains.hpp"

namespace arbora::features {

// Direction and distance of an arc in one number: 1..7 to the left, 8..14 to the right, 15 from the
// root symbol. 0 stands for "any".
inline constexpr unsigned kAnyVariant = 0;
inline constexpr unsigned kRootVariant = 15;
inline constexpr unsigned kVariants = 16;

inline unsigned variant_of(Index head, Index modifier) {
  if (head == 0) return kRootVariant;
  const Index distance = std::abs(head - modifier);
  const unsigned bin = distance <= 3    ? static_cast<unsigned>(distance) - 1
                       : distance <= 5  ? 3
                       : distance <= 9  ? 4
                       : distance <= 19 ? 5
                                        : 6;
  return 1 + bin + (modifier > head ? 7 : 0);
}

// The distinct tags of the words strictly between a head and a modifier; grows outwards.
template <class Atom>
class Between {
 public:
  void clear() {
    fine_.clear();
    coarse_.clear();
  }
  void add(const Word<Atom>& word) {
    insert(fine_, word.fine);
    insert(coarse_, word.coarse);
  }
  // From scratch, for one arc.
  void fill(const Sentence<Atom>& sentence, Index head, Index modifier) {
    clear();
    // Outwards from the head, as in score_arcs, so that sums are bitwise equal.
    if (modifier > head) {
      for (Index b = head + 1; b < modifier; ++b) add(sentence[b]);
    } else {
      for (Index b = head - 1; b > modifier; --b) add(sentence[b]);
    }
  }
  const std::vector<Atom>& fine() const { return fine_; }
  const std::vector<Atom>& coarse() const { return coarse_; }

 private:
  static void insert(std::vector<Atom>& tags, const Atom& tag) {
    for (const Atom& known : tags) {
      if (hash_of(known) == hash_of(tag)) return;
    }
    tags.push_back(tag);
  }

  std::vector<Atom> fine_, coarse_;
};

// The features of one end in McDonald, Crammer & Pereira (2005), table 1a; stems are the first five
// letters of longer words.
template <class Words, class Sink>
void mcdonald_end_templates(const FeatureSet& set, const Words& s, Index i, Role role, Sink& sink) {
  const auto f = [&](Template head, Template modifier, const auto&... atoms) {
    sink(role == Role::head ? head : modifier, atoms...);
  };
  const auto& word = s[i];
  f("hw", "mw", word.form);
  f("hp", "mp", word.fine);
  f("hw hp", "mw mp", word.form, word.fine);
  if (set.has_stems() && word.is_long) {
    f("h5", "m5", word.stem);
    f("h5 hp", "m5 mp", word.stem, word.fine);
  }
}

// Features of one end of an arc. A sentence has only 2 (n + 1) ends, whose scores serve all arcs.
template <class Atom, class Sink>
void end_templates(const FeatureSet& set, const Sentence<Atom>& s, Index i, Role role, Sink& sink) {
  const auto f = [&](Template head, Template modifier, const auto&... atoms) {
    sink(role == Role::head ? head : modifier, atoms...);
  };
  const Word<Atom>&word = s[i], &before = s[i - 1], &after = s[i + 1];
  if (set.squeeze() == Squeeze::words) {
    const bool head = role == Role::head;
    f("hp", "mp", word.fine);
    sink.alone(head ? Template("hw") : Template("mw"), word.form);
    if (word.is_long) sink.alone(head ? Template("h5") : Template("m5"), word.stem);
    return;
  }
  in_every_grain(set, s, sink, [&](const auto& words, auto& names) {
    mcdonald_end_templates(set, words, i, role, names);
  });
  if (!set.is_rich()) return;
  if (set.columns.lemma) {
    f("hl", "ml", word.lemma);
    f("hl hc", "ml mc", word.lemma, word.coarse);
  }
  if (set.columns.two_tags()) {
    f("hc", "mc", word.coarse);
    f("hc-1 hc hc+1", "mc-1 mc mc+1", before.coarse, word.coarse, after.coarse);
  }
  f("h suffix", "m suffix", word.suffix);
  f("h prefix", "m prefix", word.prefix);
  if (set.columns.feats) {
    f("hf hp", "mf mp", word.feats, word.fine);
    for (const Morph<Atom>& morph : s.morphs(i)) f("ha hc", "ma mc", morph.atom, word.coarse);
  }
  if (set.looks_at_inflection()) {
    f("hc-1 hf-1 hc hf", "mc-1 mf-1 mc mf", before.coarse, before.feats, word.coarse, word.feats);
    f("hc hf hc+1 hf+1", "mc mf mc+1 mf+1", word.coarse, word.feats, after.coarse, after.feats);
    f("hc-1 hf-1 hp", "mc-1 mf-1 mp", before.coarse, before.feats, word.fine);
    f("hp hc+1 hf+1", "mp mc+1 mf+1", word.fine, after.coarse, after.feats);
    for (const Morph<Atom>& morph : s.morphs(i - 1)) {
      f("hc-1 ha-1 hc", "mc-1 ma-1 mc", before.coarse, morph.atom, word.coarse);
    }
    for (const Morph<Atom>& morph : s.morphs(i + 1)) {
      f("hc hc+1 ha+1", "mc mc+1 ma+1", word.coarse, after.coarse, morph.atom);
    }
  }
  f("hp-1 hp", "mp-1 mp", before.fine, word.fine);
  f("hp hp+1", "mp mp+1", word.fine, after.fine);
  f("hp-1 hp hp+1", "mp-1 mp mp+1", before.fine, word.fine, after.fine);
  f("hp-2 hp-1 hp", "mp-2 mp-1 mp", s[i - 2].fine, before.fine, word.fine);
  f("hp hp+1 hp+2", "mp mp+1 mp+2", word.fine, after.fine, s[i + 2].fine);
  f("hw-1 hp", "mw-1 mp", before.form, word.fine);
  f("hp hw+1", "mp mw+1", word.fine, after.form);
  f("hl-1 hl", "ml-1 ml", before.lemma, word.lemma);
  f("hl hl+1", "ml ml+1", word.lemma, after.lemma);
  for (const Member<Atom>& member : s.members(i)) {
    sink.weighted(member.share, role == Role::head ? Template("hk") : Template("mk"),
                  member.cluster);
  }
  if (set.looks_at_clusters()) cluster_end_templates(s, i, role, sink);
}

// The two ends together, words and tags alone, as in McDonald, Crammer & Pereira (2005), table 1a.
//
// Smith & Smith (2007, section 5.2) squeezed lexicalised features through clusters: they removed
// "all word-word and lemma-lemma features and all tag fourgrams", which left a sixtieth of the
// features or less. Here stems (five letters) take the place of lemmas. Without pairs of words, of
// stems and without tag fourgrams, a tenth is left. squeezed2005 therefore omits every conjunction
// of a word or stem, also with tags, direction and distance; words and stems alone remain, with
// their clusters. Over all possible arcs of the Danish training data of CoNLL-X, 8.33 million
// features become 97 thousand, a factor of 86; counted with their twins of direction and distance,
// 23.2 million become 407 thousand, a factor of 57.
template <class Words, class Sink>
void basic_templates(Squeeze squeeze, const Words& s, Index head, Index modifier, Sink& f) {
  const auto &h = s[head], &m = s[modifier];
  f("hp mp", h.fine, m.fine);
  if (squeeze != Squeeze::words) {
    f("hp mw mp", h.fine, m.form, m.fine);
    f("hw hp mp", h.form, h.fine, m.fine);
  }
  if (squeeze == Squeeze::none) {
    f("hw hp mw mp", h.form, h.fine, m.form, m.fine);
    f("hw mw mp", h.form, m.form, m.fine);
    f("hw hp mw", h.form, h.fine, m.form);
    f("hw mw", h.form, m.form);
  }
}

// Their first letters, the tags between and beside them: the rest of that table.
template <class Words, class Tags, class Sink>
void mcdonald_templates(Squeeze squeeze, const Words& s, Index head, Index modifier,
                        const Tags& between, Sink& f) {
  const auto &h = s[head], &m = s[modifier];
  const auto &h_1 = s[head - 1], &h1 = s[head + 1], &m_1 = s[modifier - 1], &m1 = s[modifier + 1];
  const bool whole = squeeze == Squeeze::none, squeezed = squeeze == Squeeze::words;
  if (!squeezed && m.is_long) f("hp m5 mp", h.fine, m.stem, m.fine);
  if (!squeezed && h.is_long) f("h5 hp mp", h.stem, h.fine, m.fine);
  if (whole && (h.is_long || m.is_long)) {
    f("h5 hp m5 mp", h.stem, h.fine, m.stem, m.fine);
    f("h5 m5 mp", h.stem, m.stem, m.fine);
    f("h5 hp m5", h.stem, h.fine, m.stem);
    f("h5 m5", h.stem, m.stem);
  }
  for (const auto& b : between.fine()) f("hp bp mp", h.fine, b, m.fine);
  if (whole) {
    f("hp hp+1 mp-1 mp", h.fine, h1.fine, m_1.fine, m.fine);
    f("hp-1 hp mp-1 mp", h_1.fine, h.fine, m_1.fine, m.fine);
    f("hp hp+1 mp mp+1", h.fine, h1.fine, m.fine, m1.fine);
    f("hp-1 hp mp mp+1", h_1.fine, h.fine, m.fine, m1.fine);
  }
  f("hp hp+1 mp", h.fine, h1.fine, m.fine);
  f("hp-1 hp mp", h_1.fine, h.fine, m.fine);
  f("hp mp-1 mp", h.fine, m_1.fine, m.fine);
  f("hp mp mp+1", h.fine, m.fine, m1.fine);
}

// Words and tags of both ends and their neighbours.
template <class Atom, class Sink>
void rich_word_templates(const FeatureSet& set, const Sentence<Atom>& s, Index head, Index modifier,
                         Sink& f) {
  const Word<Atom>&h = s[head], &m = s[modifier];
  const Word<Atom>&h_1 = s[head - 1], &h1 = s[head + 1], &m_1 = s[modifier - 1],
        &m1 = s[modifier + 1];
  f("hp mp", h.fine, m.fine);
  f("hw mw", h.form, m.form);
  f("hw mp", h.form, m.fine);
  f("hp mw", h.fine, m.form);
  f("hw hp mp", h.form, h.fine, m.fine);
  f("hp mw mp", h.fine, m.form, m.fine);
  f("hw hp mw mp", h.form, h.fine, m.form, m.fine);
  if (set.columns.lemma) {
    f("hl ml", h.lemma, m.lemma);
    f("hl mp", h.lemma, m.fine);
    f("hp ml", h.fine, m.lemma);
    f("hl hc ml mc", h.lemma, h.coarse, m.lemma, m.coarse);
  }
  if (set.columns.two_tags()) {
    f("hc mc", h.coarse, m.coarse);
    f("hl mc", h.lemma, m.coarse);
    f("hc ml", h.coarse, m.lemma);
    f("hc hc+1 mc-1 mc", h.coarse, h1.coarse, m_1.coarse, m.coarse);
    f("hc-1 hc mc-1 mc", h_1.coarse, h.coarse, m_1.coarse, m.coarse);
    f("hc hc+1 mc mc+1", h.coarse, h1.coarse, m.coarse, m1.coarse);
    f("hc-1 hc mc mc+1", h_1.coarse, h.coarse, m.coarse, m1.coarse);
  }
  f("hp hp+1 mp-1 mp", h.fine, h1.fine, m_1.fine, m.fine);
  f("hp-1 hp mp-1 mp", h_1.fine, h.fine, m_1.fine, m.fine);
  f("hp hp+1 mp mp+1", h.fine, h1.fine, m.fine, m1.fine);
  f("hp-1 hp mp mp+1", h_1.fine, h.fine, m.fine, m1.fine);
  f("hp hp+1 mp", h.fine, h1.fine, m.fine);
  f("hp-1 hp mp", h_1.fine, h.fine, m.fine);
  f("hp mp-1 mp", h.fine, m_1.fine, m.fine);
  f("hp mp mp+1", h.fine, m.fine, m1.fine);
  f("h-1 h h+1 m-1 m m+1", h_1.coarse, h.coarse, h1.coarse, m_1.coarse, m.coarse, m1.coarse);
  f("hp hp+1 hp+2 mp", h.fine, h1.fine, s[head + 2].fine, m.fine);
  f("hp-2 hp-1 hp mp", s[head - 2].fine, h_1.fine, h.fine, m.fine);
  f("hp mp mp+1 mp+2", h.fine, m.fine, m1.fine, s[modifier + 2].fine);
  f("hp mp-2 mp-1 mp", h.fine, s[modifier - 2].fine, m_1.fine, m.fine);
  f("hp mp ml+1", h.fine, m.fine, m1.lemma);
  f("hp mp ml-1", h.fine, m.fine, m_1.lemma);
  f("hp mp hl+1", h.fine, m.fine, h1.lemma);
  f("hp mp hl-1", h.fine, m.fine, h_1.lemma);
  f("h suffix mp", h.suffix, m.fine);
  f("hp m suffix", h.fine, m.suffix);
  f("h suffix m suffix", h.suffix, m.suffix);
  f("h prefix mp", h.prefix, m.fine);
  f("hp m prefix", h.fine, m.prefix);
}

// Morphology of both ends, and agreement.
template <class Atom, class Sink>
void morphology_templates(const Sentence<Atom>& s, Index head, Index modifier, Sink& f) {
  const Word<Atom>&h = s[head], &m = s[modifier];
  f("hf mf", h.feats, m.feats);
  f("hp hf mp", h.fine, h.feats, m.fine);
  f("hp mp mf", h.fine, m.fine, m.feats);
  f("hp hf mp mf", h.fine, h.feats, m.fine, m.feats);
  f("hl mf", h.lemma, m.feats);
  for (const Morph<Atom>& b : s.morphs(modifier)) {
    f("hc mc ma", h.coarse, m.coarse, b.atom);
    f("hl ma", h.lemma, b.atom);
    for (const Morph<Atom>& a : s.morphs(head)) {
      f("ha ma", a.atom, b.atom);
      if (hash_of(a.attribute) == hash_of(b.attribute)) {
        const std::uint64_t agrees = hash_of(a.atom) == hash_of(b.atom) ? 1 : 0;
        f("agreement", a.attribute, agrees, h.coarse, m.coarse);
      }
    }
  }
  for (const Morph<Atom>& a : s.morphs(head)) f("hc ha mc", h.coarse, a.atom, m.coarse);
}

// The inflection of the words beside the ends: case markers, articles and auxiliaries stand there.
template <class Atom, class Sink>
void neighbour_templates(const Sentence<Atom>& s, Index head, Index modifier, Sink& f) {
  const Word<Atom>&h = s[head], &m = s[modifier];
  const Word<Atom>&h_1 = s[head - 1], &h1 = s[head + 1], &m_1 = s[modifier - 1],
        &m1 = s[modifier + 1];
  f("hc mc mf mc+1 mf+1", h.coarse, m.coarse, m.feats, m1.coarse, m1.feats);
  f("hc mc-1 mf-1 mc mf", h.coarse, m_1.coarse, m_1.feats, m.coarse, m.feats);
  f("hc hf hc+1 hf+1 mc", h.coarse, h.feats, h1.coarse, h1.feats, m.coarse);
  f("hc-1 hf-1 hc hf mc", h_1.coarse, h_1.feats, h.coarse, h.feats, m.coarse);
  f("hp mp mc+1 mf+1", h.fine, m.fine, m1.coarse, m1.feats);
  f("hp mc-1 mf-1 mp", h.fine, m_1.coarse, m_1.feats, m.fine);
  f("hp hc+1 hf+1 mp", h.fine, h1.coarse, h1.feats, m.fine);
  f("hc-1 hf-1 hp mp", h_1.coarse, h_1.feats, h.fine, m.fine);
  for (const Morph<Atom>& a : s.morphs(modifier + 1)) {
    f("hc mc mc+1 ma+1", h.coarse, m.coarse, m1.coarse, a.atom);
  }
  for (const Morph<Atom>& a : s.morphs(modifier - 1)) {
    f("hc mc-1 ma-1 mc", h.coarse, m_1.coarse, a.atom, m.coarse);
  }
  for (const Morph<Atom>& a : s.morphs(head + 1)) {
    f("hc hc+1 ha+1 mc", h.coarse, h1.coarse, a.atom, m.coarse);
  }
  for (const Morph<Atom>& a : s.morphs(head - 1)) {
    f("hc-1 ha-1 hc mc", h_1.coarse, a.atom, h.coarse, m.coarse);
  }
}

// Words between the ends, and the distance.
template <class Atom, class Sink>
void rich_between_templates(const FeatureSet& set, const Sentence<Atom>& s, Index head,
                            Index modifier, const Between<Atom>& between, Sink& f) {
  const Word<Atom>&h = s[head], &m = s[modifier];
  const Word<Atom>&before = s[std::min(head, modifier)], &last = s[std::max(head, modifier) - 1];
  const auto counted = [](int count) { return static_cast<std::uint64_t>(std::min(count, 15)); };
  const std::uint64_t verbs = counted(last.verbs - before.verbs),
                      marks = counted(last.marks - before.marks),
                      conjunctions = counted(last.conjunctions - before.conjunctions);
  const auto distance = static_cast<std::uint64_t>(std::min<Index>(std::abs(head - modifier), 255));
  f("hp mp distance", h.fine, m.fine, distance);
  f("hc mc distance", h.coarse, m.coarse, distance);
  f("hp mp verbs", h.fine, m.fine, verbs);
  f("hp mp marks", h.fine, m.fine, marks);
  f("hp mp conjunctions", h.fine, m.fine, conjunctions);
  f("hc mc verbs marks conjunctions", h.coarse, m.coarse, verbs, marks, conjunctions);
  for (const Atom& b : between.fine()) f("hp bp mp", h.fine, b, m.fine);
  if (!set.columns.two_tags()) return;
  for (const Atom& b : between.coarse()) {
    f("hc bc mc", h.coarse, b, m.coarse);
    f("hl bc mc", h.lemma, b, m.coarse);
    f("hc bc ml", h.coarse, b, m.lemma);
  }
}

// All features of the two ends together.
template <class Atom, class Sink>
void pair_templates(const FeatureSet& set, const Sentence<Atom>& s, Index head, Index modifier,
                    const Between<Atom>& between, Sink& sink) {
  if (set.is_rich()) {
    rich_word_templates(set, s, head, modifier, sink);
    if (set.columns.feats) morphology_templates(s, head, modifier, sink);
    if (set.looks_at_inflection()) neighbour_templates(s, head, modifier, sink);
    rich_between_templates(set, s, head, modifier, between, sink);
  } else {
    in_every_grain(set, s, sink, [&](const auto& words, auto& names) {
      basic_templates(set.squeeze(), words, head, modifier, names);
      if (set.templates == TemplateSet::basic2005) return;
      mcdonald_templates(set.squeeze(), words, head, modifier, tags_between(words, between), names);
    });
  }
  cluster_templates(s, head, modifier, sink);
  if (set.looks_at_clusters()) wide_cluster_templates(s, head, modifier, sink);
}

}  // namespace arbora::features
