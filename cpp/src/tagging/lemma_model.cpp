#include "arbora/tagging/lemma_model.hpp"

#include <algorithm>
#include <numeric>

#include "arbora/base/letters.hpp"
#include "arbora/data/render.hpp"
#include "arbora/tagging/analyses.hpp"

namespace arbora::tagging {
namespace {

constexpr std::string_view kMissing = "_";
// Rules that are tried besides the memory, the most frequent first, for words that have a memory
// and for others: a long form may fit hundreds.
constexpr std::size_t kMostOfKnown = 6, kMostOfUnknown = 24;
constexpr std::size_t kLongestSuffix = 48;  // bytes

// The state of a candidate: 8 * (0: the word has no memory, 1: the most frequent rule in its
// memory, 2: another one in it, 3: not in it) + 1 if the lemma is known with its part of speech,
// + 2 if the memory is of several occurrences, + 4 if it is that of the lower case.
std::uint64_t known_state(bool is_known) { return is_known ? 1 : 0; }

std::uint64_t combined(std::uint64_t a, std::uint64_t b) { return mixed(a * kMix + b); }

}  // namespace

std::uint64_t pair_key(std::uint64_t rule_atom, std::uint64_t upos_atom) {
  return combined(rule_atom, upos_atom);
}

std::uint64_t memory_key(std::string_view form, std::string_view upos) {
  return combined(hash_text(form), hash_text(upos) + 1);
}

RuleSet::RuleSet(std::vector<LemmaRule> rules, std::span<const std::uint32_t> pairs)
    : rules_(std::move(rules)), pairs_(pairs) {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const LemmaRule& rule = rules_[i];
    atoms_.push_back(hash_rule(rule));
    if (rule.is_whole) continue;
    by_suffix_[static_cast<int>(rule.letter_case)][rule.cut_suffix].push_back(
        static_cast<std::int32_t>(i));
  }
}

void RuleSet::try_rule(std::int32_t rule, std::string_view form,
                       std::vector<LemmaCandidate>& found) const {
  std::string lemma;
  if (!apply_rule(rules_[at(rule)], form, lemma)) return;
  for (const LemmaCandidate& other : found) {
    if (other.lemma == lemma) return;
  }
  found.push_back({rule, 0, std::move(lemma)});
}

void RuleSet::candidates(const LemmaWord& word, const LemmaKnowledge& knowledge,
                         std::vector<LemmaCandidate>& found) const {
  found.clear();
  const std::string lower = lower_case(word.form);
  std::span<const LexiconEntry> memory = knowledge.memory.find(memory_key(word.form, word.upos));
  const bool is_own = !memory.empty();
  if (!is_own) memory = knowledge.memory.find(memory_key(lower, word.upos));
  for (const LexiconEntry& entry : memory) {
    const LemmaRule& rule = rules_[entry.analysis];
    const std::string form = in_case(is_own ? word.form : lower, rule.letter_case);
    try_rule(entry.analysis, form, found);
  }
  const std::size_t remembered = found.size();
  const std::uint64_t upos = hash_text(word.upos);
  std::vector<std::int32_t> fitting;
  std::string forms[kLetterCases];
  for (int k = 0; k < kLetterCases; ++k) {
    if (by_suffix_[k].empty()) continue;
    forms[k] = in_case(word.form, static_cast<LetterCase>(k));
    const std::string& form = forms[k];
    const std::size_t longest = std::min(form.size(), kLongestSuffix);
    for (std::size_t size = 0; size <= longest; ++size) {
      if (size > 0 && size < form.size() &&
          (static_cast<unsigned char>(form[form.size() - size]) & 0xC0U) == 0x80U)
        continue;  // within a letter
      const auto list = by_suffix_[k].find(std::string_view(form).substr(form.size() - size));
      if (list == by_suffix_[k].end()) continue;
      for (const std::int32_t rule : list->second) {
        const std::uint64_t key = pair_key(atoms_[at(rule)], upos);
        if (pairs_.find(short_key(key)) != kNoRow) fitting.push_back(rule);
      }
    }
  }
  std::sort(fitting.begin(), fitting.end());  // frequent rules come first
  const std::size_t most = remembered + (is_own ? kMostOfKnown : kMostOfUnknown);
  for (const std::int32_t rule : fitting) {
    if (found.size() >= most) break;
    try_rule(rule, forms[static_cast<int>(rules_[at(rule)].letter_case)], found);
  }
  if (found.empty()) found.push_back({-1, 0, std::string(word.form)});
  std::uint32_t occurrences = 0;
  for (const LexiconEntry& entry : memory) occurrences += entry.count;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool is_known =
        knowledge.known.find(short_key(memory_key(found[i].lemma, word.upos))) != kNoRow;
    found[i].state = known_state(is_known);
    if (memory.empty()) continue;
    const std::uint64_t rank = i >= remembered ? 3 : i == 0 ? 1 : 2;
    found[i].state += 8 * rank + (occurrences > 1 ? 2U : 0U) + (is_own ? 0U : 4U);
  }
}

void lemma_atoms(const LemmaWord& word, std::vector<std::uint64_t>& atoms) {
  atoms.clear();
  const std::string lower = lower_case(word.form);
  const std::vector<std::uint32_t> starts = letter_starts(lower);
  const std::size_t letters = starts.size() - 1;
  const std::uint64_t upos = hash_text(word.upos), feats = hash_text(word.feats);
  const std::uint64_t capital = lower == word.form ? 0 : 1;
  atoms.push_back(1);
  atoms.push_back(key_of("l upos", upos));
  atoms.push_back(key_of("l feats", upos, feats));
  atoms.push_back(key_of("l capital", upos, capital));
  const std::uint64_t xpos = hash_text(word.xpos), shape = hash_text(shape_of(word.form, true));
  atoms.push_back(key_of("l shape", upos, shape));
  atoms.push_back(key_of("l xpos", upos, xpos));
  atoms.push_back(key_of("l xpos shape", upos, xpos, shape));
  for (std::size_t k = 1; k <= 6 && k <= letters; ++k) {
    const std::uint64_t suffix = hash_text(std::string_view(lower).substr(starts[letters - k]));
    atoms.push_back(key_of("l suffix", suffix, k));
    atoms.push_back(key_of("l suffix upos", suffix, upos, k));
    if (k >= 2 && k <= 4) atoms.push_back(key_of("l suffix feats", suffix, upos, feats));
  }
  for (std::size_t k = 1; k <= 4 && k <= letters; ++k) {
    const std::uint64_t prefix = hash_text(std::string_view(lower).substr(0, starts[k]));
    atoms.push_back(key_of("l prefix", prefix, upos, k));
  }
  atoms.push_back(key_of("l form", hash_text(lower), upos));
  atoms.push_back(key_of("l length", std::min<std::size_t>(letters, 8), upos, feats));
}

void lemma_slots(const RuleSet& rules, const LemmaWord& word, const LemmaCandidate& candidate,
                 std::span<const std::uint64_t> atoms, int bits,
                 std::vector<std::uint32_t>& slots) {
  slots.clear();
  const auto put = [&](std::uint64_t key) {
    slots.push_back(static_cast<std::uint32_t>(key >> (64U - static_cast<unsigned>(bits))));
  };
  const std::uint64_t rule =
      candidate.rule < 0 ? 0 : rules.atom(candidate.rule) * 0xc2b2ae3d27d4eb4fULL;
  for (const std::uint64_t atom : atoms) {
    const std::uint64_t sum = atom + rule;
    put((sum ^ (sum >> 29U)) * kMix);
  }
  const std::uint64_t upos = hash_text(word.upos);
  put(mixed(key_of("l state", candidate.state)));
  put(mixed(key_of("l state upos", candidate.state, upos)));
  put(mixed(key_of("l state rule", candidate.state, rule)));
  put(mixed(key_of("l state xpos", candidate.state, upos, hash_text(word.xpos), rule)));
  const std::vector<std::uint32_t> starts = letter_starts(candidate.lemma);
  const std::size_t letters = starts.size() - 1;
  for (std::size_t k = 2; k <= 3 && k <= letters; ++k) {
    const std::string_view end = std::string_view(candidate.lemma).substr(starts[letters - k]);
    put(mixed(key_of("l lemma", hash_text(end), upos)));
  }
}

void LemmaModel::score(const LemmaWord& word, std::vector<LemmaCandidate>& found,
                       std::vector<double>& scores) const {
  thread_local std::vector<std::uint64_t> atoms;
  thread_local std::vector<std::uint32_t> slots;
  rules.candidates(word, knowledge, found);
  lemma_atoms(word, atoms);
  scores.assign(found.size(), 0.0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    lemma_slots(rules, word, found[i], atoms, bits, slots);
    for (const std::uint32_t slot : slots) scores[i] += static_cast<double>(weights[slot]);
  }
  normalise_scores(scores.data(), static_cast<Index>(scores.size()));
}

LemmaAnswer LemmaModel::lemmatise(const Block& block, bool relemmatise) const {
  LemmaAnswer answer;
  std::unordered_map<std::string, std::int32_t> numbers;
  const auto number_of = [&](const std::string& lemma) {
    const auto [place, is_new] =
        numbers.emplace(lemma, static_cast<std::int32_t>(answer.lemmas.size()));
    if (is_new) answer.lemmas.push_back(lemma);
    return place->second;
  };
  std::unordered_map<std::string, std::pair<std::int32_t, double>> done;
  std::vector<LemmaCandidate> found;
  std::vector<double> scores;
  std::string key;
  for (Index s = 0; s < block.sentences(); ++s) {
    for (Index w = 1; w <= block.words(s); ++w) {
      const std::string_view old = block.field(s, w, Column::lemma);
      if (!relemmatise && old != kMissing) {
        answer.numbers.push_back(number_of(std::string(old)));
        answer.probabilities.push_back(1.0);
        continue;
      }
      const LemmaWord word{block.field(s, w, Column::form), block.field(s, w, Column::upos),
                           block.field(s, w, Column::xpos), block.field(s, w, Column::feats)};
      key.clear();
      for (const std::string_view part : {word.form, word.upos, word.xpos, word.feats}) {
        key.append(part).append(1, '\t');
      }
      const auto [place, is_new] = done.try_emplace(key);
      if (is_new) {
        score(word, found, scores);
        const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
        place->second = {number_of(found[at(best)].lemma), scores[at(best)]};
      }
      answer.numbers.push_back(place->second.first);
      answer.probabilities.push_back(place->second.second);
    }
  }
  return answer;
}

std::vector<std::pair<std::string, double>> LemmaModel::analyse(const LemmaWord& word) const {
  std::vector<LemmaCandidate> found;
  std::vector<double> scores;
  score(word, found, scores);
  std::vector<std::pair<std::string, double>> answer;
  for (std::size_t i = 0; i < found.size(); ++i) answer.emplace_back(found[i].lemma, scores[i]);
  std::stable_sort(answer.begin(), answer.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return answer;
}

std::string render_lemmas(const Block& block, const LemmaAnswer& answer) {
  std::vector<std::string_view> lemmas;
  for (const std::int32_t number : answer.numbers) lemmas.push_back(answer.lemmas[at(number)]);
  const std::vector<data::NewTexts> columns{{Column::lemma, lemmas.data()}};
  std::vector<std::int64_t> sentences(at(block.sentences()));
  std::iota(sentences.begin(), sentences.end(), 0);
  data::NewColumns changes;
  changes.texts = columns;
  return data::render(block, sentences, changes);
}

}  // namespace arbora::tagging
