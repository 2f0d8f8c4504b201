#include "arbora/segmentation/characters.hpp"

#include <algorithm>
#include <array>

namespace arbora::segmentation {
namespace {

constexpr std::size_t kDirect = 0x10000;

// The class of every character below kDirect, expanded once.
const std::vector<CharacterClass>& direct_classes() {
  static const std::vector<CharacterClass> table = [] {
    std::vector<CharacterClass> made(kDirect);
    for (std::size_t run = 0; run < kClassRuns.size(); ++run) {
      const std::size_t first = kClassRuns[run] / 32;
      const std::size_t last = run + 1 < kClassRuns.size() ? kClassRuns[run + 1] / 32 : kDirect;
      for (std::size_t i = first; i < std::min(last, kDirect); ++i) {
        made[i] = static_cast<CharacterClass>(kClassRuns[run] % 32);
      }
    }
    return made;
  }();
  return table;
}

char32_t search_lower(char32_t point) {
  const auto value = static_cast<std::int32_t>(point);
  const auto after =
      std::upper_bound(kLowerRuns.begin(), kLowerRuns.end(), value,
                       [](std::int32_t p, const LowerRun& run) { return p < run.first; });
  if (after == kLowerRuns.begin()) return point;
  const LowerRun& run = *(after - 1);
  if (value > run.last || (value - run.first) % run.step != 0) return point;
  return static_cast<char32_t>(value + run.distance);
}

}  // namespace

CharacterClass class_of(char32_t point) {
  if (point < kDirect) return direct_classes()[point];
  const auto after = std::upper_bound(kClassRuns.begin(), kClassRuns.end(), 32 * point + 31);
  return static_cast<CharacterClass>(*(after - 1) % 32);
}

char32_t lower_of(char32_t point) {
  if (point < 0x80) return point >= 'A' && point <= 'Z' ? point + 32 : point;
  return search_lower(point);
}

char32_t upper_of(char32_t point) {
  if (point < 0x80) return point >= 'a' && point <= 'z' ? point - 32 : point;
  const auto value = static_cast<std::int32_t>(point);
  for (const LowerRun& run : kLowerRuns) {  // of several capitals the first
    const std::int32_t capital = value - run.distance;
    if (capital >= run.first && capital <= run.last && (capital - run.first) % run.step == 0) {
      return static_cast<char32_t>(capital);
    }
  }
  return point;
}

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) {
    return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  }
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F),
          4};
}

void append(Characters& characters, char32_t point) {
  const CharacterClass kind = class_of(point);
  characters.points.push_back(point);
  characters.classes.push_back(kind);
  characters.lower.push_back(kind == CharacterClass::space ? U' ' : lower_of(point));
}

namespace {

// What names of hosts and files end in.
constexpr std::u32string_view kEndings[] = {
    U"com", U"net", U"org", U"edu", U"gov", U"htm", U"html", U"pdf",  U"doc",
    U"xls", U"ppt", U"txt", U"zip", U"jpg", U"gif", U"png",  U"docx", U"xlsx",
};

// Marks the name of a host or file in the chunk begin ... end - 1: letters, digits, dots, hyphens
// and underscores, and one of the endings after the last dot.
void mark_file(Characters& text, Index begin, Index end) {
  const auto is_word = [&](Index k) { return is_word_class(text.classes[at(k)]); };
  const auto is_part = [&](Index k) {
    const char32_t letter = text.lower[at(k)];
    return is_word(k) || letter == U'.' || letter == U'-' || letter == U'_';
  };
  for (Index dot = end - 2; dot > begin; --dot) {
    if (text.lower[at(dot)] != U'.' || !is_word(dot - 1)) continue;
    Index last = dot + 1;
    while (last < end && is_word(last)) ++last;
    const bool is_ending =
        std::any_of(std::begin(kEndings), std::end(kEndings), [&](std::u32string_view ending) {
          return last - dot - 1 == static_cast<Index>(ending.size()) && text.has(dot + 1, ending);
        });
    if (!is_ending) continue;
    Index first = dot;
    while (first > begin && is_part(first - 1)) --first;
    std::fill(text.web.begin() + first, text.web.begin() + last, Web::file);
    return;
  }
}

// Marks the address in the chunk begin ... end - 1, if there is one.
void mark_chunk(Characters& text, Index begin, Index end) {
  const auto is_small = [&](Index i) {
    return text.lower[at(i)] >= 'a' && text.lower[at(i)] <= 'z';
  };
  bool is_marked = false;
  for (Index i = begin; i < end; ++i) {
    if (text.has(i, U"://") || text.has(i, U"www.")) {
      Index first = i;
      while (first > begin && is_small(first - 1)) --first;
      std::fill(text.web.begin() + first, text.web.begin() + end, Web::page);
      return;
    }
    if (text.lower[at(i)] != U'@' || i == begin || i + 1 == end) continue;
    const auto is_part = [&](Index k) {
      const char32_t letter = text.lower[at(k)];
      return is_word_class(text.classes[at(k)]) || letter == U'.' || letter == U'-' ||
             letter == U'_' || letter == U'+';
    };
    Index first = i, last = i + 1;
    while (first > begin && is_part(first - 1)) --first;
    while (last < end && is_part(last)) ++last;
    if (first == i || last == i + 1) continue;
    std::fill(text.web.begin() + first, text.web.begin() + last, Web::mail);
    is_marked = true;
    i = last - 1;
  }
  if (!is_marked) mark_file(text, begin, end);
}

}  // namespace

void mark_addresses(Characters& text) {
  text.web.assign(text.points.size(), Web::no);
  Index begin = 0;
  for (Index i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !text.is_space(i)) continue;
    if (i > begin) mark_chunk(text, begin, i);
    begin = i + 1;
  }
}

Characters characters_of(std::string_view text) {
  Characters made;
  std::size_t place = 0;
  while (place < text.size()) {
    const Decoded one = decode(text.substr(place));
    made.bytes.push_back(static_cast<std::uint32_t>(place));
    append(made, one.point);
    place += static_cast<std::size_t>(one.size);
  }
  made.bytes.push_back(static_cast<std::uint32_t>(place));
  mark_addresses(made);
  return made;
}

int line_ends(char32_t point, char32_t next) {
  switch (point) {
    case 0x0D:
      return next == 0x0A ? 0 : 1;
    case 0x0A:
    case 0x0B:
    case 0x0C:
    case 0x85:
    case 0x2028:
      return 1;
    case 0x2029:
      return 2;
    default:
      return 0;
  }
}

}  // namespace arbora::segmentation
