// The input of the feature templates: atoms of words, with padding around the sentence.
//
// HEAD, DEPREL, DEPS and MISC (PHEAD, PDEPREL) are never read here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arbora/base/types.hpp"
#include "arbora/data/block.hpp"
#include "arbora/features/hash.hpp"

namespace arbora::features {

// One atom of FEATS: "Case=Nom" and its attribute "Case" (in CoNLL-X they may be the same).
template <class Atom>
struct Morph {
  Atom atom, attribute;
};

// A word's membership in a cluster of words; hard clusters have share 1.
template <class Atom>
struct Member {
  Atom cluster, short_prefix, long_prefix;  // bit strings of Brown clusters have prefixes
  float share = 1.0F;
};

// Begin and end of a list that a sentence holds for all its words.
struct Range {
  std::uint32_t begin = 0, end = 0;
};

template <class Atom>
struct Word {
  Atom form, lemma, fine, coarse, feats, prefix, suffix, stem;  // stem: the first five letters
  Range morphs, members;
  // Words of a kind up to and including this one; differences count those between two words.
  std::uint16_t verbs = 0, marks = 0, conjunctions = 0;
  bool is_long = false;  // has more than five letters
};

// A sentence as the templates see it: word 0 is the root symbol, and two words of padding stand
// before it and after the last.
template <class Atom>
struct Sentence {
  const Word<Atom>* words;  // words[-2] .. words[n_words + 2]
  const Morph<Atom>* all_morphs;
  const Member<Atom>* all_members;
  Index n_words;

  const Word<Atom>& operator[](Index i) const { return words[i]; }
  std::span<const Morph<Atom>> morphs(Index i) const {
    return {all_morphs + words[i].morphs.begin, all_morphs + words[i].morphs.end};
  }
  std::span<const Member<Atom>> members(Index i) const {
    return {all_members + words[i].members.begin, all_members + words[i].members.end};
  }
};

// Clusters of words, from a file: form to (cluster, share). Forms are known by their hashes, in one
// sorted list, so that a large model loads fast.
struct ClusterEntry {
  std::uint64_t form;
  std::uint32_t cluster;  // its place among the names
  float share;
};
struct Clusters {
  std::vector<std::string> names;
  std::vector<ClusterEntry> entries;  // those of a form in the order in which they were added
  bool any_case = true;               // a form that is unknown as it is counts as its lower case

  // The number of a cluster, which is a new one unless it was the last to be named.
  std::uint32_t number_of(std::string_view cluster);
  void add(std::string_view form, std::uint32_t cluster, float share);
  // Sorts the entries; call it once, last.
  void finish();

  // The clusters of a form; none if it is unknown.
  std::span<const ClusterEntry> find(std::string_view form) const;
};

// Which columns the training data filled; the others are not used.
struct Columns {
  bool lemma = true, upos = true, xpos = true, feats = true;

  // Tags of two grains; with one column filled there is only the fine grain.
  bool two_tags() const { return upos && xpos; }
};

// Sentences as atoms, computed once for all passes.
class Encoded {
 public:
  Encoded(const data::Block& block, std::span<const std::int64_t> sentences, Columns columns,
          const Clusters* clusters);

  Index sentences() const { return static_cast<Index>(n_words_.size()); }
  Index words(Index sentence) const { return n_words_[static_cast<std::size_t>(sentence)]; }
  Sentence<std::uint64_t> operator[](Index sentence) const;

  // The same sentences where a form or lemma that occurs c times in them is hidden with
  // probability amount / (amount + c), at places that the seed decides.
  Encoded hiding(double amount, std::uint64_t seed) const;

 private:
  std::vector<Word<std::uint64_t>> words_;
  std::vector<Morph<std::uint64_t>> morphs_;
  std::vector<Member<std::uint64_t>> members_;
  std::vector<std::size_t> first_;  // of each sentence: its root symbol in words_
  std::vector<Index> n_words_;
};

// The same for one sentence, with the atoms' texts, for explanations.
class NamedSentence {
 public:
  NamedSentence(const data::Block& block, std::int64_t sentence, Columns columns,
                const Clusters* clusters);

  Sentence<NamedAtom> view() const;

 private:
  std::vector<Word<NamedAtom>> words_;
  std::vector<Morph<NamedAtom>> morphs_;
  std::vector<Member<NamedAtom>> members_;
  Index n_words_;
};

}  // namespace arbora::features
