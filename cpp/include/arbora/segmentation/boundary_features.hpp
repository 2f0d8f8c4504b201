// Features of a place between two characters, neither of which is a space: does a token end here?
#pragma once

#include <algorithm>
#include <bit>

#include "arbora/segmentation/lexicon.hpp"

namespace arbora::segmentation {

inline constexpr Index kLongestPart = 16;  // letters of a word that features look at

// The surroundings of the place after character `i`.
struct BoundaryContext {
  std::uint64_t left, right;                // the chunk (between spaces) before and after the place
  std::uint64_t left_run, right_run;        // letters and digits next to the place
  std::uint64_t left_shape, right_shape;    // runs of classes of the chunk
  std::uint64_t left_digits, right_digits;  // the same, with every digit
  std::uint64_t next;                       // the class that the next chunk begins with
  std::uint64_t ends, starts, spans;        // lengths of known words around the place
  std::uint64_t runs_known;                 // which runs around the place are known words
  bool goes_on = false;                     // whether letters or digits follow in the chunk

  BoundaryContext(const Characters& text, Index i, Matches& matches) {
    Index begin = i, end = i + 1;  // characters begin ... i, and i + 1 ... end - 1
    while (begin > 0 && i - begin < kLongestPart && !text.is_space(begin - 1)) --begin;
    while (end < text.size() && end - i <= kLongestPart && !text.is_space(end)) ++end;
    left = hash_of_lower(text, begin, i + 1);
    right = hash_of_lower(text, i + 1, end);
    left_shape = shape(text, begin, i + 1);
    right_shape = shape(text, i + 1, end);
    left_digits = shape(text, begin, i + 1, true);
    right_digits = shape(text, i + 1, end, true);
    Index first = i + 1, last = i + 1;
    while (first > begin && is_word_class(text.classes[at(first - 1)])) --first;
    while (last < end && is_word_class(text.classes[at(last)])) ++last;
    left_run = hash_of_lower(text, first, i + 1);
    right_run = hash_of_lower(text, i + 1, last);
    Index after = end;
    while (after < text.size() && after < end + kLongestPart && text.is_space(after)) ++after;
    next = static_cast<std::uint64_t>(text.class_at(after));
    for (Index k = i + 2; k < end && !goes_on; ++k) goes_on = is_word_class(text.classes[at(k)]);
    look_up(i, begin, matches);
    look_up_runs(text, i, begin, end, matches);
  }

  static std::uint64_t shape(const Characters& text, Index begin, Index end,
                             bool with_digits = false) {
    LetterHash hash;
    for (Index i = begin; i < end; ++i) {
      const CharacterClass kind = text.classes[at(i)];
      if (i == begin || kind != text.classes[at(i - 1)] ||
          (with_digits && kind == CharacterClass::digit)) {
        hash.add(static_cast<char32_t>(kind));
      }
    }
    return hash.value();
  }

 private:
  void look_up(Index i, Index begin, Matches& matches) {
    const auto longest = [](unsigned lengths) {
      return static_cast<std::uint64_t>(std::bit_width(lengths | 1u) - 1);
    };
    ends = spans = 0;
    for (Index from = std::max(begin, i + 2 - Matches::kLongest); from <= i; ++from) {
      const unsigned lengths = matches.from(from);
      const Index to_here = i + 1 - from;
      if ((lengths >> to_here & 1u) != 0)
        ends = std::max(ends, static_cast<std::uint64_t>(to_here));
      if (const unsigned beyond = lengths >> (to_here + 1); beyond != 0) {
        spans = std::max(spans, longest(lengths));
      }
    }
    starts = longest(matches.from(i + 1));
  }

  // The runs of letters on both sides of the place, and of a mark of punctuation next to it.
  void look_up_runs(const Characters& text, Index i, Index begin, Index end, Matches& matches) {
    const auto is_word = [&](Index k) { return is_word_class(text.classes[at(k)]); };
    const auto is_known = [&](Index from, Index to) {
      return from < to && to - from <= Matches::kLongest &&
             (matches.from(from) >> (to - from) & 1u) != 0;
    };
    const Index left_end = is_word(i) ? i + 1 : i, right_begin = is_word(i + 1) ? i + 1 : i + 2;
    Index first = left_end, last = right_begin;
    while (first > begin && is_word(first - 1)) --first;
    while (last < end && is_word(last)) ++last;
    const bool bits[] = {is_known(first, left_end), is_known(right_begin, last),
                         is_known(first, last),     is_known(first, i + 1),
                         first == left_end,         right_begin >= last};
    runs_known = 0;
    for (const bool bit : bits) runs_known = 2 * runs_known + (bit ? 1u : 0u);
  }
};

template <class Take>
void boundary_features(const Characters& text, Index i, Matches& matches, Take take) {
  const auto letter = [&](Index k) { return static_cast<std::uint64_t>(text.lower_at(i + k)); };
  const auto kind = [&](Index k) { return static_cast<std::uint64_t>(text.class_at(i + k)); };
  const auto key = [&](const features::Template& of, auto... atoms) {
    take(features::key_of(of, atoms...));
  };
  const std::uint64_t l3 = letter(-2), l2 = letter(-1), l1 = letter(0);
  const std::uint64_t r1 = letter(1), r2 = letter(2), r3 = letter(3);
  const std::uint64_t cl3 = kind(-2), cl2 = kind(-1), cl1 = kind(0);
  const std::uint64_t cr1 = kind(1), cr2 = kind(2), cr3 = kind(3);
  const BoundaryContext c(text, i, matches);
  const std::uint64_t web = kWebs * static_cast<std::uint64_t>(text.web[at(i)]) +
                            static_cast<std::uint64_t>(text.web[at(i + 1)]);
  key("bias");
  key("web", web, l1, r1);
  key("web kinds", web, cl1, cr1, cr2);
  key("web next", web, r1, r2, c.next);
  key("web pair", web, cl1, cr1);
  key("web goes on", web, static_cast<std::uint64_t>(c.goes_on), cr1);
  key("l1", l1);
  key("r1", r1);
  key("l2", l2);
  key("r2", r2);
  key("l3", l3);
  key("r3", r3);
  key("l1 r1", l1, r1);
  key("l2 l1", l2, l1);
  key("r1 r2", r1, r2);
  key("l2 l1 r1", l2, l1, r1);
  key("l1 r1 r2", l1, r1, r2);
  key("l3 l2 l1", l3, l2, l1);
  key("r1 r2 r3", r1, r2, r3);
  key("l2 l1 r1 r2", l2, l1, r1, r2);
  key("kinds 1", cl1, cr1);
  key("kinds 2", cl2, cl1, cr1, cr2);
  key("kinds 3", cl3, cl2, cl1, cr1, cr2, cr3);
  key("left", c.left);
  key("right", c.right);
  key("left right", c.left, c.right);
  key("left next", c.left, r1, c.next);
  key("right next", l1, c.right, c.next);
  key("shapes", c.left_shape, c.right_shape);
  key("shapes next", c.left_shape, c.right_shape, c.next);
  key("digits", c.left_digits, c.right_digits);
  key("left run", c.left_run, r1);
  key("right run", l1, c.right_run);
  key("runs", c.left_run, c.right_run);
  key("left run next", c.left_run, r1, r2, c.next);
  key("ends", c.ends, cl1, cr1);
  key("starts", c.starts, cl1, cr1);
  key("spans", c.spans, cl1, cr1);
  key("known", c.ends, c.starts, c.spans);
  // Letters do not matter here, only marks of punctuation.
  const std::uint64_t left_mark = is_word_class(text.classes[at(i)]) ? cl1 : kClasses + l1;
  const std::uint64_t right_mark = is_word_class(text.classes[at(i + 1)]) ? cr1 : kClasses + r1;
  key("runs known", c.runs_known, left_mark, right_mark);
  key("runs known next", c.runs_known, left_mark, right_mark, c.next);
}

}  // namespace arbora::segmentation
