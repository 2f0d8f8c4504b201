// The features of parts of speech and of analyses. Templates are known by their names (see
// features/hash.hpp); `take(key)` receives the key of every feature of a word.
//
// Features of a word alone are apart from those that see its neighbours: the former are summed once
// per form of a block.
#pragma once

#include <cstdint>

#include "arbora/tagging/word_types.hpp"

namespace arbora::tagging {

// The types around a word: at(-2), ..., at(2).
struct Neighbours {
  const WordType* types;
  const std::int32_t* here;
  const WordType& at(Index distance) const { return types[here[distance]]; }
};

// What capitals mean in a sentence, by the words after its first: 0 without letters that have
// cases, 1 if none has a capital, 2 if all have one (as in headings), 3 if most have one, else 4.
inline std::uint64_t style_of(const WordType* types, const std::int32_t* here, Index words) {
  Index capitals = 0, small = 0;
  for (Index i = 1; i < words; ++i) {
    capitals += types[here[i]].has_capital ? 1 : 0;
    small += types[here[i]].is_small ? 1 : 0;
  }
  if (capitals + small == 0) return 0;
  if (capitals == 0) return 1;
  return small == 0 ? 2 : capitals > small ? 3 : 4;
}

template <class Take>
void own_tag_features(const WordType& w, const Take& take) {
  take(key_of("bias"));
  take(key_of("form", w.form));
  take(key_of("lower", w.lower));
  for (std::size_t k = 0; k < kPrefixes; ++k) {
    if (w.prefixes[k] != 0) take(key_of("prefix", w.prefixes[k], k));
  }
  for (std::size_t k = 0; k + 1 < kSuffixes; ++k) {
    if (w.suffixes[k] != 0) take(key_of("suffix", w.suffixes[k], k));
  }
  for (std::size_t k = 0; k < kSkeletons; ++k) {
    if (w.skeletons[k] != 0) take(key_of("skeleton", w.skeletons[k], k));
  }
  for (std::size_t k = 0; k < w.n_grams; ++k) take(key_of("gram", w.grams[k]));
  if (w.stem_tags != 0) {
    take(key_of("stem", w.stem_tags, w.stem_rest));
    take(key_of("stem tags", w.stem_tags, w.suffixes[1]));
    take(key_of("rest", w.stem_rest));
  }
  take(key_of("shape", w.shape));
  take(key_of("short", w.short_shape));
  take(key_of("flags", w.flags));
  take(key_of("tags", w.tags));
  take(key_of("lower tags", w.lower_tags, w.short_shape));
  take(key_of("tags flags", w.tags, w.flags));
  take(key_of("tags suffix2", w.tags, w.suffixes[1]));
  take(key_of("tags suffix3", w.tags, w.suffixes[2]));
  take(key_of("flags suffix2", w.flags, w.suffixes[1]));
  take(key_of("flags suffix3", w.flags, w.suffixes[2]));
  for (std::size_t k = 0; k < std::size(w.clusters); ++k) {
    if (w.clusters[k] != 0) take(key_of("cluster", w.clusters[k], k));
  }
}

template <class Take>
void context_tag_features(const Neighbours& words, bool is_first, std::uint64_t style,
                          const Take& take) {
  const WordType &w = words.at(0), &a = words.at(-1), &b = words.at(1), &aa = words.at(-2),
                 &bb = words.at(2);
  take(key_of("first flags", static_cast<std::uint64_t>(is_first), w.flags, w.tags));
  take(key_of("lower-1", a.lower));
  take(key_of("lower+1", b.lower));
  take(key_of("lower-2", aa.lower));
  take(key_of("lower+2", bb.lower));
  take(key_of("suffix-1", a.suffixes[2]));
  take(key_of("suffix+1", b.suffixes[2]));
  take(key_of("suffix2+1", b.suffixes[1], w.suffixes[1]));
  take(key_of("suffix2-1", a.suffixes[1], w.suffixes[1]));
  take(key_of("tags-1", a.tags));
  take(key_of("tags+1", b.tags));
  take(key_of("tags-2", aa.tags));
  take(key_of("tags+2", bb.tags));
  take(key_of("lower-1 lower", a.lower, w.lower));
  take(key_of("lower lower+1", w.lower, b.lower));
  take(key_of("lower-1 lower+1", a.lower, b.lower));
  take(key_of("tags-1 tags", a.tags, w.tags));
  take(key_of("tags tags+1", w.tags, b.tags));
  take(key_of("tags-1 tags tags+1", a.tags, w.tags, b.tags));
  take(key_of("tags tags+1 tags+2", w.tags, b.tags, bb.tags));
  take(key_of("tags-2 tags-1 tags", aa.tags, a.tags, w.tags));
  take(key_of("tags-1 tags+1", a.tags, b.tags));
  take(key_of("lower tags+1", w.lower, b.tags));
  take(key_of("lower tags-1", w.lower, a.tags));
  take(key_of("tags lower+1", w.tags, b.lower));
  take(key_of("tags lower-1", w.tags, a.lower));
  take(key_of("suffix tags-1", w.suffixes[2], a.tags));
  take(key_of("suffix tags+1", w.suffixes[2], b.tags));
  take(key_of("flags-1", a.flags, w.flags));
  take(key_of("flags+1", b.flags, w.flags));
  take(key_of("flags-1 flags flags+1", a.flags, w.flags, b.flags));
  take(key_of("flags-2 flags-1 flags", aa.flags, a.flags, w.flags));
  take(key_of("flags flags+1 flags+2", w.flags, b.flags, bb.flags));
  take(key_of("lower-1 flags", a.lower, w.flags));
  take(key_of("flags lower+1", w.flags, b.lower));
  take(key_of("style flags", style, w.flags, static_cast<std::uint64_t>(is_first)));
  take(key_of("style tags", style, w.flags, w.tags));
  take(key_of("style suffix", style, w.flags, w.suffixes[2]));
  take(key_of("style lower", style, w.flags, w.lower));
  if (a.clusters[0] != 0) take(key_of("cluster-1", a.clusters[0]));
  if (b.clusters[0] != 0) take(key_of("cluster+1", b.clusters[0]));
  if (aa.clusters[0] != 0) take(key_of("cluster-2", aa.clusters[0]));
  if (bb.clusters[0] != 0) take(key_of("cluster+2", bb.clusters[0]));
  if (w.clusters[2] != 0 && a.clusters[2] != 0)
    take(key_of("cluster-1 cluster", a.clusters[2], w.clusters[2]));
  if (w.clusters[2] != 0 && b.clusters[2] != 0)
    take(key_of("cluster cluster+1", w.clusters[2], b.clusters[2]));
}

// `tag` is the atom of the word's part of speech.
template <class Take>
void own_analysis_features(const WordType& w, std::uint64_t tag, const Take& take) {
  take(key_of("a bias", tag));
  take(key_of("a form", tag, w.form));
  take(key_of("a lower", tag, w.lower));
  for (std::size_t k = 0; k < kSkeletons; ++k) {
    if (w.skeletons[k] != 0) take(key_of("a skeleton", tag, w.skeletons[k], k));
  }
  for (std::size_t k = 0; k < w.n_grams; ++k) take(key_of("a gram", tag, w.grams[k]));
  if (w.stem_tags != 0) {
    take(key_of("a stem", tag, w.stem_tags, w.stem_rest));
    take(key_of("a rest", tag, w.stem_rest));
    take(key_of("a stem analyses", tag, w.stem_analyses, w.stem_rest));
  }
  for (std::size_t k = 0; k + 1 < kPrefixes; ++k) {
    if (w.prefixes[k] != 0) take(key_of("a prefix", tag, w.prefixes[k], k));
  }
  for (std::size_t k = 0; k < kSuffixes; ++k) {
    if (w.suffixes[k] != 0) take(key_of("a suffix", tag, w.suffixes[k], k));
  }
  take(key_of("a short", tag, w.short_shape));
  take(key_of("a flags suffix", tag, w.flags, w.suffixes[1]));
  take(key_of("a analyses", tag, w.analyses));
  take(key_of("a analyses suffix", tag, w.analyses, w.suffixes[2]));
  take(key_of("a tags", tag, w.tags));
  for (std::size_t k = 0; k < std::size(w.clusters); ++k) {
    if (w.clusters[k] != 0) take(key_of("a cluster", tag, w.clusters[k], k));
  }
}

// `tags` points to the atom of the word's part of speech; two on either side may be read.
template <class Take>
void context_analysis_features(const Neighbours& words, const std::uint64_t* tags,
                               const Take& take) {
  const WordType &w = words.at(0), &a = words.at(-1), &b = words.at(1), &aa = words.at(-2);
  const std::uint64_t tag = tags[0];
  take(key_of("a tag-1", tag, tags[-1]));
  take(key_of("a tag+1", tag, tags[1]));
  take(key_of("a tag-1 tag+1", tag, tags[-1], tags[1]));
  take(key_of("a tag-2 tag-1", tag, tags[-2], tags[-1]));
  take(key_of("a tag+1 tag+2", tag, tags[1], tags[2]));
  take(key_of("a lower-1", tag, a.lower));
  take(key_of("a lower+1", tag, b.lower));
  take(key_of("a lower-2", tag, aa.lower));
  take(key_of("a suffix-1", tag, a.suffixes[1], tags[-1]));
  take(key_of("a suffix+1", tag, b.suffixes[1], tags[1]));
  take(key_of("a suffix3-1", tag, a.suffixes[2]));
  take(key_of("a suffix3+1", tag, b.suffixes[2]));
  take(key_of("a lower-1 lower", tag, a.lower, w.lower));
  take(key_of("a lower lower+1", tag, w.lower, b.lower));
  take(key_of("a suffix tag-1", tag, w.suffixes[1], tags[-1]));
  take(key_of("a suffix tag+1", tag, w.suffixes[1], tags[1]));
  take(key_of("a analyses tag-1", tag, w.analyses, tags[-1]));
  take(key_of("a analyses tag+1", tag, w.analyses, tags[1]));
  take(key_of("a analyses-1", tag, a.analyses, tags[-1]));
  take(key_of("a analyses+1", tag, b.analyses, tags[1]));
  take(key_of("a analyses-1 analyses", tag, a.analyses, w.analyses));
  take(key_of("a analyses analyses+1", tag, w.analyses, b.analyses));
  take(key_of("a analyses lower-1", tag, w.analyses, a.lower));
  take(key_of("a analyses lower-2", tag, w.analyses, aa.lower, tags[-1]));
}

}  // namespace arbora::tagging
