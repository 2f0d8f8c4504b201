#include "arbora/segmentation/training.hpp"

namespace arbora::segmentation {
namespace {

// Collects slots instead of weights.
auto slots_into(Examples& examples, int bits) {
  return [&examples, bits](std::uint64_t key) {
    examples.slots.push_back(static_cast<std::uint32_t>(key >> (64 - bits)));
  };
}

}  // namespace

void add_boundary_examples(const Paragraph& known, const OpenPairs& open, const Lexicon& lexicon,
                           int bits, Examples& examples) {
  const Characters& text = known.text;
  const std::vector<Token>& tokens = known.tokens;
  std::vector<std::uint8_t> parts(text.points.size());
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    std::fill(parts.begin() + tokens[t].begin, parts.begin() + tokens[t].end, known.parts[t]);
  }
  Matches matches(text, lexicon, std::move(parts));
  const auto add = [&](Index i, bool ends) {
    if (open[pair_at(text, i)] == 0) return;
    boundary_features(text, i, matches, slots_into(examples, bits));
    examples.end_candidate();
    examples.end_example(ends ? 1 : 0);
  };
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    for (Index i = tokens[t].begin; i + 1 < tokens[t].end; ++i) add(i, false);
    const Index last = tokens[t].end - 1;
    if (last + 1 < text.size() && !text.is_space(last + 1)) add(last, true);
  }
}

void add_sentence_examples(const Paragraph& known, bool lines_matter, const Lexicon& lexicon,
                           int bits, Examples& examples) {
  const Characters& text = known.text;
  const std::vector<Token>& tokens = known.tokens;
  const std::vector<TokenAtoms> atoms = atoms_of(text, tokens, lines_matter, lexicon, known.parts);
  Index start = 0;
  SoFar so_far;
  for (Index t = 0; t + 1 < static_cast<Index>(tokens.size()); ++t) {
    so_far.add(text, tokens[at(t)]);
    sentence_features(atoms, start, t, so_far, slots_into(examples, bits));
    examples.end_candidate();
    examples.end_example(known.ends_here[at(t)]);
    if (known.ends_here[at(t)] != 0) {
      start = t + 1;
      so_far = SoFar();
    }
  }
}

void add_split_examples(const Paragraph& known, const SplitRules& rules, const Lexicon& lexicon,
                        int bits, Examples& examples) {
  const Characters& text = known.text;
  const std::vector<Token>& tokens = known.tokens;
  const std::vector<TokenAtoms> atoms = atoms_of(text, tokens, false, lexicon, known.parts);
  std::vector<std::uint32_t> some;
  for (Index t = 0; t < static_cast<Index>(tokens.size()); ++t) {
    rules.find(text, tokens[at(t)], some);
    if (some.empty()) continue;
    std::int32_t answer = 0;
    for (std::size_t k = 0; k < some.size(); ++k) {
      split_features(rules, some[k], text, tokens[at(t)], atoms, t, lexicon, known.parts[at(t)],
                     slots_into(examples, bits));
      examples.end_candidate();
      if (static_cast<std::int32_t>(some[k]) == known.right[at(t)]) {
        answer = static_cast<std::int32_t>(k) + 1;
      }
    }
    examples.end_example(answer);
  }
}

void count_pairs(const Paragraph& known, std::span<std::int64_t> counts) {
  const Characters& text = known.text;
  for (const Token token : known.tokens) {
    for (Index i = token.begin; i < token.end && i + 1 < text.size(); ++i) {
      if (!text.is_space(i + 1)) ++counts[2 * pair_at(text, i) + (i + 1 == token.end ? 1 : 0)];
    }
  }
}

}  // namespace arbora::segmentation
