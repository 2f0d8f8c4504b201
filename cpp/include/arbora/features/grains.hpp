// Which templates a model has, and views that repeat templates of fine tags with coarse tags.
#pragma once

#include "arbora/features/words.hpp"

namespace arbora::features {

enum class TemplateSet : int {
  rich = 0,
  mcdonald2005 = 1,
  squeezed2005 = 2,
  morphological = 3,
  carreras2007 = 4,
  basic2005 = 5,
  pairs_squeezed = 6,  // squeezed2005 in older model files: only pairs of words are omitted
};
inline constexpr int kTemplateSets = 7;

// Which features of words are omitted: none, those of two words, or all with other atoms.
enum class Squeeze : int { none, pairs, words };

struct FeatureSet {
  TemplateSet templates = TemplateSet::rich;
  Columns columns;
  bool wide_clusters = false;  // clusters of words in more templates; not in older model files

  // The morphological set is the rich one and more.
  bool is_rich() const {
    return templates == TemplateSet::rich || templates == TemplateSet::morphological;
  }
  // More of FEATS than in the rich set: of neighbours and, for parts and labels, of other words.
  bool looks_at_inflection() const {
    return templates == TemplateSet::morphological && columns.feats;
  }
  bool looks_at_clusters() const { return wide_clusters && is_rich(); }
  Squeeze squeeze() const {
    return templates == TemplateSet::squeezed2005     ? Squeeze::words
           : templates == TemplateSet::pairs_squeezed ? Squeeze::pairs
                                                      : Squeeze::none;
  }
  // The first five letters of longer words.
  bool has_stems() const { return !is_rich() && templates != TemplateSet::basic2005; }
  // Parts of second order as in Carreras (2007), with directions but without distances.
  bool is_carreras() const {
    return templates == TemplateSet::carreras2007 || templates == TemplateSet::basic2005;
  }
  // "A version of each tag feature with the coarse tags" (Gormley et al. 2015, section 7.1, after
  // Rush & Petrov 2012).
  bool repeats_coarse() const { return is_carreras() && columns.two_tags(); }
};

// A word whose only tag is the coarse one.
template <class Atom>
struct CoarseWord {
  const Atom &form, &fine, &stem;
  bool is_long;
};

template <class Atom>
struct CoarseWords {
  const Sentence<Atom>& sentence;

  CoarseWord<Atom> operator[](Index i) const {
    const Word<Atom>& word = sentence[i];
    return {word.form, word.coarse, word.stem, word.is_long};
  }
};

template <class Between>
struct CoarseBetween {
  const Between& between;

  const auto& fine() const { return between.coarse(); }
};

// The tags between two words in the grain of a view.
template <class Atom, class Between>
const Between& tags_between(const Sentence<Atom>&, const Between& between) {
  return between;
}
template <class Atom, class Between>
CoarseBetween<Between> tags_between(const CoarseWords<Atom>&, const Between& between) {
  return {between};
}

// A sink of templates over coarse tags. Templates without tags were named before.
template <class Sink>
struct CoarseSink {
  Sink& sink;

  template <class... Atoms>
  void operator()(const Template& name, const Atoms&... atoms) {
    if (name.has_fine_tags()) sink(name.coarse(), atoms...);
  }
};

// Calls name_features(words, sink) with the fine tags of a sentence and, in sets that repeat them,
// once more with its coarse tags.
template <class Atom, class Sink, class NameFeatures>
void in_every_grain(const FeatureSet& set, const Sentence<Atom>& s, Sink& sink,
                    const NameFeatures& name_features) {
  name_features(s, sink);
  if (!set.repeats_coarse()) return;
  CoarseSink<Sink> coarse{sink};
  name_features(CoarseWords<Atom>{s}, coarse);
}

}  // namespace arbora::features
