// Sentences of a CoNLL-U or CoNLL-X file, kept as the bytes that the file had plus an index of where
// everything is: reading is one pass, and what is not changed is written back byte for byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arbora::data {

enum class Format : int { conllu = 0, conllx = 1 };

// The ten columns, by their CoNLL-U names; CoNLL-X calls upos CPOSTAG, xpos POSTAG, deps PHEAD and
// misc PDEPREL.
enum class Column : int { id, form, lemma, upos, xpos, feats, head, deprel, deps, misc };

inline constexpr int kColumns = 10;
inline constexpr std::int32_t kNoHead = -1;  // "_" in the HEAD column

class Block {
 public:
  std::int64_t sentences() const { return static_cast<std::int64_t>(first_word_.size()) - 1; }

  // Words are counted from 1, as in the file; multiword tokens and empty nodes are not words.
  std::int64_t words(std::int64_t sentence) const {
    return first_word_[static_cast<std::size_t>(sentence) + 1] -
           first_word_[static_cast<std::size_t>(sentence)];
  }
  std::string_view field(std::int64_t sentence, std::int64_t word, Column column) const {
    const auto at = static_cast<std::size_t>(
        (first_word_[static_cast<std::size_t>(sentence)] + word - 1) * kColumns +
        static_cast<int>(column));
    return std::string_view(text_).substr(fields_[at].first, fields_[at].size);
  }
  // 0 is the root symbol, kNoHead a head that the file does not give.
  const std::int32_t* heads(std::int64_t sentence) const {
    return heads_.data() + first_word_[static_cast<std::size_t>(sentence)];
  }
  Format format() const { return format_; }

 private:
  struct Span {
    std::uint32_t first, size;  // a block is at most 4 GB
  };

  std::string text_;
  Format format_ = Format::conllu;
  std::vector<std::int64_t> first_word_{0};  // of each sentence, and the end
  std::vector<Span> fields_;                 // ten of each word
  std::vector<std::int32_t> heads_;          // one of each word
};

}  // namespace arbora::data
