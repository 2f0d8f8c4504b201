// Segments of a text as CoNLL-U.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arbora/segmentation/segmenter.hpp"

namespace arbora::segmentation {

// What is written, and where in the whole text it stands: `offset` is in characters.
struct Rendering {
  bool ranges = false;  // TokenRange in MISC
  Index offset = 0;
  Index first_sentence = 0;  // sentences before it
  bool opens_text = true;    // the first sentence is the first of the text
  bool opens_paragraph = true;
};

// The sentences of a text, as far as they are certain, and how much of it they cover.
struct Rendered {
  std::string conllu;
  std::vector<std::int64_t> starts, ends;         // of tokens, in characters of the whole text
  std::vector<std::int32_t> words;                // of each token
  std::vector<std::int64_t> sentences;            // the first token of each sentence
  std::vector<double> token_ends, sentence_ends;  // probabilities
  std::size_t bytes = 0;                          // of the text that were used
  Index characters = 0;
  bool opens_paragraph = true;  // what follows begins a paragraph
};

// `text` is valid UTF-8 without NUL. If it is not the last part of the text, only what no further
// text can change is rendered; the rest is to be given again, with what follows it.
Rendered segment_text(const SegmenterModel& model, std::string_view text, bool is_last,
                      const Rendering& how);

}  // namespace arbora::segmentation
