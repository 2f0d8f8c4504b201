#include "arbora/tagging/lemma_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include "arbora/base/interruption.hpp"
#include "arbora/tagging/analyses.hpp"

namespace arbora::tagging {
namespace {

constexpr std::size_t kMostRules = 60000;  // the memory has 16 bits for a rule

struct Seen {
  std::string_view form, upos, xpos, feats, lemma;
  Index sentence;
  std::int32_t rule;
};

std::vector<Seen> words_of(const Block& block) {
  std::vector<Seen> words;
  for (Index s = 0; s < block.sentences(); ++s) {
    for (Index w = 1; w <= block.words(s); ++w) {
      const Seen word{block.field(s, w, Column::form),
                      block.field(s, w, Column::upos),
                      block.field(s, w, Column::xpos),
                      block.field(s, w, Column::feats),
                      block.field(s, w, Column::lemma),
                      s,
                      kNoRow};
      if (word.lemma != "_" || word.form == "_") words.push_back(word);
    }
  }
  return words;
}

// Sets the rules of all words; the answer has them by falling frequency.
std::vector<LemmaRule> rules_of(std::vector<Seen>& words) {
  std::unordered_map<std::uint64_t, std::size_t> numbers;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> pairs;
  std::vector<LemmaRule> rules;
  std::vector<Index> counts;
  for (Seen& word : words) {
    const auto [pair, is_new] = pairs.try_emplace({word.form, word.lemma}, 0);
    if (is_new) {
      LemmaRule rule = find_rule(word.form, word.lemma);
      const auto [place, is_new_rule] = numbers.emplace(hash_rule(rule), rules.size());
      if (is_new_rule) {
        rules.push_back(std::move(rule));
        counts.push_back(0);
      }
      pair->second = place->second;
    }
    word.rule = static_cast<std::int32_t>(pair->second);
    ++counts[pair->second];
  }
  std::vector<std::size_t> order(rules.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  order.resize(std::min(order.size(), kMostRules));
  std::vector<std::int32_t> rank(rules.size(), kNoRow);
  std::vector<LemmaRule> sorted;
  for (const std::size_t i : order) {
    rank[i] = static_cast<std::int32_t>(sorted.size());
    sorted.push_back(rules[i]);
  }
  for (Seen& word : words) word.rule = rank[at(word.rule)];
  return sorted;
}

struct Knowledge {
  Lexicon memory;
  std::vector<std::uint32_t> known;
};

// From all words except those of the sentences first, ..., last - 1.
Knowledge knowledge_of(const std::vector<Seen>& words, Index first, Index last) {
  std::map<std::uint32_t, std::map<std::int32_t, std::uint32_t>> counts;
  std::set<std::uint32_t> known;
  for (const Seen& word : words) {
    if (word.rule == kNoRow || (word.sentence >= first && word.sentence < last)) continue;
    ++counts[short_key(memory_key(word.form, word.upos))][word.rule];
    known.insert(short_key(memory_key(word.lemma, word.upos)));
  }
  std::vector<std::uint32_t> keys, ends;
  std::vector<LexiconEntry> entries;
  for (const auto& [key, found] : counts) {
    const auto begin = static_cast<std::ptrdiff_t>(entries.size());
    for (const auto& [rule, count] : found) {
      entries.push_back({static_cast<std::uint16_t>(rule),
                         static_cast<std::uint16_t>(std::min(count, std::uint32_t{0xFFFF}))});
    }
    std::stable_sort(
        entries.begin() + begin, entries.end(),
        [](const LexiconEntry& a, const LexiconEntry& b) { return a.count > b.count; });
    keys.push_back(key);
    ends.push_back(static_cast<std::uint32_t>(entries.size()));
  }
  return {Lexicon(std::move(keys), std::move(ends), std::move(entries)),
          {known.begin(), known.end()}};
}

}  // namespace

LemmaTrainer::LemmaTrainer(const Block& block, Index folds, int bits) : bits_(bits) {
  std::vector<Seen> words = words_of(block);
  learnt_.rules = rules_of(words);
  std::set<std::uint32_t> pairs;
  for (const Seen& word : words) {
    if (word.rule == kNoRow) continue;
    pairs.insert(
        short_key(pair_key(hash_rule(learnt_.rules[at(word.rule)]), hash_text(word.upos))));
  }
  learnt_.pairs.assign(pairs.begin(), pairs.end());
  Knowledge all = knowledge_of(words, 0, 0);
  learnt_.memory = std::move(all.memory);
  learnt_.known = std::move(all.known);
  rules_ = RuleSet(learnt_.rules, learnt_.pairs);
  const Index sentences = block.sentences();
  folds = std::max<Index>(1, std::min(folds, sentences));
  using Text = std::string_view;
  std::map<std::tuple<Index, Text, Text, Text, Text, Text>, Index> counts;
  for (Index fold = 0; fold < folds; ++fold) {
    const Index first = folds == 1 ? 0 : sentences * fold / folds;
    const Index last = folds == 1 ? 0 : sentences * (fold + 1) / folds;
    Knowledge others = knowledge_of(words, first, last);
    folds_.push_back({std::move(others.memory), KeyTable(others.known)});
  }
  for (const Seen& word : words) {
    Index fold = 0;
    while (fold + 1 < folds && word.sentence >= sentences * (fold + 1) / folds) ++fold;
    ++counts[{fold, word.form, word.upos, word.xpos, word.feats, word.lemma}];
  }
  for (const auto& [key, count] : counts) {
    const auto& [fold, form, upos, xpos, feats, lemma] = key;
    // Frequent words are in the memory; the rare ones have to be learnt.
    examples_.push_back({std::string(form), std::string(upos), std::string(xpos),
                         std::string(feats), std::string(lemma), fold,
                         std::sqrt(static_cast<double>(count))});
  }
  std::vector<std::size_t> first((std::size_t{1} << static_cast<unsigned>(bits)) + 1);
  std::iota(first.begin(), first.end(), std::size_t{0});
  learner_ = RowLearner(std::move(first), 0);
}

double LemmaTrainer::add(std::span<const std::int64_t> examples) {
  std::vector<LemmaCandidate> found;
  std::vector<std::uint64_t> atoms;
  std::vector<std::vector<std::uint32_t>> slots;
  std::vector<double> scores;
  double loss = 0.0;
  for (const std::int64_t number : examples) {
    const Example& example = examples_[at(number)];
    const LemmaWord word{example.form, example.upos, example.xpos, example.feats};
    rules_.candidates(word, folds_[at(example.fold)], found);
    const auto gold = std::find_if(found.begin(), found.end(),
                                   [&](const LemmaCandidate& candidate) {
                                     return candidate.lemma == example.lemma;
                                   }) -
                      found.begin();
    // A lemma that is out of reach, because it is only in this fold's memory, teaches nothing.
    if (gold == static_cast<std::ptrdiff_t>(found.size())) continue;
    lemma_atoms(word, atoms);
    scores.assign(found.size(), 0.0);
    if (slots.size() < found.size()) slots.resize(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      lemma_slots(rules_, word, found[i], atoms, bits_, slots[i]);
      for (const std::uint32_t slot : slots[i]) {
        learner_.add_row(static_cast<std::int32_t>(slot), 1, &scores[i]);
      }
    }
    const double gold_score = scores[at(gold)];
    loss += example.weight *
            (normalise_scores(scores.data(), static_cast<Index>(scores.size())) - gold_score);
    scores[at(gold)] -= 1.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double d_score = example.weight * scores[i];
      for (const std::uint32_t slot : slots[i]) {
        learner_.add_gradient(static_cast<std::int32_t>(slot), 1, &d_score);
      }
    }
  }
  return loss;
}

double LemmaTrainer::pass(std::span<const std::int64_t> order, Index batch,
                          const LearningStep& step) {
  Polling polling;
  double loss = 0.0;
  for (std::size_t begin = 0; begin < order.size(); begin += at(batch)) {
    loss += add(order.subspan(begin, std::min(at(batch), order.size() - begin)));
    learner_.step(step);
    polling.after(Index{100'000});
  }
  return loss;
}

}  // namespace arbora::tagging
