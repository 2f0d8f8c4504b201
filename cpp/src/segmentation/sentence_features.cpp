#include "arbora/segmentation/sentence_features.hpp"

namespace arbora::segmentation {

const TokenAtoms& atoms_at(std::span<const TokenAtoms> atoms, Index t) {
  static const TokenAtoms kEdge;
  return t < 0 || t >= static_cast<Index>(atoms.size()) ? kEdge : atoms[at(t)];
}

TokenAtoms token_atoms(const Characters& text, Token token, const Lexicon& lexicon, int part) {
  const Index end = std::min(token.end, token.begin + kLongestPart);
  TokenAtoms atoms;
  atoms.form = hash_of_lower(text, token.begin, end);
  atoms.shape = BoundaryContext::shape(text, token.begin, end);
  // The first and last character: punctuation is itself, everything else its class.
  const auto seen = [&](Index i) {
    const CharacterClass kind = text.classes[at(i)];
    return is_word_class(kind) ? static_cast<std::uint64_t>(kind)
                               : kClasses + static_cast<std::uint64_t>(text.lower[at(i)]);
  };
  atoms.first = seen(token.begin);
  atoms.last = seen(token.end - 1);
  atoms.suffix = hash_of_lower(text, std::max(token.begin, token.end - 3), token.end);
  atoms.length = length_bucket(token.end - token.begin);
  if (text.classes[at(token.begin)] == CharacterClass::upper) {
    const std::uint64_t whole = hash_of_lower(text, token.begin, token.end);
    atoms.capital = lexicon.knows(whole, Lexicon::Kind::small, part) ? 1 : 2;
  }
  return atoms;
}

Gap gap_after(const Characters& text, Index end, Index next, bool lines_matter) {
  if (next == end) return Gap::none;
  int lines = 0;
  for (Index i = end; i < next; ++i) {
    const char32_t following = i + 1 < text.size() ? text.points[at(i + 1)] : 0;
    lines += line_ends(text.points[at(i)], following);
  }
  if (lines >= 2) return Gap::paragraph;
  return lines == 1 && lines_matter ? Gap::line : Gap::space;
}

void SoFar::add(const Characters& text, Token token) {
  if (token.end - token.begin != 1) return;
  const char32_t point = text.points[at(token.begin)];
  if (point == U'"') {
    open_quote = !open_quote;
  } else if (text.classes[at(token.begin)] == CharacterClass::opening) {
    ++open_brackets;
  } else if (text.classes[at(token.begin)] == CharacterClass::closing) {
    open_brackets = std::max(0, open_brackets - 1);
  }
}

}  // namespace arbora::segmentation
