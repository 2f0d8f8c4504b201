// The lemmatiser and its training. The caller checks what the arrays hold; no arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "arbora/tagging/lemma_model.hpp"
#include "arbora/tagging/lemma_trainer.hpp"
#include "arrays.hpp"
#include "interrupts.hpp"

namespace arbora::bindings {
namespace {

template <class T>
std::span<const T> viewed(const Input<T>& array) {
  return {array.data(), array.size()};
}

// A rule as it is stored: case (4 is a whole lemma), cut prefix and suffix, added ones.
using RuleRow = std::tuple<int, std::string, std::string, std::string, std::string>;

RuleRow to_row(const tagging::LemmaRule& rule) {
  const int kind = rule.is_whole ? tagging::kLetterCases : static_cast<int>(rule.letter_case);
  return {kind, rule.cut_prefix, rule.cut_suffix, rule.add_prefix, rule.add_suffix};
}

tagging::LemmaRule to_rule(const RuleRow& row) {
  const auto& [kind, cut_prefix, cut_suffix, add_prefix, add_suffix] = row;
  if (kind < 0 || kind > tagging::kLetterCases) throw std::invalid_argument("no such case");
  const bool is_whole = kind == tagging::kLetterCases;
  const auto letter_case =
      is_whole ? tagging::LetterCase::keep : static_cast<tagging::LetterCase>(kind);
  return {letter_case, is_whole, cut_prefix, cut_suffix, add_prefix, add_suffix};
}

void make_model(tagging::LemmaModel* self, const std::vector<RuleRow>& rows,
                Input<std::uint32_t> pairs, const Lexicon& memory, Input<std::uint32_t> known,
                Input<float> weights, int bits) {
  if (bits < 1 || bits > 30) throw std::invalid_argument("bits");
  check_count(weights.size(), std::size_t{1} << static_cast<unsigned>(bits), "weights");
  std::vector<tagging::LemmaRule> rules;
  for (const RuleRow& row : rows) rules.push_back(to_rule(row));
  new (self) tagging::LemmaModel{tagging::RuleSet(std::move(rules), viewed(pairs)),
                                 {memory, KeyTable(viewed(known))},
                                 {weights.data(), weights.data() + weights.size()},
                                 bits};
}

auto lexicon_arrays(const Lexicon& lexicon) {
  std::vector<std::uint16_t> which, counts;
  for (const auto& entry : lexicon.entries()) {
    which.push_back(entry.analysis);
    counts.push_back(entry.count);
  }
  return std::make_tuple(to_array(std::vector<std::uint32_t>(lexicon.keys())),
                         to_array(std::vector<std::uint32_t>(lexicon.ends())),
                         to_array(std::move(which)), to_array(std::move(counts)));
}

}  // namespace

void bind_lemmas(nb::module_& module) {
  module.def(
      "find_rule",
      [](std::string_view form, std::string_view lemma) {
        return to_row(tagging::find_rule(form, lemma));
      },
      "form"_a, "lemma"_a, "Case, cut prefix and suffix, added prefix and suffix.");
  module.def(
      "apply_rule",
      [](const RuleRow& row, std::string_view form) {
        const tagging::LemmaRule rule = to_rule(row);
        std::string lemma;
        const bool fits =
            tagging::apply_rule(rule, tagging::in_case(form, rule.letter_case), lemma);
        return std::make_tuple(fits, fits ? lemma : std::string());
      },
      "rule"_a, "form"_a);

  nb::class_<tagging::LemmaAnswer>(module, "LemmaAnswer")
      .def_ro("lemmas", &tagging::LemmaAnswer::lemmas)
      .def_prop_ro(
          "numbers", [](const tagging::LemmaAnswer& a) { return to_array(std::vector(a.numbers)); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "probabilities",
          [](const tagging::LemmaAnswer& a) { return to_array(std::vector(a.probabilities)); },
          nb::rv_policy::automatic);

  nb::class_<tagging::LemmaModel>(module, "LemmaModel")
      .def("__init__", &make_model, "rules"_a, "pairs"_a, "memory"_a, "known"_a, "weights"_a,
           "bits"_a)
      .def(
          "lemmatise",
          [](const tagging::LemmaModel& model, const Block& block, bool relemmatise) {
            return run_polling([&] { return model.lemmatise(block, relemmatise); });
          },
          "block"_a, "relemmatise"_a)
      .def(
          "render",
          [](const tagging::LemmaModel&, const Block& block, const tagging::LemmaAnswer& answer) {
            check_count(answer.numbers.size(), block.total_words(), "lemmas");
            const std::string text =
                run_polling([&] { return tagging::render_lemmas(block, answer); });
            return nb::bytes(text.data(), text.size());
          },
          "block"_a, "answer"_a)
      .def(
          "analyse",
          [](const tagging::LemmaModel& model, std::string_view form, std::string_view upos,
             std::string_view xpos,
             std::string_view feats) { return model.analyse({form, upos, xpos, feats}); },
          "form"_a, "upos"_a, "xpos"_a, "feats"_a,
          "Lemmas and their probabilities, the best first.");

  nb::class_<tagging::LemmaTrainer>(module, "LemmaTrainer")
      .def(
          "__init__",
          [](tagging::LemmaTrainer* self, const Block& block, Index folds, int bits) {
            if (bits < 1 || bits > 30) throw std::invalid_argument("bits");
            run_polling([&] { new (self) tagging::LemmaTrainer(block, folds, bits); });
          },
          "block"_a, "folds"_a, "bits"_a)
      .def("__len__", &tagging::LemmaTrainer::examples)
      .def(
          "learn",
          [](tagging::LemmaTrainer& trainer, Ints order, Index batch, double rate, double decay) {
            return run_polling([&] { return trainer.pass(viewed(order), batch, {rate, decay}); });
          },
          "order"_a, "batch"_a, "rate"_a, "decay"_a, "A pass in this order; returns the loss.")
      .def("average",
           [](tagging::LemmaTrainer& trainer) { return to_array(trainer.learner().average()); })
      .def(
          "objective",
          [](tagging::LemmaTrainer& trainer, Input<float> weights, Ints examples) {
            check_count(weights.size(), trainer.learner().values().size(), "weights");
            trainer.learner().values().assign(weights.data(), weights.data() + weights.size());
            const double loss = trainer.add(viewed(examples));
            return std::make_tuple(loss, to_array(trainer.learner().take_gradient()));
          },
          "weights"_a, "examples"_a, "The loss of some examples, and its gradient.")
      .def("rules",
           [](const tagging::LemmaTrainer& trainer) {
             std::vector<RuleRow> rows;
             for (const auto& rule : trainer.learnt().rules) rows.push_back(to_row(rule));
             return rows;
           })
      .def("pairs",
           [](const tagging::LemmaTrainer& trainer) {
             return to_array(std::vector<std::uint32_t>(trainer.learnt().pairs));
           })
      .def("known",
           [](const tagging::LemmaTrainer& trainer) {
             return to_array(std::vector<std::uint32_t>(trainer.learnt().known));
           })
      .def("memory", [](const tagging::LemmaTrainer& trainer) {
        return lexicon_arrays(trainer.learnt().memory);
      });
}

}  // namespace arbora::bindings
