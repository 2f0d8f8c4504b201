#include "arbora/tagging/tag_trainer.hpp"

#include <algorithm>
#include <unordered_map>

#include "arbora/base/parallel.hpp"
#include "arbora/tagging/key_table.hpp"
#include "arbora/tagging/tag_model.hpp"
#include "arbora/tagging/tag_templates.hpp"

namespace arbora::tagging {
namespace {

constexpr double kWorkPerSentence = 1e6;  // floating-point operations, roughly

// Gathers lists of keys as numbers, counts their occurrences in words, and keeps the frequent ones.
class Collector {
 public:
  explicit Collector(LearntPart& part) : part_(part) {}

  void take(std::uint64_t key, Index tag) {
    const std::uint32_t short_one = short_key(key);
    const auto number = static_cast<std::size_t>(table_.insert(short_one));
    if (number == keys_.size()) {
      keys_.push_back(short_one);
      tags_.push_back(static_cast<std::uint8_t>(tag));
      counts_.push_back(0);
    }
    part_.lists.rows.push_back(static_cast<std::int32_t>(number));
  }
  std::int32_t end_list() {
    part_.lists.ends.push_back(part_.lists.rows.size());
    return static_cast<std::int32_t>(part_.lists.ends.size()) - 2;
  }
  void count(std::int32_t list) {
    for (std::size_t i = part_.lists.ends[at(list)]; i < part_.lists.ends[at(list) + 1]; ++i) {
      ++counts_[at(part_.lists.rows[i])];
    }
  }

  // `width(tag)` is the number of weights of a row.
  template <class Width>
  void finish(Index cutoff, const Width& width, std::size_t dense) {
    std::vector<std::int32_t> row_of(keys_.size(), kNoRow);
    std::vector<std::size_t> first{0};
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (counts_[i] < static_cast<std::uint32_t>(cutoff)) continue;
      row_of[i] = static_cast<std::int32_t>(part_.keys.size());
      part_.keys.push_back(keys_[i]);
      part_.tags.push_back(tags_[i]);
      first.push_back(first.back() + at(width(tags_[i])));
    }
    FeatureLists& lists = part_.lists;
    std::size_t to = 0, from = 0;
    for (std::size_t list = 1; list < lists.ends.size(); ++list) {
      for (; from < lists.ends[list]; ++from) {
        const std::int32_t row = row_of[at(lists.rows[from])];
        if (row != kNoRow) lists.rows[to++] = row;
      }
      lists.ends[list] = to;
    }
    lists.rows.resize(to);
    part_.learner = RowLearner(std::move(first), dense);
  }

 private:
  LearntPart& part_;
  KeyTable table_;
  std::vector<std::uint32_t> keys_, counts_;
  std::vector<std::uint8_t> tags_;
};

}  // namespace

TagTrainer::TagTrainer(const Block& block, AnalysisSet set, const std::vector<std::string>& upos,
                       std::vector<std::int32_t> analyses, Index folds, Index cutoff,
                       std::shared_ptr<const Clusters> clusters)
    : set_(std::move(set)), clusters_(std::move(clusters)), gold_(std::move(analyses)) {
  for (const std::int32_t analysis : gold_) {
    gold_tags_.push_back(
        static_cast<std::int32_t>(tag_of(set_.first, static_cast<std::uint16_t>(analysis))));
  }
  const Index sentences = block.sentences();
  folds = std::max<Index>(1, std::min(folds, sentences));
  lexicons_.reserve(at(folds));  // words_ points to their entries
  for (Index fold = 0; fold < folds; ++fold) {
    const Index first = sentences * fold / folds, last = sentences * (fold + 1) / folds;
    lexicons_.emplace_back(block, gold_.data(), folds == 1 ? 0 : first, folds == 1 ? 0 : last);
    words_.add(block, first, last, {&lexicons_.back(), set_.first, clusters_.get()});
  }
  std::vector<std::uint64_t> atoms;
  for (const std::string& name : upos) atoms.push_back(hash_text(name));
  collect_upos(cutoff);
  if (!set_.is_trivial()) collect_analyses(atoms, cutoff);
}

void TagTrainer::collect_upos(Index cutoff) {
  Collector collector(upos_);
  std::vector<std::int32_t> own(words_.types().size(), -1);
  for (Index s = 0; s < sentences(); ++s) {
    const std::int32_t* types = words_.types_of(s);
    const std::uint64_t style = style_of(words_.types().data(), types, words_.words(s));
    for (Index i = 0; i < words_.words(s); ++i) {
      std::int32_t& list = own[at(types[i])];
      if (list < 0) {
        own_tag_features(words_.types()[at(types[i])],
                         [&](std::uint64_t key) { collector.take(key, 0); });
        list = collector.end_list();
      }
      context_tag_features({words_.types().data(), types + i}, i == 0, style,
                           [&](std::uint64_t key) { collector.take(key, 0); });
      upos_.lists.own.push_back(list);
      upos_.lists.context.push_back(collector.end_list());
      collector.count(list);
      collector.count(upos_.lists.context.back());
    }
  }
  const Index tags = set_.tags;
  collector.finish(cutoff, [&](Index) { return tags; }, at((tags + 1) * (tags + 1)));
}

void TagTrainer::collect_analyses(const std::vector<std::uint64_t>& atoms, Index cutoff) {
  Collector collector(analyses_);
  std::unordered_map<Index, std::int32_t> own;
  std::vector<std::uint64_t> around;
  for (Index s = 0; s < sentences(); ++s) {
    const std::int32_t* types = words_.types_of(s);
    const std::int32_t* tags = gold_tags_.data() + words_.offset(s);
    tag_atoms_of(atoms, tags, words_.words(s), around);
    for (Index i = 0; i < words_.words(s); ++i) {
      const Index tag = tags[i];
      const auto take = [&](std::uint64_t key) { collector.take(key, tag); };
      const auto [place, is_new] = own.emplace(types[i] * set_.tags + tag, 0);
      // Words with a single analysis have lists without rows.
      const bool is_open = set_.count(tag) > 1;
      if (is_new) {
        if (is_open) own_analysis_features(words_.types()[at(types[i])], atoms[at(tag)], take);
        place->second = collector.end_list();
      }
      if (is_open) {
        context_analysis_features({words_.types().data(), types + i}, around.data() + kPadding + i,
                                  take);
      }
      analyses_.lists.own.push_back(place->second);
      analyses_.lists.context.push_back(collector.end_list());
      collector.count(place->second);
      collector.count(analyses_.lists.context.back());
    }
  }
  collector.finish(
      cutoff, [&](Index tag) { return set_.widths[at(tag)]; }, at(set_.tags * kMemories));
}

void TagTrainer::work_upos(Index sentence, const Transitions& transitions, Work& work) const {
  const Index n = words_.words(sentence), tags = set_.tags, width = tags + 1;
  const std::size_t offset = at(words_.offset(sentence));
  const std::int32_t* gold = gold_tags_.data() + offset;
  work.scores.assign(at(n * tags), 0.0);
  for (Index i = 0; i < n; ++i) {
    double* row = work.scores.data() + i * tags;
    upos_.lists.for_each(offset + at(i),
                         [&](std::int32_t feature) { upos_.learner.add_row(feature, tags, row); });
  }
  work.chain.sum(n, work.scores.data(), transitions);
  work.pairs.assign(at(width * width), 0.0);
  work.chain.add_pairs(work.pairs.data());
  work.loss = work.chain.log_partition();
  for (Index i = 0; i <= n; ++i) {
    const Index from = i == 0 ? tags : gold[i - 1], to = i == n ? tags : gold[i];
    work.loss -= transitions.score(from, to);
    work.pairs[at(from * width + to)] -= 1.0;
    if (i < n) work.loss -= work.scores[at(i * tags + to)];
  }
  std::copy_n(work.chain.marginals(), n * tags, work.scores.data());  // now the derivatives
  for (Index i = 0; i < n; ++i) work.scores[at(i * tags + gold[i])] -= 1.0;
}

double TagTrainer::add_upos(std::span<const std::int64_t> sentences, int threads) {
  const Index tags = set_.tags;
  const Transitions transitions(tags, upos_.learner.dense().data());
  works_.resize(std::max(works_.size(), sentences.size()));
  for_each_sentence(
      static_cast<Index>(sentences.size()), threads,
      kWorkPerSentence * static_cast<double>(sentences.size()),
      [&](Index k, Workspace&) { work_upos(sentences[at(k)], transitions, works_[at(k)]); });
  double loss = 0.0;
  for (std::size_t k = 0; k < sentences.size(); ++k) {
    const Work& work = works_[k];
    const std::size_t offset = at(words_.offset(sentences[k]));
    for (Index i = 0; i < words_.words(sentences[k]); ++i) {
      upos_.lists.for_each(offset + at(i), [&](std::int32_t feature) {
        upos_.learner.add_gradient(feature, tags, work.scores.data() + i * tags);
      });
    }
    double* dense = upos_.learner.dense_gradient();
    for (std::size_t i = 0; i < work.pairs.size(); ++i) dense[i] += work.pairs[i];
    loss += work.loss;
  }
  return loss;
}

void TagTrainer::work_analyses(Index sentence, Work& work) const {
  const Index n = words_.words(sentence);
  const std::size_t offset = at(words_.offset(sentence));
  const std::int32_t* types = words_.types_of(sentence);
  std::vector<double> outputs(at(set_.widest())), scores(at(set_.most()));
  std::vector<std::int8_t> memories(at(set_.most()));
  work.scores.clear();
  work.first.clear();
  work.pairs.assign(at(set_.tags * kMemories), 0.0);
  work.loss = 0.0;
  for (Index i = 0; i < n; ++i) {
    const Index tag = gold_tags_[offset + at(i)], width = set_.widths[at(tag)];
    const Index count = set_.count(tag);
    work.first.push_back(work.scores.size());
    if (count == 1) continue;
    std::fill(outputs.begin(), outputs.end(), 0.0);
    analyses_.lists.for_each(offset + at(i), [&](std::int32_t feature) {
      if (analyses_.learner.width(feature) == width)
        analyses_.learner.add_row(feature, width, outputs.data());
    });
    remember(set_, tag, words_.types()[at(types[i])], memories.data());
    score_analyses(set_, tag, outputs.data(), memories.data(), analyses_.learner.dense().data(),
                   scores.data());
    const Index gold = gold_[offset + at(i)] - set_.first[at(tag)];
    const double gold_score = scores[at(gold)];
    work.loss += normalise_scores(scores.data(), count) - gold_score;
    scores[at(gold)] -= 1.0;
    work.scores.resize(work.scores.size() + at(width), 0.0);
    pull_back(set_, tag, memories.data(), scores.data(), work.scores.data() + work.first.back(),
              work.pairs.data());
  }
}

double TagTrainer::add_analyses(std::span<const std::int64_t> sentences, int threads) {
  works_.resize(std::max(works_.size(), sentences.size()));
  for_each_sentence(static_cast<Index>(sentences.size()), threads,
                    kWorkPerSentence * static_cast<double>(sentences.size()),
                    [&](Index k, Workspace&) { work_analyses(sentences[at(k)], works_[at(k)]); });
  double loss = 0.0;
  for (std::size_t k = 0; k < sentences.size(); ++k) {
    const Work& work = works_[k];
    const std::size_t offset = at(words_.offset(sentences[k]));
    for (Index i = 0; i < words_.words(sentences[k]); ++i) {
      const Index width = set_.widths[at(gold_tags_[offset + at(i)])];
      analyses_.lists.for_each(offset + at(i), [&](std::int32_t feature) {
        if (analyses_.learner.width(feature) == width)
          analyses_.learner.add_gradient(feature, width, work.scores.data() + work.first[at(i)]);
      });
    }
    double* dense = analyses_.learner.dense_gradient();
    for (std::size_t i = 0; i < work.pairs.size(); ++i) dense[i] += work.pairs[i];
    loss += work.loss;
  }
  return loss;
}

namespace {

template <class Add>
double pass(std::span<const std::int64_t> order, Index batch, RowLearner& learner,
            const LearningStep& step, const Add& add) {
  double loss = 0.0;
  for (std::size_t begin = 0; begin < order.size(); begin += at(batch)) {
    loss += add(order.subspan(begin, std::min(at(batch), order.size() - begin)));
    learner.step(step);
  }
  return loss;
}

}  // namespace

double TagTrainer::pass_upos(std::span<const std::int64_t> order, Index batch,
                             const LearningStep& step, int threads) {
  return pass(order, batch, upos_.learner, step,
              [&](auto sentences) { return add_upos(sentences, threads); });
}

double TagTrainer::pass_analyses(std::span<const std::int64_t> order, Index batch,
                                 const LearningStep& step, int threads) {
  return pass(order, batch, analyses_.learner, step,
              [&](auto sentences) { return add_analyses(sentences, threads); });
}

}  // namespace arbora::tagging
