// Rules that split a token into several words, and the features that choose between them.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "arbora/segmentation/boundary_features.hpp"
#include "arbora/segmentation/sentence_features.hpp"

namespace arbora::segmentation {

// A token `left` + rest + `right` becomes `words`, of which words[core] is its letters before and
// after the rest that is copied: do|n't has right "n't", words {"", "n't"}, core 0. If core is -1
// nothing is copied, and the token is `left` itself. All are small letters.
struct SplitRule {
  std::u32string left, right;
  std::vector<std::u32string> words;
  int core = -1;
  std::u32string before, after;
};

class SplitRules {
 public:
  SplitRules() = default;
  explicit SplitRules(std::vector<SplitRule> rules);

  bool empty() const { return rules_.empty(); }
  const SplitRule& operator[](std::size_t rule) const { return rules_[rule]; }

  // The rules that can split a token, in order.
  void find(const Characters& text, Token token, std::vector<std::uint32_t>& found) const;

  // The words of a token, with capitals where it has them.
  std::vector<std::u32string> apply(std::uint32_t rule, const Characters& text, Token token) const;

  // The part of the token that is copied.
  Token core(std::uint32_t rule, Token token) const;
  // The hash of the word that has the copied part.
  std::uint64_t core_word(std::uint32_t rule, const Characters& text, Token token) const;
  std::uint64_t hash(std::uint32_t rule) const { return hashes_[rule]; }
  // The same for rules that differ in vowels only.
  std::uint64_t kind(std::uint32_t rule) const { return kinds_[rule]; }

 private:
  std::vector<SplitRule> rules_;
  std::vector<std::uint64_t> hashes_, kinds_;   // of everything in a rule
  std::vector<std::pair<Index, Index>> sizes_;  // of left and right; each once
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_ends_, by_form_;
};

// `atoms` are those of all tokens of the paragraph, of which the token is number t.
template <class Take>
void split_features(const SplitRules& rules, std::uint32_t rule, const Characters& text,
                    Token token, std::span<const TokenAtoms> atoms, Index t, const Lexicon& lexicon,
                    int part, Take take) {
  const TokenAtoms &own = atoms[at(t)], &previous = atoms_at(atoms, t - 1),
                   &next = atoms_at(atoms, t + 1), &second = atoms_at(atoms, t + 2);
  const std::uint64_t name = rules.hash(rule);
  const auto key = [&](const features::Template& of, auto... values) {
    take(features::key_of(of, name, values...));
  };
  const Token core = rules.core(rule, token);
  const auto piece = [&](Index begin, Index end) {
    return hash_of_lower(text, std::max(begin, core.begin), std::min(end, core.end));
  };
  const bool knows_core =
      lexicon.knows(rules.core_word(rule, text, token), Lexicon::Kind::word, part);
  const bool knows_form =
      lexicon.knows(hash_of_lower(text, token.begin, token.end), Lexicon::Kind::word, part);
  const std::uint64_t known = (knows_core ? 1u : 0u) + (knows_form ? 2u : 0u);
  const std::uint64_t length = length_bucket(core.end - core.begin);
  key("rule");
  key("rule form", own.form);
  key("rule known", known, length);
  key("rule shape", own.shape, known);
  key("rule prefix 1", piece(core.begin, core.begin + 1));
  key("rule prefix 2", piece(core.begin, core.begin + 2));
  key("rule prefix 3", piece(core.begin, core.begin + 3));
  key("rule suffix 1", piece(core.end - 1, core.end));
  key("rule suffix 2", piece(core.end - 2, core.end));
  key("rule suffix 3", piece(core.end - 3, core.end));
  key("rule suffix 4", piece(core.end - 4, core.end), known);
  key("rule previous", previous.form);
  key("rule next", next.form);
  key("rule previous suffix", previous.suffix);
  key("rule next suffix", next.suffix);
  key("rule form previous", own.form, previous.form);
  key("rule form next", own.form, next.form);
  key("rule form previous suffix", own.form, previous.suffix);
  key("rule form next suffix", own.form, next.suffix);
  key("rule form around", own.form, previous.form, next.form);
  key("rule form second", own.form, second.form);
  key("rule form after", own.form, next.form, second.form);
  key("rule form shapes", own.form, previous.last, next.first);
  key("rule shapes", previous.last, next.first, own.shape);
  // The same for rules that are rare, alone or together with others of their kind.
  const auto kind_key = [&](const features::Template& of, auto... values) {
    take(features::key_of(of, rules.kind(rule), values...));
  };
  kind_key("kind");
  kind_key("kind known", known, length);
  kind_key("kind shape", own.shape, known);
  kind_key("kind suffix 1", piece(core.end - 1, core.end));
  kind_key("kind suffix 2", piece(core.end - 2, core.end));
  kind_key("kind suffix 3", piece(core.end - 3, core.end), known);
  kind_key("kind core", rules.core_word(rule, text, token));
  kind_key("kind previous", previous.form);
  kind_key("kind next", next.form);
  kind_key("kind next suffix", next.suffix);
  take(features::key_of(features::Template("known"), known, length));
  take(features::key_of(features::Template("form"), own.form));
}

}  // namespace arbora::segmentation
