#include "arbora/tagging/tag_model.hpp"

#include <algorithm>

#include "arbora/base/parallel.hpp"
#include "arbora/data/render.hpp"
#include "arbora/tagging/tag_templates.hpp"

namespace arbora::tagging {
namespace {

constexpr std::string_view kMissing = "_";
constexpr double kWorkPerWord = 2e4;  // floating-point operations, roughly

double total_work(const TypedWords& words) {
  return kWorkPerWord * static_cast<double>(words.total_words());
}

std::unordered_map<std::string_view, std::int32_t> numbers_of(
    const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, std::int32_t> numbers;
  for (const std::string& name : names) {
    numbers.emplace(name, static_cast<std::int32_t>(numbers.size()));
  }
  return numbers;
}

}  // namespace

bool has_feats(const Block& block, Index sentence) {
  for (Index w = 1; w <= block.words(sentence); ++w) {
    if (block.field(sentence, w, Column::feats) != kMissing) return true;
  }
  return false;
}

void tag_atoms_of(const std::vector<std::uint64_t>& atoms, const std::int32_t* tags, Index words,
                  std::vector<std::uint64_t>& found) {
  constexpr std::uint64_t kOutside = hash_text("<outside>");
  found.assign(at(words + 2 * kPadding), kOutside);
  for (Index i = 0; i < words; ++i) found[at(i + kPadding)] = atoms[at(tags[i])];
}

void TagModel::finish() {
  upos_numbers_ = numbers_of(names.upos);
  xpos_numbers_ = numbers_of(names.xpos);
  feats_numbers_ = numbers_of(names.feats);
  tag_atoms_.clear();
  for (const std::string& name : names.upos) tag_atoms_.push_back(hash_text(name));
}

GivenTags TagModel::given_in(const Block& block, bool retag) const {
  GivenTags given;
  const std::size_t words = at(block.total_words());
  for (auto* column : {&given.upos, &given.xpos, &given.feats}) column->assign(words, -1);
  if (retag) return given;
  const auto number = [](const Numbers& numbers, std::string_view name) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? -1 : found->second;
  };
  for (Index s = 0; s < block.sentences(); ++s) {
    const bool keeps_feats = names.has_feats && has_feats(block, s);
    for (Index w = 1; w <= block.words(s); ++w) {
      const std::size_t i = at(block.first_word(s) + w - 1);
      const std::string_view upos = block.field(s, w, Column::upos);
      const std::string_view xpos = block.field(s, w, Column::xpos);
      if (upos != kMissing) given.upos[i] = number(upos_numbers_, upos);
      if (names.has_xpos && xpos != kMissing) given.xpos[i] = number(xpos_numbers_, xpos);
      if (keeps_feats) given.feats[i] = number(feats_numbers_, block.field(s, w, Column::feats));
    }
  }
  return given;
}

std::vector<double> TagModel::own_sums(const TypedWords& words, int threads) const {
  const Index tags = set.tags, types = static_cast<Index>(words.types().size());
  std::vector<double> sums(at(types * tags), 0.0);
  constexpr Index kChunk = 64;
  for_each_sentence(
      (types + kChunk - 1) / kChunk, threads, total_work(words), [&](Index chunk, Workspace&) {
        const Index end = std::min((chunk + 1) * kChunk, types);
        for (Index t = chunk * kChunk; t < end; ++t) {
          double* to = sums.data() + t * tags;
          upos_rows.add(tags, to,
                        [&](const auto& take) { own_tag_features(words.types()[at(t)], take); });
        }
      });
  return sums;
}

void TagModel::emissions(const TypedWords& words, Index sentence, const std::vector<double>& own,
                         const GivenTags& given, std::vector<double>& scores) const {
  const Index n = words.words(sentence), tags = set.tags;
  const std::int32_t* types = words.types_of(sentence);
  const std::uint64_t style = style_of(words.types().data(), types, n);
  scores.resize(at(n * tags));
  for (Index i = 0; i < n; ++i) {
    double* row = scores.data() + i * tags;
    std::copy_n(own.data() + types[i] * tags, tags, row);
    const Neighbours around{words.types().data(), types + i};
    upos_rows.add(tags, row,
                  [&](const auto& take) { context_tag_features(around, i == 0, style, take); });
    const std::int32_t kept = given.upos[at(words.offset(sentence) + i)];
    for (Index j = 0; kept >= 0 && j < tags; ++j) {
      if (j != kept) row[j] = kForbidden;
    }
  }
}

TagAnswer TagModel::tag(const Block& block, bool retag, bool viterbi, bool posterior,
                        int threads) const {
  TypedWords words;
  words.add(block, 0, block.sentences(), knowledge());
  const GivenTags given = given_in(block, retag);
  const std::vector<double> own = own_sums(words, threads);
  const Index tags = set.tags;
  TagAnswer answer;
  answer.upos.resize(at(words.total_words()));
  answer.p_upos.resize(at(words.total_words()));
  if (posterior) answer.posterior.resize(at(words.total_words() * tags));
  for_each_sentence(words.sentences(), threads, total_work(words), [&](Index s, Workspace&) {
    thread_local Chain chain;
    thread_local std::vector<double> scores;
    const Index n = words.words(s), offset = words.offset(s);
    emissions(words, s, own, given, scores);
    chain.sum(n, scores.data(), transitions);
    std::int32_t* found = answer.upos.data() + offset;
    if (viterbi) best_tags(n, scores.data(), transitions, found);
    for (Index i = 0; i < n; ++i) {
      const double* row = chain.marginals() + i * tags;
      if (!viterbi) {
        found[i] = static_cast<std::int32_t>(std::max_element(row, row + tags) - row);
      }
      answer.p_upos[at(offset + i)] = row[found[i]];
    }
    if (posterior) {
      std::copy_n(chain.marginals(), n * tags, answer.posterior.data() + offset * tags);
    }
  });
  analyse(words, given, answer, nullptr, 0, 0, threads);
  return answer;
}

std::vector<TagAnswer> TagModel::sample(const Block& block, bool retag, Index count,
                                        std::uint64_t seed, int threads) const {
  TypedWords words;
  words.add(block, 0, block.sentences(), knowledge());
  const GivenTags given = given_in(block, retag);
  const std::vector<double> own = own_sums(words, threads);
  std::vector<TagAnswer> answers(at(count));
  for (TagAnswer& answer : answers) {
    answer.upos.resize(at(words.total_words()));
    answer.p_upos.resize(at(words.total_words()));
  }
  for_each_sentence(words.sentences(), threads, total_work(words), [&](Index s, Workspace&) {
    thread_local Chain chain;
    thread_local std::vector<double> scores;
    const Index n = words.words(s), offset = words.offset(s);
    emissions(words, s, own, given, scores);
    chain.sum(n, scores.data(), transitions);
    for (Index d = 0; d < count; ++d) {
      RandomStream random(seed, static_cast<std::uint64_t>(block.first_sentence() + s),
                          static_cast<std::uint64_t>(d));
      TagAnswer& answer = answers[at(d)];
      chain.sample(random, answer.upos.data() + offset);
      for (Index i = 0; i < n; ++i) {
        const std::size_t w = at(offset + i);
        answer.p_upos[w] = chain.marginals()[i * set.tags + answer.upos[w]];
      }
    }
  });
  for (Index d = 0; d < count; ++d) {
    analyse(words, given, answers[at(d)], &seed, block.first_sentence(), d, threads);
  }
  return answers;
}

std::string TagModel::render(const Block& block, const TagAnswer& answer, bool retag) const {
  const std::size_t words = at(block.total_words());
  std::vector<std::string_view> upos(words), xpos(words), feats(words);
  for (Index s = 0; s < block.sentences(); ++s) {
    const bool keeps_feats = !retag && has_feats(block, s);
    for (Index w = 1; w <= block.words(s); ++w) {
      const std::size_t i = at(block.first_word(s) + w - 1);
      const std::size_t analysis = at(answer.analyses[i]);
      upos[i] = block.field(s, w, Column::upos);
      xpos[i] = block.field(s, w, Column::xpos);
      feats[i] = block.field(s, w, Column::feats);
      if (retag || upos[i] == kMissing) upos[i] = names.upos[at(answer.upos[i])];
      if (names.has_xpos && (retag || xpos[i] == kMissing)) {
        xpos[i] = names.xpos[at(set.xpos[analysis])];
      }
      if (names.has_feats && !keeps_feats) feats[i] = names.feats[at(set.feats[analysis])];
    }
  }
  std::vector<data::NewTexts> columns{{Column::upos, upos.data()}};
  if (names.has_xpos) columns.push_back({Column::xpos, xpos.data()});
  if (names.has_feats) columns.push_back({Column::feats, feats.data()});
  std::vector<std::int64_t> sentences(at(block.sentences()));
  for (std::size_t s = 0; s < sentences.size(); ++s) sentences[s] = static_cast<std::int64_t>(s);
  data::NewColumns changes;
  changes.texts = columns;
  return data::render(block, sentences, changes);
}

}  // namespace arbora::tagging
