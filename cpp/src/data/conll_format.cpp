#include <algorithm>
#include <array>

#include "arbora/data/block.hpp"

namespace arbora::data {
namespace {

// The tags of UD 2 and 1 (CONJ), and the sign for none.
constexpr std::array<std::string_view, 19> kUniversalTags = {
    "ADJ",  "ADP",  "ADV",   "AUX",   "CCONJ", "CONJ", "DET",  "INTJ", "NOUN", "NUM",
    "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM",  "VERB", "X",    "_"};

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Evidence for a format; the strongest sign decides.
struct Signs {
  bool conllu_line = false;  // a comment, a range, an empty node
  bool phead = false;        // a bare number in column 9
  bool tag = false;          // column 4 has a tag
  bool other_tag = false;    // one that no UD treebank has
  bool space_after = false;  // in column 10

  void scan(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.starts_with('#')) {
      // Arbora writes such comments into CoNLL-X files too
      conllu_line |= !line.starts_with("# arbora.");
      return;
    }
    std::array<std::string_view, kColumns> fields;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const std::size_t tab = std::min(line.find('\t'), line.size());
      fields[i] = line.substr(0, tab);
      if (tab == line.size()) {
        if (i + 1 < kColumns) return;  // not ten columns: the reader will report it
      } else {
        line.remove_prefix(tab + 1);
      }
    }
    conllu_line |= fields[0].find_first_of("-.") != fields[0].npos;
    if (!is_digits(fields[0])) return;
    phead |= is_digits(fields[8]);
    tag |= fields[3] != "_";
    other_tag |=
        std::find(kUniversalTags.begin(), kUniversalTags.end(), fields[3]) == kUniversalTags.end();
    space_after |= fields[9].find("SpaceAfter=") != fields[9].npos;
  }

  Guess verdict() const {
    if (conllu_line) return {Format::conllu, true};
    if (phead) return {Format::conllx, true};
    return {other_tag && !space_after ? Format::conllx : Format::conllu, tag || space_after};
  }
};

}  // namespace

std::string_view column_name(Column column, Format format) {
  constexpr std::array<std::string_view, kColumns> conllu = {
      "ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};
  constexpr std::array<std::string_view, kColumns> conllx = {
      "ID", "FORM", "LEMMA", "CPOSTAG", "POSTAG", "FEATS", "HEAD", "DEPREL", "PHEAD", "PDEPREL"};
  return (format == Format::conllu ? conllu : conllx)[static_cast<std::size_t>(column)];
}

Guess guess_format(std::string_view beginning) {
  if (beginning.starts_with("\xEF\xBB\xBF")) beginning.remove_prefix(3);
  Signs signs;
  while (!beginning.empty() && !signs.conllu_line) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    signs.scan(beginning.substr(0, end));
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
  }
  return signs.verdict();
}

}  // namespace arbora::data
