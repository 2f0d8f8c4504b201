// The tagger and its training. The caller checks what the arrays hold; no arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "arbora/base/letters.hpp"
#include "arbora/tagging/tag_model.hpp"
#include "arbora/tagging/tag_trainer.hpp"
#include "arrays.hpp"
#include "interrupts.hpp"

namespace arbora::bindings {
namespace {

template <class T>
std::vector<T> copied(const Input<T>& array) {
  return {array.data(), array.data() + array.size()};
}

template <class T>
std::span<const T> viewed(const Input<T>& array) {
  return {array.data(), array.size()};
}

std::shared_ptr<const Clusters> copied(const Clusters* clusters) {
  return clusters == nullptr ? nullptr : std::make_shared<const Clusters>(*clusters);
}

std::vector<std::size_t> row_starts(const AnalysisSet& set, std::size_t rows,
                                    const Input<std::uint8_t>* tags) {
  std::vector<std::size_t> first{0};
  for (std::size_t i = 0; i < rows; ++i) {
    const Index width = tags == nullptr ? set.tags : set.widths.at(tags->data()[i]);
    first.push_back(first.back() + at(width));
  }
  return first;
}

void set_rows(FeatureRows& rows, const AnalysisSet& set, const Input<std::uint32_t>& keys,
              const Input<std::uint8_t>* tags, const Input<float>& weights) {
  if (tags != nullptr) check_count(tags->size(), keys.size(), "tags of rows");
  rows.table = KeyTable(viewed(keys));
  rows.first = row_starts(set, keys.size(), tags);
  check_count(weights.size(), rows.first.back(), "weights");
  rows.weights = copied(weights);
}

using Texts = std::vector<std::string>;

void make_model(TagModel* self, Texts upos, Texts xpos, Texts feats, bool has_xpos, bool has_feats,
                const AnalysisSet& set, const Lexicon& lexicon, const Clusters* clusters,
                Input<std::uint32_t> upos_keys, Input<float> upos_weights, Floats transitions,
                Input<std::uint32_t> keys, Input<std::uint8_t> tags, Input<float> weights,
                Floats memory) {
  auto model = std::make_unique<TagModel>();
  check_count(upos.size(), set.tags, "upos");
  check_count(transitions.size(), (set.tags + 1) * (set.tags + 1), "transitions");
  check_count(memory.size(), set.tags * tagging::kMemories, "memory");
  model->names = {std::move(upos), std::move(xpos), std::move(feats), has_xpos, has_feats};
  model->set = set;
  model->lexicon = lexicon;
  model->clusters = copied(clusters);
  set_rows(model->upos_rows, set, upos_keys, nullptr, upos_weights);
  set_rows(model->analysis_rows, set, keys, &tags, weights);
  model->transitions = Transitions(set.tags, transitions.data());
  model->memory_weights = copied(memory);
  model->finish();
  new (self) TagModel(std::move(*model));
  self->finish();  // its numbers point to its own names
}

void check_words(const Block& block, std::size_t size) {
  check_count(size, block.total_words(), "tags of words");
}

auto averages(tagging::LearntPart& part) {
  return std::make_tuple(to_array(std::vector<std::uint32_t>(part.keys)),
                         to_array(std::vector<std::uint8_t>(part.tags)),
                         to_array(part.learner.average()), to_array(part.learner.dense_average()));
}

tagging::LearntPart& part_of(TagTrainer& trainer, bool analyses) {
  return analyses ? trainer.analyses() : trainer.upos();
}

void bind_models(nb::module_& module) {
  nb::class_<AnalysisSet>(module, "AnalysisSet")
      .def(
          "__init__",
          [](AnalysisSet* self, Heads first, Heads ends, Heads outputs, Heads widths, Heads xpos,
             Heads feats) {
            new (self) AnalysisSet{static_cast<Index>(widths.size()),
                                   copied(first),
                                   copied(ends),
                                   copied(outputs),
                                   copied(widths),
                                   copied(xpos),
                                   copied(feats)};
          },
          "first"_a, "ends"_a, "outputs"_a, "widths"_a, "xpos"_a, "feats"_a);

  nb::class_<Lexicon>(module, "Lexicon")
      .def(
          "__init__",
          [](Lexicon* self, Input<std::uint32_t> keys, Input<std::uint32_t> ends,
             Input<std::uint16_t> analyses, Input<std::uint16_t> counts) {
            check_count(ends.size(), keys.size(), "ends");
            check_count(counts.size(), analyses.size(), "counts");
            std::vector<tagging::LexiconEntry> entries;
            for (std::size_t i = 0; i < counts.size(); ++i)
              entries.push_back({analyses.data()[i], counts.data()[i]});
            new (self) Lexicon(copied(keys), copied(ends), std::move(entries));
          },
          "keys"_a, "ends"_a, "analyses"_a, "counts"_a);
  module.def(
      "learn_lexicon",
      [](const Block& block, Heads analyses) {
        check_words(block, analyses.size());
        const Lexicon lexicon(block, analyses.data(), 0, 0);
        std::vector<std::uint16_t> which, counts;
        for (const auto& entry : lexicon.entries()) {
          which.push_back(entry.analysis);
          counts.push_back(entry.count);
        }
        return std::make_tuple(to_array(std::vector<std::uint32_t>(lexicon.keys())),
                               to_array(std::vector<std::uint32_t>(lexicon.ends())),
                               to_array(std::move(which)), to_array(std::move(counts)));
      },
      "block"_a, "analyses"_a, "Keys of forms, ends of their entries, analyses and counts.");

  nb::class_<TagAnswer>(module, "TagAnswer")
      .def_prop_ro(
          "upos", [](const TagAnswer& a) { return to_array(std::vector(a.upos)); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "analyses", [](const TagAnswer& a) { return to_array(std::vector(a.analyses)); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "p_upos", [](const TagAnswer& a) { return to_array(std::vector(a.p_upos)); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "p_xpos", [](const TagAnswer& a) { return to_array(std::vector(a.p_xpos)); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "p_feats", [](const TagAnswer& a) { return to_array(std::vector(a.p_feats)); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "posterior", [](const TagAnswer& a) { return to_array(std::vector(a.posterior)); },
          nb::rv_policy::automatic);

  nb::class_<TagModel>(module, "TagModel")
      .def("__init__", &make_model, "upos"_a, "xpos"_a, "feats"_a, "has_xpos"_a, "has_feats"_a,
           "set"_a, "lexicon"_a, "clusters"_a.none(), "upos_keys"_a, "upos_weights"_a,
           "transitions"_a, "keys"_a, "tags"_a, "weights"_a, "memory"_a)
      .def(
          "tag",
          [](const TagModel& model, const Block& block, bool retag, bool viterbi, bool posterior,
             int threads) {
            return run_polling(
                [&] { return model.tag(block, retag, viterbi, posterior, threads); });
          },
          "block"_a, "retag"_a, "viterbi"_a, "posterior"_a, "threads"_a)
      .def(
          "sample",
          [](const TagModel& model, const Block& block, bool retag, Index count, std::uint64_t seed,
             int threads) {
            return run_polling([&] { return model.sample(block, retag, count, seed, threads); });
          },
          "block"_a, "retag"_a, "count"_a, "seed"_a, "threads"_a)
      .def(
          "render",
          [](const TagModel& model, const Block& block, const TagAnswer& answer, bool retag) {
            check_words(block, answer.upos.size());
            const std::string text =
                run_polling([&] { return model.render(block, answer, retag); });
            return nb::bytes(text.data(), text.size());
          },
          "block"_a, "answer"_a, "retag"_a);
}

void bind_trainer(nb::module_& module) {
  nb::class_<TagTrainer>(module, "TagTrainer")
      .def(
          "__init__",
          [](TagTrainer* self, const Block& block, const AnalysisSet& set, const Texts& upos,
             Heads analyses, Index folds, Index cutoff, const Clusters* clusters) {
            check_words(block, analyses.size());
            run_polling([&] {
              new (self)
                  TagTrainer(block, set, upos, copied(analyses), folds, cutoff, copied(clusters));
            });
          },
          "block"_a, "set"_a, "upos"_a, "analyses"_a, "folds"_a, "cutoff"_a, "clusters"_a.none())
      .def("__len__", &TagTrainer::sentences)
      .def(
          "learn",
          [](TagTrainer& trainer, bool analyses, Ints order, Index batch, double rate, double decay,
             int threads) {
            return run_polling([&] {
              const tagging::LearningStep step{rate, decay};
              return analyses ? trainer.pass_analyses(viewed(order), batch, step, threads)
                              : trainer.pass_upos(viewed(order), batch, step, threads);
            });
          },
          "analyses"_a, "order"_a, "batch"_a, "rate"_a, "decay"_a, "threads"_a,
          "A pass over the sentences in this order; returns the loss.")
      .def(
          "averages",
          [](TagTrainer& trainer, bool analyses) { return averages(part_of(trainer, analyses)); },
          "analyses"_a, "Keys and tags of rows, averaged weights of rows, averaged dense weights.")
      .def(
          "objective",
          [](TagTrainer& trainer, bool analyses, Input<float> weights, Floats dense, Ints sentences,
             int threads) {
            tagging::RowLearner& learner = part_of(trainer, analyses).learner;
            check_count(weights.size(), learner.values().size(), "weights");
            check_count(dense.size(), learner.dense_values().size(), "dense");
            learner.values() = copied(weights);
            learner.dense_values() = copied(dense);
            const double loss = analyses ? trainer.add_analyses(viewed(sentences), threads)
                                         : trainer.add_upos(viewed(sentences), threads);
            return std::make_tuple(loss, to_array(learner.take_gradient()));
          },
          "analyses"_a, "weights"_a, "dense"_a, "sentences"_a, "threads"_a,
          "The loss of some sentences at these weights, and its gradient.");
}

void bind_chain(nb::module_& module) {
  module.def(
      "chain_sums",
      [](Floats emissions, Floats transitions, Index tags) {
        const Index words = static_cast<Index>(emissions.size()) / tags;
        check_count(transitions.size(), (tags + 1) * (tags + 1), "transitions");
        tagging::Chain chain;
        const Transitions pairs(tags, transitions.data());
        if (!chain.sum(words, emissions.data(), pairs))
          throw std::invalid_argument("there is no sequence");
        std::vector<double> expected(transitions.size());
        chain.add_pairs(expected.data());
        return std::make_tuple(
            chain.log_partition(),
            to_array(std::vector<double>(chain.marginals(), chain.marginals() + words * tags)),
            to_array(std::move(expected)));
      },
      "emissions"_a, "transitions"_a, "tags"_a, "log Z, marginals of tags and of pairs.");
  module.def(
      "chain_best",
      [](Floats emissions, Floats transitions, Index tags) {
        check_count(transitions.size(), (tags + 1) * (tags + 1), "transitions");
        const Index words = static_cast<Index>(emissions.size()) / tags;
        std::vector<std::int32_t> found(at(words));
        const Transitions pairs(tags, transitions.data());
        const double score = tagging::best_tags(words, emissions.data(), pairs, found.data());
        return std::make_tuple(score, to_array(std::move(found)));
      },
      "emissions"_a, "transitions"_a, "tags"_a, "The best sequence and its score.");
  module.def(
      "chain_samples",
      [](Floats emissions, Floats transitions, Index tags, Index count, std::uint64_t seed) {
        check_count(transitions.size(), (tags + 1) * (tags + 1), "transitions");
        const Index words = static_cast<Index>(emissions.size()) / tags;
        tagging::Chain chain;
        const Transitions pairs(tags, transitions.data());
        if (!chain.sum(words, emissions.data(), pairs))
          throw std::invalid_argument("there is no sequence");
        std::vector<std::int32_t> found(at(words * count));
        for (Index d = 0; d < count; ++d) {
          RandomStream random(seed, 0, static_cast<std::uint64_t>(d));
          chain.sample(random, found.data() + d * words);
        }
        return to_array(std::move(found));
      },
      "emissions"_a, "transitions"_a, "tags"_a, "count"_a, "seed"_a, "Draws, one after the other.");
  module.def("lower_case", &base::lower_case, "text"_a);
  module.def("upper_case", &base::upper_case, "text"_a);
  module.def("title_case", &base::title_case, "text"_a);
}

}  // namespace

void bind_tagging(nb::module_& module) {
  module.attr("MEMORIES") = tagging::kMemories;
  bind_models(module);
  bind_trainer(module);
  bind_chain(module);
}

}  // namespace arbora::bindings
