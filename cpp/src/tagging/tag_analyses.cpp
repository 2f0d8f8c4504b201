// The second stage of the tagger: analyses given the parts of speech.
#include <algorithm>
#include <unordered_map>

#include "arbora/base/parallel.hpp"
#include "arbora/tagging/tag_model.hpp"
#include "arbora/tagging/tag_templates.hpp"

namespace arbora::tagging {
namespace {

constexpr double kWorkPerWord = 2e4;                           // floating-point operations, roughly
constexpr std::uint64_t kSecondStage = 0x7f4a7c15f39cc060ULL;  // its draws have their own streams

}  // namespace

// Sums of the features that see a form and its tag only, for the pairs that occur.
class TagModel::OwnSums {
 public:
  OwnSums(const TagModel& model, const TypedWords& words, const std::vector<std::int32_t>& upos) {
    std::unordered_map<std::uint64_t, std::size_t> known;
    const auto tags = static_cast<std::uint64_t>(model.set.tags);
    places_.reserve(upos.size());
    for (Index s = 0; s < words.sentences(); ++s) {
      const std::int32_t* types = words.types_of(s);
      for (Index i = 0; i < words.words(s); ++i) {
        const Index tag = upos[at(words.offset(s) + i)];
        const auto type = static_cast<std::uint64_t>(types[i]);
        const auto [place, is_new] =
            known.emplace(type * tags + static_cast<std::uint64_t>(tag), sums_.size());
        places_.push_back(place->second);
        if (!is_new) continue;
        const Index width = model.set.widths[at(tag)];
        sums_.resize(sums_.size() + at(width), 0.0);
        double* to = sums_.data() + place->second;
        model.analysis_rows.add(width, to, [&](const auto& take) {
          own_analysis_features(words.types()[type], model.tag_atoms_[at(tag)], take);
        });
      }
    }
  }
  const double* of_word(Index word) const { return sums_.data() + places_[at(word)]; }

 private:
  std::vector<double> sums_;
  std::vector<std::size_t> places_;
};

void TagModel::analyse(const TypedWords& words, const GivenTags& given, TagAnswer& answer,
                       const std::uint64_t* seed, Index first_sentence, Index draw_number,
                       int threads) const {
  const std::size_t total = at(words.total_words());
  answer.analyses.resize(total);
  answer.p_xpos.assign(total, 1.0);
  answer.p_feats.assign(total, 1.0);
  if (set.is_trivial()) {
    for (std::size_t i = 0; i < total; ++i) answer.analyses[i] = set.first[at(answer.upos[i])];
    return;
  }
  const OwnSums own(*this, words, answer.upos);
  const double work = kWorkPerWord * static_cast<double>(total);
  for_each_sentence(words.sentences(), threads, work, [&](Index s, Workspace&) {
    thread_local std::vector<std::uint64_t> atoms;
    thread_local std::vector<double> outputs, scores;
    thread_local std::vector<std::int8_t> memories;
    outputs.resize(at(set.widest()));
    scores.resize(at(set.most()));
    memories.resize(at(set.most()));
    const std::int32_t* types = words.types_of(s);
    const std::int32_t* tags = answer.upos.data() + words.offset(s);
    tag_atoms_of(tag_atoms_, tags, words.words(s), atoms);
    RandomStream random(seed == nullptr ? 0 : *seed ^ kSecondStage,
                        static_cast<std::uint64_t>(first_sentence + s),
                        static_cast<std::uint64_t>(draw_number));
    for (Index i = 0; i < words.words(s); ++i) {
      const Index tag = tags[i], width = set.widths[at(tag)], count = set.count(tag);
      const Index first = set.first[at(tag)];
      const std::size_t word = at(words.offset(s) + i);
      if (count == 1) {
        answer.analyses[word] = static_cast<std::int32_t>(first);
        continue;
      }
      std::copy_n(own.of_word(words.offset(s) + i), width, outputs.data());
      const Neighbours around{words.types().data(), types + i};
      analysis_rows.add(width, outputs.data(), [&](const auto& take) {
        context_analysis_features(around, atoms.data() + kPadding + i, take);
      });
      remember(set, tag, words.types()[at(types[i])], memories.data());
      score_analyses(set, tag, outputs.data(), memories.data(), memory_weights.data(),
                     scores.data());
      // A given XPOS or FEATS restricts the analyses, if any has it.
      for (const auto& [value, names_of] :
           {std::pair{given.xpos[word], &set.xpos}, std::pair{given.feats[word], &set.feats}}) {
        const auto fits = [&](Index k) { return (*names_of)[at(first + k)] == value; };
        bool any = false;
        for (Index k = 0; k < count; ++k) any = any || (scores[at(k)] != kForbidden && fits(k));
        for (Index k = 0; any && k < count; ++k) {
          if (!fits(k)) scores[at(k)] = kForbidden;
        }
      }
      normalise_scores(scores.data(), count);
      const Index chosen =
          seed != nullptr
              ? draw(random, scores.data(), count)
              : std::max_element(scores.begin(), scores.begin() + count) - scores.begin();
      answer.analyses[word] = static_cast<std::int32_t>(first + chosen);
      double p_xpos = 0.0, p_feats = 0.0;
      for (Index k = 0; k < count; ++k) {
        if (set.xpos[at(first + k)] == set.xpos[at(first + chosen)]) p_xpos += scores[at(k)];
        if (set.feats[at(first + k)] == set.feats[at(first + chosen)]) p_feats += scores[at(k)];
      }
      answer.p_xpos[word] = std::min(p_xpos, 1.0);
      answer.p_feats[word] = std::min(p_feats, 1.0);
    }
  });
}

}  // namespace arbora::tagging
