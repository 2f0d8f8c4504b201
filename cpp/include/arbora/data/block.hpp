// Sentences of a CoNLL-U or CoNLL-X file, kept as the bytes of the file plus an index: reading is
// one pass, and unchanged fields are written back byte for byte.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arbora/layers.hpp"

namespace arbora::data {

enum class Format : int { conllu = 0, conllx = 1 };

// The ten columns, by their CoNLL-U names; CoNLL-X calls upos CPOSTAG, xpos POSTAG, deps PHEAD and
// misc PDEPREL.
enum class Column : int { id, form, lemma, upos, xpos, feats, head, deprel, deps, misc };

inline constexpr int kColumns = 10;
std::string_view column_name(Column column, Format format);    // as the format calls it
inline constexpr std::int32_t kNoHead = -1;                    // "_" in the HEAD column
inline constexpr std::size_t kMaxText = std::size_t{1} << 31;  // bytes of one block

// Why a sentence is invalid: a message, and the line that it is about.
struct Fault {
  std::int64_t line;
  std::string message;
};

struct ReadOptions {
  Format format = Format::conllu;
  std::int64_t first_line = 1;  // number of the text's first line in its file
  bool is_last = true;          // false: more text follows, the last sentence is left out
  bool trees = false;           // cycles and missing roots are faults
  bool skip_bad = false;        // false: stop at the first bad sentence
};

class Block {
 public:
  Block() = default;
  // Indexes the sentences of `text`. A sentence is a run of lines with at least one word; blank
  // lines after it, and anything without words before it, belong to it, so that nothing of a file
  // is lost.
  Block(std::string text, const ReadOptions& options);
  // The same without a copy: `owner` keeps the text alive.
  Block(std::string_view text, std::shared_ptr<const void> owner, const ReadOptions& options);

  std::int64_t sentences() const { return static_cast<std::int64_t>(first_word_.size()) - 1; }

  // Words are counted from 1, as in the file; multiword tokens and empty nodes are not words.
  std::int64_t words(std::int64_t sentence) const {
    return first_word_[static_cast<std::size_t>(sentence) + 1] -
           first_word_[static_cast<std::size_t>(sentence)];
  }
  std::string_view field(std::int64_t sentence, std::int64_t word, Column column) const {
    const std::uint32_t* tabs = starts(sentence, word) + static_cast<int>(column);
    return {text_.data() + tabs[0], tabs[1] - tabs[0] - 1};
  }
  // 0 is the root symbol, kNoHead a head that the file does not give.
  const std::int32_t* heads(std::int64_t sentence) const {
    return heads_.data() + first_word_[static_cast<std::size_t>(sentence)];
  }
  Format format() const { return format_; }

  // The number of words before a sentence: its offset in flat arrays.
  std::int64_t first_word(std::int64_t sentence) const {
    return first_word_[static_cast<std::size_t>(sentence)];
  }
  std::int64_t total_words() const { return first_word_.back(); }

  // All bytes of a sentence; the same from its first comment to its last line; its comments.
  std::string_view text(std::int64_t sentence) const {
    const Place& p = place(sentence);
    return between(p.begin, p.end);
  }
  std::string_view lines(std::int64_t sentence) const {
    const Place& p = place(sentence);
    return between(p.body, p.last);
  }
  std::string_view comments(std::int64_t sentence) const {
    const Place& p = place(sentence);
    return between(p.body, p.tokens);
  }
  std::int64_t line(std::int64_t sentence) const {
    return place(sentence).line;
  }  // its first token

  // The bytes that were read: all except those of an incomplete last sentence.
  std::string_view text() const { return text_; }
  std::int64_t next_line() const { return next_line_; }
  const std::vector<Fault>& faults() const { return faults_; }
  // A warning about the sentences that were read: the first suspicious line.
  const std::vector<Fault>& remarks() const { return remarks_; }

 private:
  friend class Indexer;

  struct Place {
    std::uint32_t begin;   // of everything that belongs to the sentence
    std::uint32_t body;    // of its comments
    std::uint32_t tokens;  // of its first line that is no comment
    std::uint32_t last;    // after its last line
    std::uint32_t end;     // after the blank lines that follow
    std::int64_t line;     // number of the line at `tokens`
  };

  const Place& place(std::int64_t sentence) const {
    return places_[static_cast<std::size_t>(sentence)];
  }
  const std::uint32_t* starts(std::int64_t sentence, std::int64_t word) const {
    return starts_.data() + (first_word(sentence) + word - 1) * (kColumns + 1);
  }
  std::string_view between(std::uint32_t begin, std::uint32_t end) const {
    return text_.substr(begin, end - begin);
  }

  std::shared_ptr<const void> owner_;
  std::string_view text_;
  Format format_ = Format::conllu;
  std::vector<std::int64_t> first_word_{0};  // of each sentence, and the end
  std::vector<Place> places_;                // one of each sentence
  std::vector<std::uint32_t>
      starts_;                       // of each word's fields, and one past the end of the last one
  std::vector<std::int32_t> heads_;  // one of each word
  std::vector<Fault> faults_, remarks_;
  std::int64_t next_line_ = 1;
};

// Which format a text is in, from its beginning. The first sign that is found decides:
//   1. a comment (other than "# arbora."), an id like 3-4 or an id like 8.1: CoNLL-U;
//   2. a bare number in column 9, which is a PHEAD: CoNLL-X;
//   3. a tag in column 4 that is no UD tag, and no SpaceAfter in column 10: CoNLL-X;
//   4. otherwise CoNLL-U.
// HEAD and DEPREL are not used, so a file without them is recognised as well. The format is not
// certain if there is no sign and no UD tag.
struct Guess {
  Format format;
  bool certain;
};
Guess guess_format(std::string_view beginning);

// The first byte that is not UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace arbora::data
