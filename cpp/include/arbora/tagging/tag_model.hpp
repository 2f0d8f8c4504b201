// The tagger: p(UPOS of all words) is a linear chain, and given these, the analyses (XPOS and
// FEATS) of the words are independent of each other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arbora/data/block.hpp"
#include "arbora/tagging/analyses.hpp"
#include "arbora/tagging/chain.hpp"
#include "arbora/tagging/feature_rows.hpp"

namespace arbora::tagging {

struct TagNames {
  std::vector<std::string> upos, xpos, feats;
  bool has_xpos = false, has_feats = false;  // whether the tagger fills these columns
};

// Tags of all words of a block. A word's analysis is a number of the analysis set.
struct TagAnswer {
  std::vector<std::int32_t> upos, analyses;
  std::vector<double> p_upos, p_xpos, p_feats;
  std::vector<double> posterior;  // a row for every word, if it was asked for
};

// Values that the block has: numbers of names, or -1 where the tagger decides.
struct GivenTags {
  std::vector<std::int32_t> upos, xpos, feats;
};

struct TagModel {
  TagNames names;
  AnalysisSet set;
  Lexicon lexicon;
  std::shared_ptr<const Clusters> clusters;
  FeatureRows upos_rows, analysis_rows;
  Transitions transitions;
  std::vector<double> memory_weights;

  // Fills what follows from the rest; call it once, last.
  void finish();

  // The tags that maximise the posterior of each word (or, with `viterbi`, of the sentence), and
  // the best analysis given them. Values of the block are kept unless `retag`.
  TagAnswer tag(const Block& block, bool retag, bool viterbi, bool posterior, int threads) const;
  // Exact draws of all tags; draw d of sentence s is keyed by (seed, s, d).
  std::vector<TagAnswer> sample(const Block& block, bool retag, Index count, std::uint64_t seed,
                                int threads) const;
  // The block with these tags.
  std::string render(const Block& block, const TagAnswer& answer, bool retag) const;

  WordKnowledge knowledge() const { return {&lexicon, set.first, clusters.get()}; }
  const std::vector<std::uint64_t>& tag_atoms() const { return tag_atoms_; }

 private:
  using Numbers = std::unordered_map<std::string_view, std::int32_t>;
  class OwnSums;

  GivenTags given_in(const Block& block, bool retag) const;
  void analyse(const TypedWords& words, const GivenTags& given, TagAnswer& answer,
               const std::uint64_t* seed, Index first_sentence, Index draw, int threads) const;
  std::vector<double> own_sums(const TypedWords& words, int threads) const;
  void emissions(const TypedWords& words, Index sentence, const std::vector<double>& own,
                 const GivenTags& given, std::vector<double>& scores) const;

  Numbers upos_numbers_, xpos_numbers_, feats_numbers_;
  std::vector<std::uint64_t> tag_atoms_;
};

// Whether a sentence has FEATS: a word with something else than `_`.
bool has_feats(const Block& block, Index sentence);

// The atoms of the tags of a sentence with two paddings on either side; tag i is at 2 + i.
void tag_atoms_of(const std::vector<std::uint64_t>& atoms, const std::int32_t* tags, Index words,
                  std::vector<std::uint64_t>& found);

}  // namespace arbora::tagging
