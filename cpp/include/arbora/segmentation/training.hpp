// Examples from text whose tokens, sentences and words are known.
#pragma once

#include <vector>

#include "arbora/segmentation/examples.hpp"
#include "arbora/segmentation/segmenter.hpp"

namespace arbora::segmentation {

// Tokens hold no spaces. `parts` are those of the lexicon, `ends_here` says where sentences end,
// `right` is the rule that splits a token, or -1.
struct Paragraph {
  Characters text;
  std::vector<Token> tokens;
  std::vector<std::uint8_t> parts, ends_here;
  std::vector<std::int32_t> right;
};

void add_boundary_examples(const Paragraph& known, const OpenPairs& open, const Lexicon& lexicon,
                           int bits, Examples& examples);
void add_sentence_examples(const Paragraph& known, bool lines_matter, const Lexicon& lexicon,
                           int bits, Examples& examples);
void add_split_examples(const Paragraph& known, const SplitRules& rules, const Lexicon& lexicon,
                        int bits, Examples& examples);

// Adds the pairs of classes: counts[2 * pair] inside of tokens, [2 * pair + 1] between two.
void count_pairs(const Paragraph& known, std::span<std::int64_t> counts);

}  // namespace arbora::segmentation
