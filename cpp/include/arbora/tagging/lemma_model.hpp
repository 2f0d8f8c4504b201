// The lemmatiser: a softmax over the rules that fit a form and were seen with its part of speech,
// one rule for every different lemma.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arbora/data/block.hpp"
#include "arbora/tagging/lemma_rules.hpp"
#include "arbora/tagging/lexicon.hpp"

namespace arbora::tagging {

// What was seen in a treebank. Keys of the memory are forms with their part of speech, its entries
// are rules; known lemmas are keys of lemmas with parts of speech.
struct LemmaKnowledge {
  Lexicon memory;
  KeyTable known;
};

struct LemmaWord {
  std::string_view form, upos, xpos, feats;
};

// A possible lemma. `state` says what is known of it (see lemma_model.cpp).
struct LemmaCandidate {
  std::int32_t rule;
  std::uint64_t state;
  std::string lemma;
};

// Rules, by the suffixes that they cut, and the parts of speech that each was seen with.
class RuleSet {
 public:
  RuleSet() = default;
  // `order` of rules is by frequency; `pairs` are keys of rules with parts of speech.
  RuleSet(std::vector<LemmaRule> rules, std::span<const std::uint32_t> pairs);

  const std::vector<LemmaRule>& rules() const { return rules_; }
  std::uint64_t atom(std::int32_t rule) const { return atoms_[at(rule)]; }
  // Candidates of a word, each lemma once; never empty.
  void candidates(const LemmaWord& word, const LemmaKnowledge& knowledge,
                  std::vector<LemmaCandidate>& found) const;

 private:
  void try_rule(std::int32_t rule, std::string_view form, std::vector<LemmaCandidate>& found) const;

  std::vector<LemmaRule> rules_;
  std::vector<std::uint64_t> atoms_;
  struct TextHash {
    using is_transparent = void;  // looks up views without copying them
    std::size_t operator()(std::string_view text) const {
      return static_cast<std::size_t>(hash_text(text));
    }
  };
  std::unordered_map<std::string, std::vector<std::int32_t>, TextHash, std::equal_to<>>
      by_suffix_[kLetterCases];
  KeyTable pairs_;
};

std::uint64_t pair_key(std::uint64_t rule_atom, std::uint64_t upos_atom);
std::uint64_t memory_key(std::string_view form, std::string_view upos);

// The atoms of a word that are combined with every rule.
void lemma_atoms(const LemmaWord& word, std::vector<std::uint64_t>& atoms);
// The features of a candidate: numbers of weights in a table of 2^bits.
void lemma_slots(const RuleSet& rules, const LemmaWord& word, const LemmaCandidate& candidate,
                 std::span<const std::uint64_t> atoms, int bits, std::vector<std::uint32_t>& slots);

struct LemmaAnswer {
  std::vector<std::string> lemmas;    // the different ones
  std::vector<std::int32_t> numbers;  // of all words
  std::vector<double> probabilities;
};

struct LemmaModel {
  RuleSet rules;
  LemmaKnowledge knowledge;
  std::vector<float> weights;
  int bits = 0;

  // Lemmas of all words; those that the block has are kept, with probability 1, unless
  // `relemmatise`.
  LemmaAnswer lemmatise(const Block& block, bool relemmatise) const;
  // The candidates of one word and their probabilities, the best first.
  std::vector<std::pair<std::string, double>> analyse(const LemmaWord& word) const;

 private:
  void score(const LemmaWord& word, std::vector<LemmaCandidate>& found,
             std::vector<double>& scores) const;
};

std::string render_lemmas(const Block& block, const LemmaAnswer& answer);

}  // namespace arbora::tagging
