// One pass over the text: lines into groups, groups into sentences.
#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "arbora/data/block.hpp"
#include "arbora/data/line.hpp"
#include "arbora/data/wide_lines.hpp"

namespace arbora::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string text_of(std::int64_t value) { return std::to_string(value); }

// A word on a cycle, or 0; missing heads end a path.
std::int64_t word_on_a_cycle(const std::int32_t* heads, std::int64_t n) {
  std::vector<std::int64_t> seen(static_cast<std::size_t>(n) + 1,
                                 0);  // by the walk from which word
  for (std::int64_t start = 1; start <= n; ++start) {
    std::int64_t word = start;
    while (word > 0 && seen[static_cast<std::size_t>(word)] == 0) {
      seen[static_cast<std::size_t>(word)] = start;
      word = heads[word - 1];
    }
    if (word > 0 && seen[static_cast<std::size_t>(word)] == start) return word;
  }
  return 0;
}

}  // namespace

class Indexer {
 public:
  Indexer(Block& block, const ReadOptions& options)
      : block_(block),
        options_(options),
        layout_(*options.layout),
        in_order_(layout_.in_order()),
        wide_(layout_),
        line_number_(options.first_line),
        begin_line_(options.first_line) {}

  void run() {
    const std::string_view text = block_.text_;
    const std::size_t whole_lines = text.rfind('\n') + 1;  // 0 if there is none
    has_carriages_ = text.find('\r') != text.npos;
    valid_ = find_invalid_utf8(options_.is_last ? text : text.substr(0, whole_lines)) == text.npos;
    const std::size_t words = text.size() / 48;  // an estimate; unused reserve costs nothing
    block_.starts_.reserve(words * width());
    block_.heads_.reserve(words);
    std::size_t at = 0;
    while (at < text.size() && !stopped_) {
      const std::size_t found = text.find('\n', at);
      if (found == text.npos && !options_.is_last) break;
      const std::size_t next = found == text.npos ? text.size() : found + 1;
      take_line(at, next, text.substr(at, std::min(found, text.size()) - at));
      at = next;
      ++line_number_;
    }
    if (options_.is_last && !stopped_) finish();
    block_.text_ = text.substr(0, sentence_.begin);
    block_.next_line_ = begin_line_;
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(block_.width_); }

  void take_line(std::size_t at, std::size_t next, std::string_view line) {
    if (at == 0 && options_.first_line == 1 && line.starts_with(kByteOrderMark)) {
      line.remove_prefix(kByteOrderMark.size());
      at += kByteOrderMark.size();
    }
    if (is_blank(line)) {
      in_group_ = false;
      closed_ = has_tokens_;
      return;
    }
    if (!in_group_) begin_group(static_cast<std::uint32_t>(at));
    if (!valid_) check_utf8(line);
    const bool comment = line.starts_with('#');
    if (!comment && closed_) commit(next_begin_, next_begin_line_);
    if (stopped_) return;
    if (!comment) take_token(static_cast<std::uint32_t>(at), line);
    if (has_tokens_ && !closed_) sentence_.last = static_cast<std::uint32_t>(next);
    if (!options_.skip_bad && (closed_ ? next_fault_ : fault_)) stop();
  }

  // A line after blank lines ends the sentence before, unless no words follow at all.
  void begin_group(std::uint32_t start) {
    in_group_ = true;
    group_ = start;
    if (closed_ && !next_known_) {
      next_known_ = true;
      next_begin_ = start;
      next_begin_line_ = line_number_;
    }
  }

  void complain(std::int64_t line, std::string message) {
    std::optional<Fault>& fault = closed_ ? next_fault_ : fault_;
    if (!fault) fault = Fault{line, std::move(message)};
  }

  void check_utf8(std::string_view line) {
    const std::size_t bad = find_invalid_utf8(line);
    if (bad == line.npos) return;
    constexpr char hex[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(line[bad]);
    complain(line_number_, std::string("byte 0x") + hex[byte >> 4] + hex[byte & 15] +
                               " at position " + text_of(static_cast<std::int64_t>(bad) + 1) +
                               " of the line is not UTF-8; " + advice_on_bytes(line));
  }

  void take_token(std::uint32_t start, std::string_view line) {
    if (!has_tokens_) {
      has_tokens_ = true;
      sentence_.body = group_;
      sentence_.tokens = start;
      sentence_.line = line_number_;
    }
    if (fault_) return;  // nothing of this sentence will be used
    while (line.back() == ' ' || line.back() == '\r') line.remove_suffix(1);
    if (has_carriages_ && line.find('\r') != line.npos) {
      return complain(line_number_,
                      "a carriage return stands inside the line; leave it out of the columns and "
                      "end lines with a line feed");
    }
    if (!in_order_) return take_wide(start, line);
    std::uint32_t starts[kColumns + 1] = {start};
    std::int64_t columns = 1;
    for_tabs(line, [&](std::size_t tab) {
      if (columns < kColumns) starts[columns] = start + static_cast<std::uint32_t>(tab) + 1;
      ++columns;
    });
    if (columns != kColumns && line.find('\0') != line.npos) {
      return complain(line_number_, std::string("the line has zero bytes; ") + kBinary);
    }
    if (columns != kColumns) {
      return complain(line_number_, "the line has " + text_of(columns) + " column" +
                                        (columns == 1 ? "" : "s") +
                                        " instead of 10; separate ten columns by single tabs and "
                                        "write _ for what is empty");
    }
    starts[kColumns] = start + static_cast<std::uint32_t>(line.size()) + 1;
    const auto field = [&](Column column) {
      const int c = static_cast<int>(column);
      return line.substr(starts[c] - start, starts[c + 1] - starts[c] - 1);
    };
    const bool is_word = take_id(field(Column::id)) && take_head(field(Column::head));
    bool has_gaps = line.find(' ') != line.npos;
    for (int c = 0; c < kColumns; ++c) has_gaps |= starts[c + 1] - starts[c] == 1;
    for (int c = 1; has_gaps && c < kColumns; ++c) {
      check_field(c, field(static_cast<Column>(c)));
    }
    if (!is_word) return;
    block_.starts_.insert(block_.starts_.end(), starts, starts + kColumns + 1);
    word_lines_.push_back(line_number_);
  }

  // The same for lines with other columns than those of CoNLL-U.
  void take_wide(std::uint32_t start, std::string_view line) {
    if (auto fault = wide_.split(line, words_ == 0)) return complain(line_number_, *fault);
    if (!take_id(wide_.field(0)) || !take_head(wide_.field(layout_.place(Column::head)))) return;
    for (int place = 1; place < wide_.fields(); ++place) check_field(place, wide_.field(place));
    wide_.append_row(start, block_.starts_);
    word_lines_.push_back(line_number_);
  }

  // Every column holds something, without spaces around it. Published treebanks of other formats
  // than CoNLL-U have such spaces, but never in what is compared and written, FORM and DEPREL.
  void check_field(int place, std::string_view value) {
    if (!value.empty() && value.front() != ' ' && value.back() != ' ') return;
    const auto named = static_cast<int>(layout_.columns.size());
    const std::string name = place < named ? layout_.columns[static_cast<std::size_t>(place)]
                                           : layout_.further + text_of(place - named + 1);
    if (value.empty()) {
      return complain(line_number_, "column " + name + " is empty; write _ where there is nothing");
    }
    const std::string found = name + " " + quoted(value) + " has spaces around it; ";
    if (layout_.universal || place == layout_.place(Column::form) ||
        place == layout_.place(Column::deprel)) {
      complain(line_number_, found + "remove them");
    } else if (!remark_) {
      remark_ = Fault{line_number_, found + "they are read as a part of it"};
    }
  }

  // Whether the line is a word; multiword tokens and empty nodes are checked and skipped.
  bool take_id(std::string_view id) {
    const std::size_t mark = id.find_first_of("-.");
    if (mark == id.npos || !in_order_) {
      if (number(id) == words_ + 1) {
        next_empty_ = 1;
        after_range_ = false;
        return ++words_ > 0;
      }
      complain(line_number_,
               "the id is " + quoted(id) + " where " + text_of(words_ + 1) +
                   " is expected; number the words of a sentence 1, 2, 3, ... and put "
                   "a blank line between sentences");
      return false;
    }
    const std::int64_t first = number(id.substr(0, mark)), second = number(id.substr(mark + 1));
    if (id[mark] == '-') {
      if (first != words_ + 1 || second < first || first <= range_end_) {
        complain(line_number_, "the multiword token " + quoted(id) + " does not begin at word " +
                                   text_of(words_ + 1) +
                                   ", overlaps another or runs backwards; write its line just "
                                   "before its first word as first-last");
      }
      range_end_ = second;
      range_line_ = line_number_;
      after_range_ = true;
    } else if (after_range_) {
      complain(line_number_, "the empty node " + quoted(id) +
                                 " stands between a multiword token and its first word; write it "
                                 "before the line of the multiword token");
    } else if (first != words_ || second != next_empty_++) {
      complain(line_number_, "the empty node " + quoted(id) + " is out of order; after word " +
                                 text_of(words_) + " empty nodes are numbered " + text_of(words_) +
                                 ".1, " + text_of(words_) + ".2, ...");
    }
    return false;
  }

  bool take_head(std::string_view head) {
    const std::int64_t value = head == "_" ? kNoHead : number(head);
    if (value < 0 && head != "_") {
      complain(line_number_, "the head " + quoted(head) + " of word " + text_of(words_) +
                                 " is not a number; write the id of a word, 0 for the root or _ "
                                 "where it is not known");
      return false;
    }
    if (value == words_) {
      complain(line_number_,
               "word " + text_of(words_) +
                   " is its own head; write the id of another word, 0 for the root or "
                   "_ where it is not known");
      return false;
    }
    block_.heads_.push_back(static_cast<std::int32_t>(value));
    return true;
  }

  // Checks that need the complete sentence.
  void check_sentence() {
    if (words_ == 0) {
      return complain(sentence_.line,
                      "the sentence has no words; remove it or add lines with "
                      "ids 1, 2, 3, ...");
    }
    if (words_ > options_.max_words) {
      return complain(sentence_.line,
                      "the sentence has " + text_of(words_) + " words and the limit is " +
                          text_of(options_.max_words) +
                          ": split it, or raise the limit (--max-words, max_words)");
    }
    if (range_end_ > words_) {
      return complain(range_line_, "the multiword token ends at word " + text_of(range_end_) +
                                       " of a sentence of " + text_of(words_) +
                                       " words; end it at a word of the sentence");
    }
    const std::int32_t* heads = block_.heads_.data() + block_.first_word_.back();
    bool complete = true, rooted = false;
    for (std::int64_t word = 1; word <= words_; ++word) {
      const std::int32_t head = heads[word - 1];
      if (head > words_) {
        return complain(word_lines_[static_cast<std::size_t>(word) - 1],
                        "the head " + text_of(head) + " of word " + text_of(word) +
                            " is outside a sentence of " + text_of(words_) +
                            " words; write the id of a word, 0 for the root or _ where it is not "
                            "known");
      }
      complete &= head != kNoHead;
      rooted |= head == 0;
    }
    if (options_.trees) check_tree(heads, complete && !rooted);
  }

  void check_tree(const std::int32_t* heads, bool rootless) {
    if (rootless) {
      return complain(sentence_.line, "no word of the sentence has head 0; give every tree a root");
    }
    if (const std::int64_t word = word_on_a_cycle(heads, words_)) {
      complain(word_lines_[static_cast<std::size_t>(word) - 1],
               "the heads lead from word " + text_of(word) +
                   " back to it; break the cycle so that the heads form a tree");
    }
  }

  // Ends the sentence: adds it, or its fault, to the block.
  void commit(std::uint32_t end, std::int64_t end_line) {
    closed_ = false;
    if (!fault_) check_sentence();
    if (fault_) {
      block_.starts_.resize(static_cast<std::size_t>(block_.first_word_.back()) * width());
      block_.heads_.resize(static_cast<std::size_t>(block_.first_word_.back()));
      block_.faults_.push_back(*std::move(fault_));
      stopped_ = !options_.skip_bad;
      if (stopped_) return;
    } else {
      sentence_.end = end;
      if (!in_order_) {
        const auto first = static_cast<std::size_t>(block_.first_word_.back()) * width();
        wide_.substitute(block_.text_, std::span(block_.starts_).subspan(first));
      }
      if (remark_ && block_.remarks_.empty()) block_.remarks_.push_back(*std::move(remark_));
      block_.places_.push_back(sentence_);
      block_.first_word_.push_back(block_.first_word_.back() + words_);
    }
    sentence_ = {};
    sentence_.begin = end;
    begin_line_ = end_line;
    fault_ = std::exchange(next_fault_, std::nullopt);
    remark_.reset();
    has_tokens_ = next_known_ = after_range_ = false;
    words_ = range_end_ = 0;
    next_empty_ = 1;
    word_lines_.clear();
    wide_.forget_sentence();
  }

  // Stops reading at an invalid line of the current sentence or before the next one.
  void stop() {
    if (closed_) commit(next_begin_, next_begin_line_);
    if (!stopped_) block_.faults_.push_back(*std::move(fault_));
    stopped_ = true;
    block_.starts_.resize(static_cast<std::size_t>(block_.first_word_.back()) * width());
    block_.heads_.resize(static_cast<std::size_t>(block_.first_word_.back()));
  }

  void finish() {
    const auto size = static_cast<std::uint32_t>(block_.text_.size());
    if (closed_ && next_fault_) commit(next_begin_, next_begin_line_);
    if (stopped_) return;
    if (has_tokens_) {
      commit(size, line_number_);
    } else if (fault_) {
      block_.faults_.push_back(*std::move(fault_));
    }
    if (stopped_) return;
    sentence_.begin = size;
    begin_line_ = line_number_;
  }

  Block& block_;
  const ReadOptions& options_;
  const Layout& layout_;
  const bool in_order_;
  WideLines wide_;     // used if they are not
  bool valid_ = true;  // all of it is UTF-8
  bool has_carriages_ = false;
  bool stopped_ = false;
  std::int64_t line_number_;

  // The sentence that is being read, and where it began.
  Block::Place sentence_{};
  std::int64_t begin_line_;
  bool has_tokens_ = false;
  bool closed_ = false;  // a blank line was seen after it
  std::optional<Fault> fault_, remark_;
  bool after_range_ = false;  // its last line is a multiword token
  std::int64_t words_ = 0, range_end_ = 0, range_line_ = 0, next_empty_ = 1;
  std::vector<std::int64_t> word_lines_;

  // The lines without a blank one between them, and the next sentence if it has begun.
  bool in_group_ = false;
  std::uint32_t group_ = 0;
  bool next_known_ = false;
  std::uint32_t next_begin_ = 0;
  std::int64_t next_begin_line_ = 0;
  std::optional<Fault> next_fault_;
};

Block::Block(std::string text, const ReadOptions& options) {
  const auto kept = std::make_shared<const std::string>(std::move(text));
  *this = Block(*kept, kept, options);
}

Block::Block(std::string_view text, std::shared_ptr<const void> owner, const ReadOptions& options)
    : owner_(std::move(owner)),
      text_(text),
      layout_(options.layout),
      first_sentence_(options.first_sentence) {
  if (text_.size() > kMaxText) throw std::length_error("a block of text is larger than 2 GB");
  if (!layout_->in_order()) {
    check_layout(*layout_);
    width_ = kWideRow;
    step_ = 2;
  }
  Indexer(*this, options).run();
}

std::string_view Block::line_field(std::int64_t sentence, std::int64_t word, int place) const {
  const char* const begin = field(sentence, word, Column::id).data();
  std::string_view line = text_.substr(static_cast<std::size_t>(begin - text_.data()));
  for (; place > 0; --place) line.remove_prefix(line.find('\t') + 1);
  std::string_view found = line.substr(0, line.find_first_of("\t\n"));
  // Only the last column is followed by the end of the line, and by what may stand before that.
  while (found.ends_with('\r') || (found.ends_with(' ') && line.find('\t') >= line.find('\n'))) {
    found.remove_suffix(1);
  }
  return found;
}

}  // namespace arbora::data
