#include "arbora/segmentation/render.hpp"

#include <algorithm>

namespace arbora::segmentation {
namespace {

constexpr char32_t kByteOrderMark = 0xFEFF;

void append_utf8(std::string& out, char32_t point) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

void append_escaped(std::string& out, std::string_view spaces) {
  for (const char c : spaces) {
    switch (c) {
      case ' ':
        out += "\\s";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out.push_back(c);
    }
  }
}

// A part of the text that is segmented at once.
struct Piece {
  Characters characters;    // `bytes` are offsets in the whole text
  bool is_certain = false;  // no further text can change where it ends
  bool is_cut = false;      // the paragraph continues
};

// The piece that begins at a byte: leading spaces, then text up to the spaces before the next.
Piece piece_at(std::string_view text, std::size_t place, bool is_last, bool opens_text) {
  Piece piece;
  Characters& read = piece.characters;
  int lines = 0;
  bool seen_token = false;
  while (place < text.size()) {
    const Decoded one = decode(text.substr(place));
    const std::size_t after = place + static_cast<std::size_t>(one.size);
    const bool is_mark = opens_text && read.points.empty() && one.point == kByteOrderMark;
    const bool is_space = is_mark || class_of(one.point) == CharacterClass::space;
    if (is_space) {
      const char32_t next = after < text.size() ? decode(text.substr(after)).point : 0;
      lines += line_ends(one.point, next);
    } else {
      const bool ends = seen_token && lines >= 2;
      if (ends || read.size() >= kPiece) {
        piece.is_certain = true;
        piece.is_cut = !ends;
        break;
      }
      seen_token = true;
      lines = 0;
    }
    read.bytes.push_back(static_cast<std::uint32_t>(place));
    append(read, one.point);
    if (is_mark) {
      read.classes.back() = CharacterClass::space;
      read.lower.back() = U' ';
    }
    place = after;
  }
  read.bytes.push_back(static_cast<std::uint32_t>(place));
  mark_addresses(read);
  piece.is_certain = piece.is_certain || is_last;
  return piece;
}

class Writer {
 public:
  Writer(const SegmenterModel& model, std::string_view text, const Rendering& how, Rendered& out)
      : model_(model), text_(text), how_(how), out_(out) {}

  // Tokens first, ..., last - 1 of a piece are a sentence. `next` is where the next token begins.
  void sentence(const Piece& piece, const Segments& found, std::size_t first, std::size_t last,
                Index next, bool opens_paragraph, bool ends_text) {
    const Index number = how_.first_sentence + static_cast<Index>(out_.sentences.size()) + 1;
    const bool opens_text = how_.opens_text && out_.sentences.empty();
    out_.sentences.push_back(static_cast<std::int64_t>(out_.starts.size()));
    if (opens_text) out_.conllu += "# newdoc\n";
    if (opens_paragraph) out_.conllu += "# newpar\n";
    out_.conllu += "# sent_id = " + std::to_string(number) + "\n# text = ";
    for (std::size_t t = first; t < last; ++t) {
      out_.conllu += bytes(piece, found.tokens[t].begin, found.tokens[t].end);
      if (t + 1 < last && found.tokens[t + 1].begin > found.tokens[t].end) out_.conllu += ' ';
    }
    out_.conllu += '\n';
    word_ = 1;
    for (std::size_t t = first; t < last; ++t) {
      const Index before = opens_text && t == first ? found.tokens[t].begin : 0;
      const Index after = t + 1 < found.tokens.size() ? found.tokens[t + 1].begin : next;
      token(piece, found, t, before, after, ends_text && t + 1 == last);
    }
    out_.conllu += '\n';
  }

 private:
  std::string_view bytes(const Piece& piece, Index begin, Index end) const {
    const std::vector<std::uint32_t>& places = piece.characters.bytes;
    return text_.substr(places[at(begin)], places[at(end)] - places[at(begin)]);
  }

  void token(const Piece& piece, const Segments& found, std::size_t t, Index before, Index after,
             bool ends_text) {
    const Token token = found.tokens[t];
    const std::string_view form = bytes(piece, token.begin, token.end);
    const Index start = how_.offset + out_.characters + token.begin;
    set_misc(start, token.end - token.begin, bytes(piece, 0, before),
             bytes(piece, token.end, after), ends_text);
    std::int32_t words = 1;
    if (found.rules[t] < 0) {
      line(std::to_string(word_), form, misc_);
    } else {
      const auto rule = static_cast<std::uint32_t>(found.rules[t]);
      const auto parts = model_.rules.apply(rule, piece.characters, token);
      words = static_cast<std::int32_t>(parts.size());
      line(std::to_string(word_) + '-' + std::to_string(word_ + words - 1), form, misc_);
      for (std::int32_t w = 0; w < words; ++w) {
        std::string part;
        for (const char32_t letter : parts[static_cast<std::size_t>(w)]) append_utf8(part, letter);
        line(std::to_string(word_ + w), part, "_");
      }
    }
    word_ += words;
    out_.starts.push_back(start);
    out_.ends.push_back(start + token.end - token.begin);
    out_.words.push_back(words);
    out_.token_ends.push_back(found.token_ends[t]);
    out_.sentence_ends.push_back(found.sentence_ends[t]);
  }

  void line(std::string_view id, std::string_view form, std::string_view misc) {
    out_.conllu.append(id).append("\t").append(form);
    out_.conllu.append("\t_\t_\t_\t_\t_\t_\t_\t").append(misc).append("\n");
  }

  void set_misc(Index start, Index size, std::string_view before, std::string_view after,
                bool ends_text) {
    misc_.clear();
    const auto item = [&](std::string_view text) {
      if (!misc_.empty()) misc_ += '|';
      misc_ += text;
    };
    if (after.empty()) {
      item("SpaceAfter=No");
    } else if (after != " " || ends_text) {  // a file may end with a line end that is no space
      item("SpacesAfter=");
      append_escaped(misc_, after);
    }
    if (!before.empty()) {
      item("SpacesBefore=");
      append_escaped(misc_, before);
    }
    if (how_.ranges) {
      item("TokenRange=" + std::to_string(start) + ":" + std::to_string(start + size));
    }
    if (misc_.empty()) misc_ = "_";
  }

  const SegmenterModel& model_;
  std::string_view text_;
  const Rendering& how_;
  Rendered& out_;
  std::int32_t word_ = 1;
  std::string misc_;
};

// How many tokens of a piece are final: all, or those of the sentences well before a cut. A cut
// that would use less than half of the piece is made in the middle of a sentence instead.
std::size_t final_tokens(const Piece& piece, const Segments& found) {
  if (!piece.is_cut) return found.tokens.size();
  const Index limit = piece.characters.size() - kMargin;
  std::size_t last = 0, forced = 1;
  for (std::size_t t = 0; t < found.tokens.size() && found.tokens[t].end <= limit; ++t) {
    forced = t + 1;
    if (found.ends_here[t] != 0 && found.tokens[t].end >= limit / 2) last = t + 1;
  }
  return last > 0 ? last : forced;
}

}  // namespace

Rendered segment_text(const SegmenterModel& model, std::string_view text, bool is_last,
                      const Rendering& how) {
  Rendered out;
  out.opens_paragraph = how.opens_paragraph;
  Writer writer(model, text, how, out);
  while (out.bytes < text.size()) {
    const bool opens_text = how.opens_text && out.sentences.empty();
    const Piece piece = piece_at(text, out.bytes, is_last, opens_text);
    if (!piece.is_certain) break;
    const Segments found = segment(model, piece.characters);
    const std::size_t last = final_tokens(piece, found);
    const Index next =
        last < found.tokens.size() ? found.tokens[last].begin : piece.characters.size();
    const bool ends_text = is_last && piece.characters.bytes[at(next)] == text.size();
    std::size_t first = 0;
    for (std::size_t t = 0; t < last; ++t) {
      if (found.ends_here[t] == 0 && t + 1 < last) continue;
      writer.sentence(piece, found, first, t + 1, next, out.opens_paragraph,
                      ends_text && t + 1 == last);
      out.opens_paragraph = false;
      first = t + 1;
    }
    out.bytes = piece.characters.bytes[at(next)];
    out.characters += next;
    if (!piece.is_cut && last > 0) out.opens_paragraph = true;
  }
  return out;
}

}  // namespace arbora::segmentation
