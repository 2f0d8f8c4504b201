#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "arbora/data/line.hpp"
#include "arbora/data/render.hpp"

namespace arbora::data {
namespace {

void check_text(std::string_view text, std::string_view forbidden, const char* what) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' ||
      text.find_first_of(forbidden) != text.npos) {
    throw std::invalid_argument(std::string(what) + " '" + std::string(text.substr(0, 40)) +
                                "' is empty, has spaces around it or holds a character that its "
                                "column cannot hold; leave out tabs, line ends and, in MISC, |");
  }
}

void append_number(std::string& out, std::int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

std::string_view key_of(std::string_view item) { return item.substr(0, item.find('=')); }

// The key of a comment "# key = value".
std::string_view comment_key(std::string_view line) {
  const std::size_t begin = line.find_first_not_of("# \t");
  if (begin == line.npos || line.find('=') == line.npos) return {};
  const std::string_view key = key_of(line.substr(begin));
  return key.substr(0, key.find_last_not_of(" \t") + 1);
}

class Renderer {
 public:
  Renderer(const Block& block, const NewColumns& columns) : block_(block), columns_(columns) {
    for (const std::string_view name : columns.label_names) check_text(name, "\t\r\n", "the label");
    for (const MiscItems& items : columns.misc) check_text(items.key, "\t\r\n|=", "the MISC key");
    texts_.assign(columns.texts.begin(), columns.texts.end());
    const Layout& layout = block.layout();
    for (const NewTexts& each : texts_) {
      if (!layout.has(each.column)) {
        throw std::invalid_argument(layout.title + " has no " +
                                    Layout().columns[static_cast<std::size_t>(each.column)] +
                                    " column; convert the sentences to CoNLL-U first");
      }
    }
    // replaced from left to right
    const auto place = [&](const NewTexts& each) { return layout.place(each.column); };
    std::sort(texts_.begin(), texts_.end(),
              [&](const auto& one, const auto& other) { return place(one) < place(other); });
  }

  std::string run(std::span<const std::int64_t> sentences) {
    std::size_t bytes = 0;
    for (const std::int64_t s : sentences) bytes += block_.text(s).size();
    out_.reserve(bytes + bytes / 8 + 64);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const bool first = i == 0 || sentences[i] != sentences[i - 1];
      const bool last = i + 1 == sentences.size() || sentences[i] != sentences[i + 1];
      append_sentence(sentences[i], first, last);
      if (columns_.comments != nullptr) ++columns_.comments;
    }
    return std::move(out_);
  }

 private:
  void append_sentence(std::int64_t s, bool first, bool last) {
    const std::string_view all = block_.text(s), lines = block_.lines(s);
    out_ += missing_separator(out_);
    const char* body = lines.data();
    if (first) out_.append(all.data(), body);
    append_comments(s);
    cursor_ = body + block_.comments(s).size();
    const std::int64_t n = block_.words(s);
    for (std::int64_t word = 1; word <= n; ++word) append_word(s, word, n);
    const char* end = last ? all.data() + all.size() : body + lines.size();
    out_.append(cursor_, end);
    offset_ += n;
  }

  // The comments of the file, except those whose key is removed or replaced, then the new ones.
  void append_comments(std::int64_t s) {
    std::string_view old = block_.comments(s);
    const std::string_view added = columns_.comments == nullptr ? "" : *columns_.comments;
    if (added.empty() && columns_.forgotten.empty()) {
      out_ += old;
      return;
    }
    while (!old.empty()) {
      const std::string_view line = old.substr(0, old.find('\n') + 1);
      if (!is_forgotten(comment_key(line)) && !has_key(added, line)) out_ += line;
      old.remove_prefix(line.size());
    }
    if (added.empty()) return;
    const std::string_view text = block_.lines(s);
    const std::size_t line_end = text.find('\n');
    const bool carriage = line_end != text.npos && line_end > 0 && text[line_end - 1] == '\r';
    for_lines(added, [&](std::string_view line) {
      if (!line.starts_with('#') || line.find('\r') != line.npos) {
        throw std::invalid_argument("a comment must begin with # and be one line");
      }
      out_ += line;
      out_ += carriage ? "\r\n" : "\n";
    });
  }

  template <class Take>
  static void for_lines(std::string_view text, Take take) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      take(text.substr(at, end - at));
      at = end + 1;
    }
  }

  bool is_forgotten(std::string_view key) const {
    const auto& forgotten = columns_.forgotten;
    return std::find(forgotten.begin(), forgotten.end(), key) != forgotten.end();
  }

  bool has_forgotten(std::string_view misc) const {
    while (!columns_.forgotten.empty() && !misc.empty()) {
      const std::string_view item = misc.substr(0, misc.find('|'));
      if (is_forgotten(key_of(item))) return true;
      misc.remove_prefix(std::min(item.size() + 1, misc.size()));
    }
    return false;
  }

  static bool has_key(std::string_view added, std::string_view line) {
    const std::string_view key = comment_key(line);
    bool found = false;
    for_lines(added,
              [&](std::string_view one) { found |= !key.empty() && comment_key(one) == key; });
    return found;
  }

  void append_word(std::int64_t s, std::int64_t word, std::int64_t n) {
    const auto at = static_cast<std::size_t>(offset_ + word - 1);
    const Layout& layout = block_.layout();
    std::size_t next = 0;
    const auto append_texts_before = [&](int place) {
      for (; next < texts_.size() && layout.place(texts_[next].column) < place; ++next) {
        append_text(s, word, texts_[next].column, texts_[next].texts[at]);
      }
    };
    const int head_place = layout.place(Column::head), label_place = layout.place(Column::deprel);
    append_texts_before(std::min(head_place, label_place));
    if (head_place < label_place) append_head(s, word, n, at);
    append_texts_before(std::max(head_place, label_place));
    append_label(s, word, at);
    if (label_place < head_place) append_head(s, word, n, at);
    append_texts_before(kLast);
    if (!layout.universal) return;
    const std::string_view misc = block_.field(s, word, Column::misc);
    if (!columns_.misc.empty() || (misc.size() > 1 && has_forgotten(misc))) append_misc(misc, at);
  }

  void append_head(std::int64_t s, std::int64_t word, std::int64_t n, std::size_t at) {
    if (columns_.heads == nullptr) return;
    const std::int64_t head = columns_.heads[at];
    if (head < kNoHead || head > n || head == word) {
      throw std::invalid_argument("the head " + std::to_string(head) + " of word " +
                                  std::to_string(word) + " is not a word of the sentence, 0 or -1");
    }
    replace(block_.field(s, word, Column::head));
    if (head == kNoHead) {
      out_ += '_';
    } else {
      append_number(out_, head);
    }
  }

  void append_label(std::int64_t s, std::int64_t word, std::size_t at) {
    if (columns_.labels == nullptr) return;
    const std::int64_t label = columns_.labels[at];
    if (label >= static_cast<std::int64_t>(columns_.label_names.size())) {
      throw std::invalid_argument("label " + std::to_string(label) + " has no name");
    }
    replace(block_.field(s, word, Column::deprel));
    out_ += label < 0 ? "_" : columns_.label_names[static_cast<std::size_t>(label)];
  }

  void append_text(std::int64_t s, std::int64_t word, Column column, std::string_view text) {
    const Layout& layout = block_.layout();
    if (text.empty() || text.front() == ' ' || text.back() == ' ' ||
        text.find_first_of("\t\r\n") != text.npos) {
      const auto place = static_cast<std::size_t>(layout.place(column));
      check_text(text, "\t\r\n", layout.columns[place].c_str());
    }
    // not the field that was read, which may be a substitute
    replace(in_order_ ? block_.field(s, word, column)
                      : block_.line_field(s, word, layout.place(column)));
    out_ += text;
  }

  // Copies the text before a field, whose new contents are written next.
  void replace(std::string_view field) {
    out_.append(cursor_, field.data());
    cursor_ = field.data() + field.size();
  }

  bool has_value(const MiscItems& items, std::size_t at) const {
    return items.numbers != nullptr ? !std::isnan(items.numbers[at]) : !items.texts[at].empty();
  }

  void append_misc(std::string_view old, std::size_t at) {
    replace(old);
    const std::size_t begin = out_.size();
    const auto separate = [&] {
      if (out_.size() != begin) out_ += '|';
    };
    while (!old.empty() && old != "_") {
      const std::string_view item = old.substr(0, old.find('|'));
      old.remove_prefix(std::min(item.size() + 1, old.size()));
      const bool anew = std::any_of(columns_.misc.begin(), columns_.misc.end(), [&](const auto& m) {
        return key_of(item) == m.key && has_value(m, at);
      });
      if (anew || is_forgotten(key_of(item))) continue;
      separate();
      out_ += item;
    }
    for (const MiscItems& items : columns_.misc) {
      if (!has_value(items, at)) continue;
      separate();
      out_ += items.key;
      out_ += '=';
      if (items.numbers != nullptr) {
        append_decimal(items.numbers[at], items.decimals);
      } else {
        check_text(items.texts[at], "\t\r\n|", "the MISC value");
        out_ += items.texts[at];
      }
    }
    if (out_.size() == begin) out_ += '_';
  }

  void append_decimal(double value, int decimals) {
    char digits[400];
    const auto [end, error] =
        std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals);
    if (error != std::errc()) throw std::invalid_argument("a number for MISC is too long");
    out_.append(digits, end);
  }

  static constexpr int kLast = 1 << 30;  // after every column

  const Block& block_;
  NewColumns columns_;
  const bool in_order_ = block_.layout().in_order();
  std::vector<NewTexts> texts_;  // in the order of the line
  std::string out_;
  const char* cursor_ = nullptr;  // everything of the block before it is written
  std::int64_t offset_ = 0;       // words before the sentence
};

}  // namespace

std::string render(const Block& block, std::span<const std::int64_t> sentences,
                   const NewColumns& columns) {
  return Renderer(block, columns).run(sentences);
}

std::string copy(const Block& block, std::int64_t first, std::int64_t last) {
  std::string out;
  for (std::int64_t s = first; s < last; ++s) {
    out += missing_separator(out);
    out += block.text(s);
  }
  return out;
}

std::string_view missing_separator(std::string_view text) {
  if (text.empty() || text.ends_with("\n\n")) return "";
  const std::size_t last = text.rfind('\n');
  if (last == text.npos || last + 1 != text.size()) {
    const std::string_view tail = text.substr(last == text.npos ? 0 : last + 1);
    return is_blank(tail) ? "\n" : "\n\n";
  }
  const std::size_t before = last == 0 ? text.npos : text.rfind('\n', last - 1);
  return is_blank(text.substr(before == text.npos ? 0 : before + 1)) ? "" : "\n";
}

}  // namespace arbora::data
