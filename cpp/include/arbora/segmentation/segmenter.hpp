// From text to tokens, sentences and words.
//
// The text is worked on in pieces, so that memory and time stay linear: a piece is a paragraph (up
// to a blank line), or kPiece characters of a longer one. Of such a cut piece the sentences that
// end well before the cut count, and the next piece begins after them. Where pieces begin depends
// on the text only, not on how much of it was read at once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arbora/segmentation/split_rules.hpp"

namespace arbora::segmentation {

inline constexpr Index kPiece = 1 << 16;         // characters
inline constexpr Index kMargin = 1 << 12;        // characters before a cut where nothing is final
inline constexpr Index kLongestToken = 1000;     // characters
inline constexpr Index kLongestSentence = 1000;  // tokens

struct SegmenterWeights {
  std::vector<float> boundary, sentence, split;  // sizes are powers of two
};

// Which pairs of classes can have a token end between them; [left * kClasses + right].
using OpenPairs = std::vector<std::uint8_t>;

// The score of a table of 2^bits weights is the sum over slots of features.
class Scorer {
 public:
  explicit Scorer(std::span<const float> weights);
  void operator()(std::uint64_t key) { score_ += static_cast<double>(weights_[key >> shift_]); }
  double score() const { return score_; }

 private:
  const float* weights_;
  int shift_;
  double score_ = 0.0;
};

struct SegmenterModel {
  SegmenterWeights weights;
  OpenPairs open;
  Lexicon lexicon;
  SplitRules rules;
  bool lines_matter = false;  // whether the training text had line ends inside of paragraphs
};

// Of a piece. Sentences are given by their first tokens; words of split tokens by their rule.
struct Segments {
  std::vector<Token> tokens;
  std::vector<double> token_ends;       // probability that a token ends where it does
  std::vector<double> sentence_ends;    // probability that a sentence ends after the token
  std::vector<std::uint8_t> ends_here;  // whether one does
  std::vector<std::int32_t> rules;      // -1: one word
};

// Segments of the characters of a piece that has no blank line inside.
Segments segment(const SegmenterModel& model, const Characters& text);

// Atoms of all tokens of a paragraph, with their parts of the lexicon or none.
std::vector<TokenAtoms> atoms_of(const Characters& text, std::span<const Token> tokens,
                                 bool lines_matter, const Lexicon& lexicon,
                                 std::span<const std::uint8_t> parts);

// Where the classes of characters i and i + 1 are among the pairs.
inline std::size_t pair_at(const Characters& text, Index i) {
  return static_cast<std::size_t>(text.classes[at(i)]) * kClasses +
         static_cast<std::size_t>(text.classes[at(i + 1)]);
}

}  // namespace arbora::segmentation
