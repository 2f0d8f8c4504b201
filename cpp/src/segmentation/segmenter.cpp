#include "arbora/segmentation/segmenter.hpp"

#include <bit>
#include <cmath>

namespace arbora::segmentation {
namespace {

double probability(double score) { return 1.0 / (1.0 + std::exp(-score)); }

void find_tokens(const SegmenterModel& model, const Characters& text, Segments& found) {
  Matches matches(text, model.lexicon, {});
  Index begin = -1;
  for (Index i = 0; i < text.size(); ++i) {
    if (text.is_space(i)) continue;
    if (begin < 0) begin = i;
    double ends = 1.0;
    if (i + 1 < text.size() && !text.is_space(i + 1) && i + 1 - begin < kLongestToken) {
      if (model.open[pair_at(text, i)] == 0) continue;
      Scorer scorer(model.weights.boundary);
      boundary_features(text, i, matches, [&](std::uint64_t key) { scorer(key); });
      if (!(scorer.score() > 0.0)) continue;
      ends = probability(scorer.score());
    }
    found.tokens.push_back({begin, i + 1});
    found.token_ends.push_back(ends);
    begin = -1;
  }
}

void find_sentences(const SegmenterModel& model, const Characters& text,
                    std::span<const TokenAtoms> atoms, Segments& found) {
  const auto count = static_cast<Index>(found.tokens.size());
  Index start = 0;
  SoFar so_far;
  for (Index t = 0; t < count; ++t) {
    so_far.add(text, found.tokens[at(t)]);
    double ends = 1.0;
    bool ends_here = t + 1 == count || t + 1 - start >= kLongestSentence;
    if (!ends_here) {
      Scorer scorer(model.weights.sentence);
      sentence_features(atoms, start, t, so_far, [&](std::uint64_t key) { scorer(key); });
      ends = probability(scorer.score());
      ends_here = scorer.score() > 0.0;
    }
    found.sentence_ends.push_back(ends);
    found.ends_here.push_back(ends_here ? 1 : 0);
    if (ends_here) {
      start = t + 1;
      so_far = SoFar();
    }
  }
}

void find_splits(const SegmenterModel& model, const Characters& text,
                 std::span<const TokenAtoms> atoms, Segments& found) {
  found.rules.assign(found.tokens.size(), -1);
  if (model.rules.empty()) return;
  std::vector<std::uint32_t> some;
  for (Index t = 0; t < static_cast<Index>(found.tokens.size()); ++t) {
    const Token token = found.tokens[at(t)];
    model.rules.find(text, token, some);
    double best = 0.0;  // the score of not splitting
    for (const std::uint32_t rule : some) {
      Scorer scorer(model.weights.split);
      split_features(model.rules, rule, text, token, atoms, t, model.lexicon, Lexicon::kAllParts,
                     [&](std::uint64_t key) { scorer(key); });
      if (scorer.score() > best) {
        best = scorer.score();
        found.rules[at(t)] = static_cast<std::int32_t>(rule);
      }
    }
  }
}

}  // namespace

std::vector<TokenAtoms> atoms_of(const Characters& text, std::span<const Token> tokens,
                                 bool lines_matter, const Lexicon& lexicon,
                                 std::span<const std::uint8_t> parts) {
  std::vector<TokenAtoms> atoms;
  atoms.reserve(tokens.size());
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    atoms.push_back(
        token_atoms(text, tokens[t], lexicon, parts.empty() ? Lexicon::kAllParts : parts[t]));
    if (t + 1 < tokens.size()) {
      atoms.back().gap = gap_after(text, tokens[t].end, tokens[t + 1].begin, lines_matter);
    }
  }
  return atoms;
}

Scorer::Scorer(std::span<const float> weights)
    : weights_(weights.data()), shift_(64 - std::countr_zero(weights.size())) {}

Segments segment(const SegmenterModel& model, const Characters& text) {
  Segments found;
  find_tokens(model, text, found);
  const std::vector<TokenAtoms> atoms =
      atoms_of(text, found.tokens, model.lines_matter, model.lexicon, {});
  find_sentences(model, text, atoms, found);
  find_splits(model, text, atoms, found);
  return found;
}

}  // namespace arbora::segmentation
