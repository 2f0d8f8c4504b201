// Text to tokens, sentences and words, and how that is learnt. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <stdexcept>

#include "arbora/segmentation/render.hpp"
#include "arbora/segmentation/training.hpp"
#include "arrays.hpp"
#include "interrupts.hpp"

namespace arbora::bindings {
namespace {

using Bytes = Input<std::uint8_t>;
// left, right, words, core, before, after (split_rules.hpp)
using RuleRow =
    std::tuple<std::string, std::string, std::vector<std::string>, int, std::string, std::string>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string(what) + " does not fit");
}

std::string_view view(const nb::bytes& text) { return {text.c_str(), text.size()}; }

std::u32string letters(const std::string& text) {
  const Characters made = segmentation::characters_of(text);
  return {made.points.begin(), made.points.end()};
}

SplitRules make_rules(const std::vector<RuleRow>& rows) {
  std::vector<segmentation::SplitRule> rules;
  for (const auto& [left, right, words, core, before, after] : rows) {
    require(core >= -1 && core < static_cast<int>(words.size()) && words.size() > 1, "a rule");
    segmentation::SplitRule rule{letters(left), letters(right),  {},
                                 core,          letters(before), letters(after)};
    for (const std::string& word : words) rule.words.push_back(letters(word));
    rules.push_back(std::move(rule));
  }
  return SplitRules(std::move(rules));
}

Lexicon make_lexicon(const Input<std::uint32_t>& keys, const Bytes& tokens, const Bytes& words,
                     const Bytes& small) {
  check_count(tokens.size(), keys.size(), "tokens");
  check_count(words.size(), keys.size(), "words");
  check_count(small.size(), keys.size(), "small");
  return Lexicon({keys.data(), keys.size()}, {tokens.data(), tokens.size()},
                 {words.data(), words.size()}, {small.data(), small.size()});
}

segmentation::OpenPairs make_open(const Bytes& open) {
  check_count(open.size(),
              static_cast<std::size_t>(segmentation::kClasses) * segmentation::kClasses, "open");
  return {open.data(), open.data() + open.size()};
}

std::vector<float> make_table(const Input<float>& weights) {
  require(weights.size() > 1 && std::has_single_bit(weights.size()), "a table of weights");
  return {weights.data(), weights.data() + weights.size()};
}

Paragraph make_paragraph(const nb::bytes& text, const Ints& begins, const Ints& ends,
                         const Bytes& parts, const Bytes& ends_here,
                         const Input<std::int32_t>& right) {
  const std::size_t count = begins.size();
  check_count(ends.size(), count, "ends");
  check_count(parts.size(), count, "parts");
  check_count(ends_here.size(), count, "ends_here");
  check_count(right.size(), count, "right");
  Paragraph made;
  made.text = segmentation::characters_of(view(text));
  std::int64_t before = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const segmentation::Token token{begins.data()[t], ends.data()[t]};
    require(token.begin >= before && token.end > token.begin && token.end <= made.text.size() &&
                parts.data()[t] <= 8,
            "a token");
    before = token.end;
    made.tokens.push_back(token);
  }
  made.parts.assign(parts.data(), parts.data() + count);
  made.ends_here.assign(ends_here.data(), ends_here.data() + count);
  made.right.assign(right.data(), right.data() + count);
  return made;
}

using Answer =
    std::tuple<nb::bytes, Output<std::int64_t>, Output<std::int64_t>, Output<std::int32_t>,
               Output<std::int64_t>, Output<double>, Output<double>, std::size_t, Index, bool>;

Answer segment(const SegmenterModel& model, const nb::bytes& text, bool is_last, bool ranges,
               std::int64_t offset, std::int64_t first_sentence, bool opens_text,
               bool opens_paragraph) {
  const std::string_view given = view(text);
  require(given.size() < (std::size_t{1} << 31), "the text");
  segmentation::Rendered out;
  {
    nb::gil_scoped_release release;
    out = segmentation::segment_text(model, given, is_last,
                                     {ranges, offset, first_sentence, opens_text, opens_paragraph});
  }
  return {nb::bytes(out.conllu.data(), out.conllu.size()),
          to_array(std::move(out.starts)),
          to_array(std::move(out.ends)),
          to_array(std::move(out.words)),
          to_array(std::move(out.sentences)),
          to_array(std::move(out.token_ends)),
          to_array(std::move(out.sentence_ends)),
          out.bytes,
          out.characters,
          out.opens_paragraph};
}

Examples boundary_examples(const std::vector<const Paragraph*>& known, const Bytes& open,
                           const Lexicon& lexicon, int bits) {
  Examples made;
  const segmentation::OpenPairs pairs = make_open(open);
  for (const Paragraph* one : known) add_boundary_examples(*one, pairs, lexicon, bits, made);
  return made;
}

Examples sentence_examples(const std::vector<const Paragraph*>& known, bool lines_matter,
                           const Lexicon& lexicon, int bits) {
  Examples made;
  for (const Paragraph* one : known) add_sentence_examples(*one, lines_matter, lexicon, bits, made);
  return made;
}

Examples split_examples(const std::vector<const Paragraph*>& known, const SplitRules& rules,
                        const Lexicon& lexicon, int bits) {
  Examples made;
  for (const Paragraph* one : known) add_split_examples(*one, rules, lexicon, bits, made);
  return made;
}

void check_table(const Examples& examples, std::size_t size) {
  for (const std::uint32_t slot : examples.slots) require(slot < size, "a table of weights");
}

Output<std::int64_t> pair_counts(const std::vector<const Paragraph*>& known) {
  std::vector<std::int64_t> counts(2 * segmentation::kClasses * segmentation::kClasses);
  for (const Paragraph* one : known) count_pairs(*one, counts);
  return to_array(std::move(counts));
}

// Classes and small letters of a text, one number per character.
std::tuple<Output<std::uint8_t>, Output<std::uint32_t>> look_at(const nb::bytes& text) {
  const Characters made = segmentation::characters_of(view(text));
  std::vector<std::uint8_t> classes;
  for (const auto kind : made.classes) classes.push_back(static_cast<std::uint8_t>(kind));
  std::vector<std::uint32_t> lower(made.lower.begin(), made.lower.end());
  return {to_array(std::move(classes)), to_array(std::move(lower))};
}

Output<std::uint32_t> keys_of(const std::vector<std::string>& forms) {
  std::vector<std::uint32_t> keys;
  for (const std::string& form : forms) {
    const Characters made = segmentation::characters_of(form);
    keys.push_back(Lexicon::key_of(segmentation::hash_of_lower(made, 0, made.size())));
  }
  return to_array(std::move(keys));
}

void bind_examples(nb::module_& module) {
  nb::class_<Examples>(module, "Examples", "Decisions with the slots of their candidates.")
      .def("__len__", &Examples::size)
      .def("slots", [](const Examples& e) { return to_array(std::vector(e.slots)); })
      .def("first_slot", [](const Examples& e) { return to_array(std::vector(e.first_slot)); })
      .def("first_candidate",
           [](const Examples& e) { return to_array(std::vector(e.first_candidate)); })
      .def("right", [](const Examples& e) { return to_array(std::vector(e.right)); });
  module.def("boundary_examples", &boundary_examples, "known"_a, "open"_a, "lexicon"_a, "bits"_a,
             nb::call_guard<nb::gil_scoped_release>());
  module.def("sentence_examples", &sentence_examples, "known"_a, "lines_matter"_a, "lexicon"_a,
             "bits"_a, nb::call_guard<nb::gil_scoped_release>());
  module.def("split_examples", &split_examples, "known"_a, "rules"_a, "lexicon"_a, "bits"_a,
             nb::call_guard<nb::gil_scoped_release>());
  module.def("pair_counts", &pair_counts, "known"_a,
             "Pairs of classes inside of tokens and between them, alternating.");
  module.def(
      "objective",
      [](const Examples& examples, double regularization, Floats weights, FloatAnswer gradient,
         int threads) {
        check_table(examples, weights.size());
        check_count(gradient.size(), weights.size(), "gradient");
        return run_polling([&] {
          return segmentation::objective(examples, regularization, {weights.data(), weights.size()},
                                         {gradient.data(), gradient.size()}, threads);
        });
      },
      "examples"_a, "regularization"_a, "weights"_a, "gradient"_a.noconvert(), "threads"_a,
      "The regularised loss; writes its gradient.");
  module.def(
      "minimise",
      [](const Examples& examples, double regularization, int passes, FloatAnswer weights,
         int threads) {
        check_table(examples, weights.size());
        return run_polling([&] {
          return segmentation::minimise(examples, regularization, passes,
                                        {weights.data(), weights.size()}, threads);
        });
      },
      "examples"_a, "regularization"_a, "passes"_a, "weights"_a.noconvert(), "threads"_a,
      "Writes the weights with the smallest regularised loss, and returns it.");
}

}  // namespace

void bind_segmentation(nb::module_& module) {
  module.attr("CLASSES") = segmentation::kClasses;
  nb::class_<SplitRules>(module, "SplitRules")
      .def(
          "__init__",
          [](SplitRules* self, const std::vector<RuleRow>& rows) {
            new (self) SplitRules(make_rules(rows));
          },
          "rows"_a);
  nb::class_<Lexicon>(module, "Lexicon")
      .def(
          "__init__",
          [](Lexicon* self, Input<std::uint32_t> keys, Bytes tokens, Bytes words, Bytes small) {
            new (self) Lexicon(make_lexicon(keys, tokens, words, small));
          },
          "keys"_a, "tokens"_a, "words"_a, "small"_a);
  nb::class_<Paragraph>(module, "Paragraph")
      .def(
          "__init__",
          [](Paragraph* self, nb::bytes text, Ints begins, Ints ends, Bytes parts, Bytes ends_here,
             Input<std::int32_t> right) {
            new (self) Paragraph(make_paragraph(text, begins, ends, parts, ends_here, right));
          },
          "text"_a, "begins"_a, "ends"_a, "parts"_a, "ends_here"_a, "right"_a);
  nb::class_<SegmenterModel>(module, "SegmenterModel")
      .def(
          "__init__",
          [](SegmenterModel* self, Input<float> boundary, Input<float> sentence, Input<float> split,
             Bytes open, const Lexicon& lexicon, const SplitRules& rules, bool lines_matter) {
            new (self)
                SegmenterModel{{make_table(boundary), make_table(sentence), make_table(split)},
                               make_open(open),
                               lexicon,
                               rules,
                               lines_matter};
          },
          "boundary"_a, "sentence"_a, "split"_a, "open"_a, "lexicon"_a, "rules"_a, "lines_matter"_a)
      .def("segment", &segment, "text"_a, "is_last"_a, "ranges"_a, "offset"_a, "first_sentence"_a,
           "opens_text"_a, "opens_paragraph"_a,
           "CoNLL-U, arrays of tokens and sentences, and how much of the text they cover.");
  module.def("look_at", &look_at, "text"_a, "Classes and small letters of characters.");
  module.def("keys_of", &keys_of, "forms"_a, "Keys of a lexicon.");
  bind_examples(module);
}

}  // namespace arbora::bindings
