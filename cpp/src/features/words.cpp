#include "arbora/features/words.hpp"

#include <algorithm>

#include "arbora/base/letters.hpp"

namespace arbora::features {
namespace {

// Letters of UTF-8 text; a continuation byte belongs to the letter before it.
bool starts_letter(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t count_letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_letter));
}

std::string_view first_letters(std::string_view text, int count) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (starts_letter(text[end]) && count-- == 0) break;
  }
  return text.substr(0, end);
}

std::string_view last_letters(std::string_view text, int count) {
  std::size_t begin = text.size();
  while (begin > 0 && count > 0) {
    if (starts_letter(text[--begin])) --count;
  }
  return text.substr(begin);
}

void make(std::string_view text, std::uint64_t& atom) { atom = hash_text(text); }
void make(std::string_view text, NamedAtom& atom) { atom = {hash_text(text), std::string(text)}; }

// Kinds of words whose number between head and modifier is a feature, by what tags of most
// treebanks begin with.
bool begins_with(std::string_view text, char upper) {
  return !text.empty() && (text.front() == upper || text.front() == upper - 'A' + 'a');
}
bool is_mark(std::string_view form, std::string_view tag) {
  const auto plain = [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u >= 0x80 || (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z');
  };
  return tag == "PUNCT" || std::none_of(form.begin(), form.end(), plain);
}

// Fills the lists of one sentence; `Atom` decides whether texts are kept.
template <class Atom>
class Encoder {
 public:
  Encoder(Columns columns, const Clusters* clusters, std::vector<Word<Atom>>& words,
          std::vector<Morph<Atom>>& morphs, std::vector<Member<Atom>>& members)
      : columns_(columns), clusters_(clusters), words_(words), morphs_(morphs), members_(members) {}

  void sentence(const Block& block, std::int64_t at) {
    padding("<start-2>");
    padding("<start-1>");
    padding("<root>");
    for (std::int64_t w = 1; w <= block.words(at); ++w) word(block, at, w);
    padding("<end+1>");
    padding("<end+2>");
  }

 private:
  void padding(std::string_view name) {
    Word<Atom> pad;
    for (Atom* atom : {&pad.form, &pad.lemma, &pad.fine, &pad.coarse, &pad.feats, &pad.prefix,
                       &pad.suffix, &pad.stem}) {
      make(name, *atom);
    }
    if (!words_.empty()) count(pad, false, false, false);
    if (name == "<start-2>") pad.verbs = pad.marks = pad.conjunctions = 0;
    words_.push_back(pad);
  }

  void word(const Block& block, std::int64_t at, std::int64_t w) {
    const std::string_view form = block.field(at, w, Column::form);
    const std::string_view upos = block.field(at, w, Column::upos);
    const std::string_view xpos = block.field(at, w, Column::xpos);
    const std::string_view feats = block.field(at, w, Column::feats);
    Word<Atom> word;
    make(form, word.form);
    make(columns_.lemma ? block.field(at, w, Column::lemma) : form, word.lemma);
    const std::string_view fine = columns_.xpos ? xpos : columns_.upos ? upos : "_";
    const std::string_view coarse = columns_.upos ? upos : fine;
    make(fine, word.fine);
    make(coarse, word.coarse);
    make(columns_.feats ? feats : "_", word.feats);
    make(first_letters(form, 3), word.prefix);
    make(last_letters(form, 3), word.suffix);
    make(first_letters(form, 5), word.stem);
    word.is_long = count_letters(form) > 5;
    count(word, begins_with(coarse, 'V'), is_mark(form, coarse),
          begins_with(coarse, 'C') && coarse != "CD" && coarse != "Card");
    word.morphs.begin = size(morphs_);
    if (columns_.feats && feats != "_") split(feats);
    word.morphs.end = size(morphs_);
    word.members.begin = size(members_);
    if (clusters_ != nullptr) join(form);
    word.members.end = size(members_);
    words_.push_back(word);
  }

  void count(Word<Atom>& word, bool verb, bool mark, bool conjunction) {
    const Word<Atom>& before = words_.back();
    word.verbs = static_cast<std::uint16_t>(before.verbs + verb);
    word.marks = static_cast<std::uint16_t>(before.marks + mark);
    word.conjunctions = static_cast<std::uint16_t>(before.conjunctions + conjunction);
  }

  void split(std::string_view feats) {
    while (!feats.empty()) {
      const std::string_view atom = feats.substr(0, feats.find('|'));
      feats.remove_prefix(std::min(atom.size() + 1, feats.size()));
      if (atom.empty()) continue;
      Morph<Atom> morph;
      make(atom, morph.atom);
      make(atom.substr(0, atom.find('=')), morph.attribute);
      morphs_.push_back(morph);
    }
  }

  void join(std::string_view form) {
    for (const ClusterEntry& entry : clusters_->find(form)) {
      const std::string_view cluster = clusters_->names[entry.cluster];
      Member<Atom> member;
      make(cluster, member.cluster);
      make(first_letters(cluster, 4), member.short_prefix);
      make(first_letters(cluster, 6), member.long_prefix);
      member.share = entry.share;
      members_.push_back(member);
    }
  }

  template <class T>
  static std::uint32_t size(const std::vector<T>& list) {
    return static_cast<std::uint32_t>(list.size());
  }

  Columns columns_;
  const Clusters* clusters_;
  std::vector<Word<Atom>>& words_;
  std::vector<Morph<Atom>>& morphs_;
  std::vector<Member<Atom>>& members_;
};

constexpr std::size_t kPaddingBefore = 2;  // in front of the root symbol

}  // namespace

std::uint32_t Clusters::number_of(std::string_view cluster) {
  if (names.empty() || names.back() != cluster) names.emplace_back(cluster);
  return static_cast<std::uint32_t>(names.size() - 1);
}

void Clusters::add(std::string_view form, std::uint32_t cluster, float share) {
  entries.push_back({hash_text(form), cluster, share});
}

void Clusters::finish() {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const ClusterEntry& a, const ClusterEntry& b) { return a.form < b.form; });
}

std::span<const ClusterEntry> Clusters::find(std::string_view form) const {
  const auto those_of = [&](std::string_view text) {
    const std::uint64_t wanted = hash_text(text);
    const auto first = std::lower_bound(
        entries.begin(), entries.end(), wanted,
        [](const ClusterEntry& entry, std::uint64_t key) { return entry.form < key; });
    auto last = first;
    while (last != entries.end() && last->form == wanted) ++last;
    return std::span<const ClusterEntry>(first, last);
  };
  const std::span<const ClusterEntry> found = those_of(form);
  return found.empty() && any_case ? those_of(lower_case(form)) : found;
}

Encoded::Encoded(const Block& block, std::span<const std::int64_t> sentences, Columns columns,
                 const Clusters* clusters) {
  Encoder<std::uint64_t> encoder(columns, clusters, words_, morphs_, members_);
  for (const std::int64_t at : sentences) {
    first_.push_back(words_.size() + kPaddingBefore);
    n_words_.push_back(block.words(at));
    encoder.sentence(block, at);
  }
}

Sentence<std::uint64_t> Encoded::operator[](Index sentence) const {
  return {words_.data() + first_[static_cast<std::size_t>(sentence)], morphs_.data(),
          members_.data(), words(sentence)};
}

Encoded Encoded::hiding(double amount, std::uint64_t seed) const {
  std::unordered_map<std::uint64_t, double> forms, lemmas;
  for (const Word<std::uint64_t>& word : words_) {
    forms[word.form] += 1.0;
    lemmas[word.lemma] += 1.0;
  }
  Encoded answer = *this;
  for (std::size_t sentence = 0; sentence < first_.size(); ++sentence) {
    // The root symbol and the padding around a sentence are always there.
    for (Index w = 1; w <= n_words_[sentence]; ++w) {
      const std::size_t i = first_[sentence] + static_cast<std::size_t>(w);
      // One draw for both: where a lemma is unknown, so are its forms.
      const double draw = static_cast<double>(mixed(seed * kMix + i) >> 11U) * 0x1p-53;
      Word<std::uint64_t>& word = answer.words_[i];
      const auto unlucky = [&](double count) { return draw < amount / (amount + count); };
      if (unlucky(forms[words_[i].form])) word.form = kHidden;
      if (unlucky(lemmas[words_[i].lemma])) word.lemma = kHidden;
    }
  }
  return answer;
}

NamedSentence::NamedSentence(const Block& block, std::int64_t sentence, Columns columns,
                             const Clusters* clusters)
    : n_words_(block.words(sentence)) {
  Encoder<NamedAtom>(columns, clusters, words_, morphs_, members_).sentence(block, sentence);
}

Sentence<NamedAtom> NamedSentence::view() const {
  return {words_.data() + kPaddingBefore, morphs_.data(), members_.data(), n_words_};
}

}  // namespace arbora::features
