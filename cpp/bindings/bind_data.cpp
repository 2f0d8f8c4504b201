// Blocks of sentences: bytes in, lists and arrays out. No parsing here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "arbora/data/block.hpp"
#include "arbora/data/compose.hpp"
#include "arbora/data/render.hpp"
#include "arbora/data/tree_shape.hpp"
#include "arrays.hpp"
#include "text_arguments.hpp"

namespace arbora::bindings {
namespace {

using data::Fault;
using data::Layout;
using View = nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>;  // read-only

std::string_view contents(const nb::bytes& data) { return {data.c_str(), data.size()}; }
nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

void check_sentence(const Block& block, std::int64_t sentence) {
  if (sentence < 0 || sentence >= block.sentences()) throw nb::index_error("no such sentence");
}

PyObject* to_str(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict");
}

// A cache of recent strings, so that tags and common words are one object each: direct-mapped by
// hash, hence bounded.
class Pool {
 public:
  PyObject* get(std::string_view text) {
    if (text.size() > 160) return to_str(text);
    Entry& entry = entries_[std::hash<std::string_view>{}(text) % kPlaces];
    if (entry.value == nullptr || entry.text != text) {
      PyObject* made = to_str(text);
      if (made == nullptr) return nullptr;
      Py_XDECREF(entry.value);
      entry.text = text;
      entry.value = made;
    }
    Py_INCREF(entry.value);
    return entry.value;
  }

 private:
  struct Entry {
    std::string text;
    PyObject* value = nullptr;
  };
  static constexpr std::size_t kPlaces = 1 << 12;
  std::vector<Entry> entries_ = std::vector<Entry>(kPlaces);
};

Pool& pool(Column column) {
  // never destroyed: the interpreter may be finalised earlier
  static auto* const pools = new std::array<Pool, data::kColumns>();
  return (*pools)[static_cast<std::size_t>(column)];
}

Strings column(const Block& block, std::int64_t sentence, int column) {
  check_sentence(block, sentence);
  const Column which = to_column(column);
  const std::int64_t n = block.words(sentence);
  Strings list = nb::steal<Strings>(PyList_New(static_cast<Py_ssize_t>(n)));
  if (!list.is_valid()) throw nb::python_error();
  Pool& strings = pool(which);
  for (std::int64_t word = 1; word <= n; ++word) {
    PyObject* text = strings.get(block.field(sentence, word, which));
    if (text == nullptr || PyList_SetItem(list.ptr(), word - 1, text) != 0) {
      throw nb::python_error();
    }
  }
  return list;
}

Strings comments(const Block& block, std::int64_t sentence) {
  check_sentence(block, sentence);
  Strings lines;
  std::string_view text = block.comments(sentence);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.append(nb::steal(to_str(line)));
  }
  return lines;
}

template <class Take>
void for_words(const Block& block, Take take) {
  for (std::int64_t s = 0; s < block.sentences(); ++s) {
    for (std::int64_t word = 1; word <= block.words(s); ++word) take(s, word);
  }
}

Output<std::int32_t> label_ids(const Block& block, const std::vector<std::string>& names) {
  std::vector<std::int32_t> ids;
  {
    nb::gil_scoped_release release;
    std::unordered_map<std::string_view, std::int32_t> places;
    for (std::size_t i = 0; i < names.size(); ++i) {
      places.emplace(names[i], static_cast<std::int32_t>(i));
    }
    ids.reserve(static_cast<std::size_t>(block.total_words()));
    for_words(block, [&](std::int64_t s, std::int64_t word) {
      const auto found = places.find(block.field(s, word, Column::deprel));
      ids.push_back(found == places.end() ? -1 : found->second);
    });
  }
  return to_array(std::move(ids));
}

std::vector<std::tuple<std::string, std::int64_t>> column_names(const Block& block, int column) {
  const Column which = to_column(column);
  nb::gil_scoped_release release;
  std::unordered_map<std::string_view, std::int64_t> counts;
  for_words(block,
            [&](std::int64_t s, std::int64_t word) { ++counts[block.field(s, word, which)]; });
  std::vector<std::tuple<std::string, std::int64_t>> names(counts.begin(), counts.end());
  std::sort(names.begin(), names.end());
  return names;
}

bool same_columns(const Block& block, int first, int second) {
  const Column one = to_column(first), other = to_column(second);
  nb::gil_scoped_release release;
  bool same = true;
  for_words(block, [&](std::int64_t s, std::int64_t word) {
    same = same && block.field(s, word, one) == block.field(s, word, other);
  });
  return same;
}

Output<std::int64_t> n_words(const Block& block) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(block.sentences()));
  for (std::size_t s = 0; s < counts.size(); ++s) {
    counts[s] = block.words(static_cast<std::int64_t>(s));
  }
  return to_array(std::move(counts));
}

nb::bytes compose(const Layout& layout, Input<std::int64_t> n_words, const TextColumns& texts,
                  std::optional<Input<std::int32_t>> heads, std::optional<Strings> comments) {
  const std::span<const std::int64_t> counts(n_words.data(), n_words.size());
  const std::int64_t words = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (heads && heads->size() != static_cast<std::size_t>(words)) {
    throw std::invalid_argument("heads has the wrong size");
  }
  const TextArguments arguments(texts, words);
  const auto given = arguments.entries<data::GivenColumn>();
  std::vector<std::string_view> lines;
  if (comments) lines = views_of(*comments, counts.size());
  data::GivenColumns columns;
  columns.n_words = counts;
  columns.texts = given;
  columns.heads = heads ? heads->data() : nullptr;
  columns.comments = comments ? lines.data() : nullptr;
  std::string text;
  {
    nb::gil_scoped_release release;
    text = data::compose(layout, columns);
  }
  return to_bytes(text);
}

void check_entries(std::size_t size, std::int64_t expected, const char* what) {
  if (size != static_cast<std::size_t>(expected)) {
    throw std::invalid_argument(std::string(what) + " has " + std::to_string(size) +
                                " entries where " + std::to_string(expected) + " are needed");
  }
}

nb::bytes render(const Block& block, std::optional<Heads> heads,
                 std::optional<Input<std::int32_t>> label_ids,
                 const std::vector<std::string>& label_names,
                 const nb::typed<nb::dict, nb::str, nb::object>& misc,
                 std::optional<std::vector<std::string>> comments,
                 std::optional<Input<std::int64_t>> sentences, int decimals,
                 const std::vector<std::string>& forgotten, const TextColumns& texts) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(block.sentences()));
  std::iota(chosen.begin(), chosen.end(), 0);
  if (sentences) chosen.assign(sentences->data(), sentences->data() + sentences->size());
  std::int64_t words = 0;
  for (const std::int64_t s : chosen) {
    check_sentence(block, s);
    words += block.words(s);
  }
  if (heads) check_entries(heads->size(), words, "heads");
  if (label_ids) check_entries(label_ids->size(), words, "label_ids");
  if (comments)
    check_entries(comments->size(), static_cast<std::int64_t>(chosen.size()), "comments");
  const std::vector<std::string_view> names(label_names.begin(), label_names.end());
  const MiscArguments arguments(misc, static_cast<std::size_t>(words), decimals);
  std::vector<std::string_view> lines;
  if (comments) lines.assign(comments->begin(), comments->end());
  data::NewColumns columns;
  columns.heads = heads ? heads->data() : nullptr;
  columns.labels = label_ids ? label_ids->data() : nullptr;
  columns.label_names = names;
  columns.misc = arguments.items;
  columns.comments = comments ? lines.data() : nullptr;
  const std::vector<std::string_view> keys(forgotten.begin(), forgotten.end());
  columns.forgotten = keys;
  const TextArguments others(texts, words);
  const auto other_columns = others.entries<data::NewTexts>();
  columns.texts = other_columns;
  std::string text;
  {
    nb::gil_scoped_release release;
    text = data::render(block, chosen, columns);
  }
  return to_bytes(text);
}

void read_block(Block* block, nb::bytes data, std::shared_ptr<Layout> layout,
                std::int64_t first_line, bool is_last, bool trees, bool skip_bad,
                std::int64_t first_sentence, std::optional<std::int64_t> max_words) {
  data::ReadOptions options;
  options.layout = std::move(layout);
  options.first_line = first_line;
  options.first_sentence = first_sentence;
  options.is_last = is_last;
  options.trees = trees;
  options.skip_bad = skip_bad;
  if (max_words) options.max_words = *max_words;
  // the block shares the bytes; its last owner may not hold the GIL
  PyObject* const kept = data.ptr();
  Py_INCREF(kept);
  const std::shared_ptr<const void> owner(kept, [](PyObject* bytes) {
    nb::gil_scoped_acquire acquire;
    Py_DECREF(bytes);
  });
  const std::string_view text = contents(data);
  nb::gil_scoped_release release;
  new (block) Block(text, owner, options);
}

using Lines = std::vector<std::tuple<std::int64_t, std::string>>;

Lines lines_of(const std::vector<Fault>& faults) {
  Lines found;
  for (const Fault& fault : faults) found.emplace_back(fault.line, fault.message);
  return found;
}

// Non-projective arcs, crossing arcs and roots of one sentence, and of each sentence of a block.
std::tuple<std::int64_t, std::int64_t, std::int64_t> tree_shape(Heads heads) {
  const auto n = static_cast<std::int64_t>(heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads.data()[i] < -1 || heads.data()[i] > n) throw std::invalid_argument("bad head");
  }
  const data::TreeShape shape = data::tree_shape(heads.data(), n);
  return {shape.nonprojective, shape.crossing, shape.roots};
}

std::tuple<Output<std::int64_t>, Output<std::int64_t>, Output<std::int64_t>> tree_shapes(
    const Block& block) {
  std::vector<std::int64_t> nonprojective, crossing, roots;
  {
    nb::gil_scoped_release release;
    for (std::int64_t s = 0; s < block.sentences(); ++s) {
      const auto shape = data::tree_shape(block.heads(s), block.words(s));
      nonprojective.push_back(shape.nonprojective);
      crossing.push_back(shape.crossing);
      roots.push_back(shape.roots);
    }
  }
  return {to_array(std::move(nonprojective)), to_array(std::move(crossing)),
          to_array(std::move(roots))};
}

template <class Answer>
auto of_sentence(Answer answer) {
  return [answer](const Block& block, std::int64_t sentence) {
    check_sentence(block, sentence);
    return answer(block, sentence);
  };
}

// The heads in the block's memory; the array keeps the block alive.
View heads(const Block& block, const std::int32_t* first, std::int64_t count) {
  return View(first, {static_cast<std::size_t>(count)}, nb::find(block));
}

}  // namespace

void bind_layout(nb::module_& module);

void bind_data(nb::module_& module) {
  bind_layout(module);
  nb::class_<Block>(module, "Block", "Sentences of a file: its bytes and an index.")
      .def("__init__", &read_block, "data"_a, "layout"_a, "first_line"_a = 1, "is_last"_a = true,
           "trees"_a = false, "skip_bad"_a = false, "first_sentence"_a = 0,
           "max_words"_a = nb::none(), "Indexes the sentences of a text.")
      .def("__len__", &Block::sentences)
      .def_prop_ro(
          "format", [](const Block& b) { return b.layout().name; }, "Its layout's name.")
      .def_prop_ro(
          "layout",
          [](const Block& b) { return std::const_pointer_cast<Layout>(b.shared_layout()); },
          "Which columns its lines have.")
      .def_prop_ro("first_sentence", &Block::first_sentence,
                   "How many sentences of the file come before it.")
      .def_prop_ro("total_words", &Block::total_words)
      .def_prop_ro("next_line", &Block::next_line)
      .def_prop_ro(
          "size", [](const Block& b) { return b.text().size(); }, "Bytes that were read.")
      .def_prop_ro(
          "faults", [](const Block& b) { return lines_of(b.faults()); },
          "Line and reason for each bad sentence.")
      .def_prop_ro(
          "remarks", [](const Block& b) { return lines_of(b.remarks()); },
          "The first line that is odd but was read, and why it is.")
      .def_prop_ro("n_words", &n_words, nb::rv_policy::automatic, "Words of each sentence.")
      .def_prop_ro(
          "heads", [](const Block& b) { return heads(b, b.heads(0), b.total_words()); },
          "Heads of all words, sentence after sentence; -1 where the file has none.")
      .def("words", of_sentence([](const Block& b, std::int64_t s) { return b.words(s); }),
           "sentence"_a)
      .def("line", of_sentence([](const Block& b, std::int64_t s) { return b.line(s); }),
           "sentence"_a, "Number of the line of the first token.")
      .def("text", of_sentence([](const Block& b, std::int64_t s) { return to_bytes(b.text(s)); }),
           "sentence"_a, "All bytes of a sentence.")
      .def(
          "texts",
          [](const Block& b, std::int64_t first, std::int64_t last) {
            if (first < 0 || last > b.sentences()) throw nb::index_error("no such sentence");
            return to_bytes(data::copy(b, first, last));
          },
          "first"_a, "last"_a, "All bytes of the sentences first, ..., last - 1.")
      .def("lines",
           of_sentence([](const Block& b, std::int64_t s) { return to_bytes(b.lines(s)); }),
           "sentence"_a, "Its bytes from the first comment to the last token.")
      .def("comments", &comments, "sentence"_a)
      .def("column", &column, "sentence"_a, "column"_a)
      .def("label_ids", &label_ids, "names"_a,
           "Place of each DEPREL in names; -1 if it is not there.")
      .def("same_columns", &same_columns, "first"_a, "second"_a,
           "Whether two columns hold the same, word by word.")
      .def("column_names", &column_names, "column"_a, "What a column holds, sorted, with counts.")
      .def("tree_shapes", &tree_shapes,
           "Non-projective arcs, crossing arcs and roots of each sentence.")
      .def("render", &render, "heads"_a = nb::none(), "label_ids"_a = nb::none(),
           "label_names"_a = std::vector<std::string>(), "misc"_a = nb::dict(),
           "comments"_a = nb::none(), "sentences"_a = nb::none(), "decimals"_a = 4,
           "forgotten"_a = std::vector<std::string>(), "texts"_a = nb::dict(),
           "The sentences (all, or those named) as text with new columns; render.hpp has the "
           "rules.");
  module.def("compose", &compose, "layout"_a, "n_words"_a, "texts"_a, "heads"_a = nb::none(),
             "comments"_a = nb::none(), "The text of new sentences; compose.hpp has the rules.");
  module.def("tree_shape", &tree_shape, "heads"_a,
             "Non-projective arcs, crossing arcs and roots of a tree.");
  module.def(
      "guess_format",
      [](nb::bytes beginning) {
        const auto [universal, certain] = data::guess_format(contents(beginning));
        return std::make_tuple(universal, certain);
      },
      "beginning"_a, "Whether it is CoNLL-U, not CoNLL-X, and whether anything tells which it is.");
  module.def(
      "missing_separator",
      [](nb::bytes text) { return to_bytes(data::missing_separator(contents(text))); }, "text"_a,
      "What must follow a text before another sentence can be written.");
}

}  // namespace arbora::bindings
