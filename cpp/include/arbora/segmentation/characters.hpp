// Text as characters (code points) with their classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "arbora/base/types.hpp"

namespace arbora::segmentation {

// What kind of character it is; `edge` stands for what is outside of a paragraph.
enum class CharacterClass : std::uint8_t {
  edge,
  space,
  lower,
  upper,
  letter,
  mark,
  digit,
  number,
  opening,
  closing,
  dash,
  punctuation,
  symbol,
  other,
  hiragana,
  katakana,
  han,
};  // tools/write_character_classes.py has the same numbers
inline constexpr int kClasses = 32;  // a power of two with some room

// Capitals first, first + step, ..., last, and the distance to their small letters.
struct LowerRun {
  std::int32_t first, last, step, distance;
};
extern const std::vector<std::uint32_t> kClassRuns;
extern const std::vector<LowerRun> kLowerRuns;

CharacterClass class_of(char32_t point);
char32_t lower_of(char32_t point);
char32_t upper_of(char32_t point);  // the capital of a small letter, else the character itself

inline bool is_word_class(CharacterClass kind) {
  return (kind >= CharacterClass::lower && kind <= CharacterClass::number) ||
         kind >= CharacterClass::hiragana;
}

// Whether a character is part of an address or the name of a file, which have punctuation inside.
enum class Web : std::uint8_t { no, page, mail, file };
inline constexpr std::uint64_t kWebs = 4;

// Characters of one paragraph, or of a piece of it. All spaces look the same to features.
struct Characters {
  std::vector<char32_t> points;
  std::vector<char32_t> lower;  // small letters; a space for every kind of space
  std::vector<CharacterClass> classes;
  std::vector<Web> web;
  std::vector<std::uint32_t> bytes;  // where each begins in the text, and where the last ends

  Index size() const { return static_cast<Index>(points.size()); }
  bool is_space(Index i) const { return classes[at(i)] == CharacterClass::space; }
  // Outside of the paragraph everything is an edge.
  CharacterClass class_at(Index i) const {
    return i < 0 || i >= size() ? CharacterClass::edge : classes[at(i)];
  }
  char32_t lower_at(Index i) const { return i < 0 || i >= size() ? 0 : lower[at(i)]; }
  bool has(Index i, std::u32string_view letters) const {
    return i + static_cast<Index>(letters.size()) <= size() &&
           std::equal(letters.begin(), letters.end(), lower.begin() + i);
  }
};

// The character at the beginning of valid UTF-8, and its size in bytes.
struct Decoded {
  char32_t point;
  int size;
};
Decoded decode(std::string_view text);

void append(Characters& characters, char32_t point);  // without `bytes` and `web`
void mark_addresses(Characters& characters);          // fills `web`
Characters characters_of(std::string_view text);

// Line ends that a character counts as: a paragraph separator is two. CR before LF is none.
int line_ends(char32_t point, char32_t next);

}  // namespace arbora::segmentation
