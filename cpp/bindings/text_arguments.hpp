// Lists and dictionaries of texts as the core takes them; the caller keeps them alive for the call.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "arbora/data/layout.hpp"
#include "arbora/data/render.hpp"
#include "arrays.hpp"

namespace arbora::bindings {

using Strings = nb::typed<nb::list, nb::str>;

inline data::Column to_column(int column) {
  if (column < 0 || column >= data::kColumns) throw nb::index_error("no such column");
  return static_cast<data::Column>(column);
}

// Texts of a list, which keeps them alive.
inline std::vector<std::string_view> views_of(const nb::list& list, std::size_t size) {
  if (list.size() != size) throw std::invalid_argument("a column has the wrong size");
  std::vector<std::string_view> views;
  views.reserve(size);
  for (nb::handle value : list) {
    Py_ssize_t length = 0;
    const char* text =
        PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), &length) : nullptr;
    if (text == nullptr) {
      PyErr_Clear();
      throw std::invalid_argument("a column holds something that is no text");
    }
    views.emplace_back(text, static_cast<std::size_t>(length));
  }
  return views;
}

// Columns by their number, as texts of all words.
using TextColumns = nb::typed<nb::dict, int, Strings>;

struct TextArguments {
  std::vector<std::vector<std::string_view>> texts;
  std::vector<data::Column> columns;

  TextArguments(const nb::dict& given, std::int64_t words) {
    for (const auto& [column, values] : given) {
      columns.push_back(to_column(nb::cast<int>(column)));
      texts.push_back(views_of(nb::cast<nb::list>(values), static_cast<std::size_t>(words)));
    }
  }

  template <class Entry>
  std::vector<Entry> entries() const {
    std::vector<Entry> made;
    for (std::size_t i = 0; i < texts.size(); ++i) made.push_back({columns[i], texts[i].data()});
    return made;
  }
};

// What the caller gave for MISC, kept alive for the call: a key with numbers or with texts.
struct MiscArguments {
  std::vector<std::string> keys;
  std::vector<Input<double>> numbers;
  std::vector<std::vector<std::string_view>> texts;
  std::vector<data::MiscItems> items;

  MiscArguments(const nb::dict& misc, std::size_t words, int decimals) {
    keys.reserve(misc.size());
    texts.reserve(misc.size());
    for (const auto& [key, values] : misc) {
      keys.push_back(nb::cast<std::string>(key));
      data::MiscItems one;
      one.key = keys.back();
      one.decimals = decimals;
      std::size_t size = 0;
      if (nb::isinstance<nb::list>(values)) {
        texts.emplace_back();
        for (nb::handle value : nb::borrow<nb::list>(values)) {
          texts.back().push_back(nb::cast<std::string_view>(value));
        }
        one.texts = texts.back().data();
        size = texts.back().size();
      } else {
        numbers.push_back(nb::cast<Input<double>>(values));
        one.numbers = numbers.back().data();
        size = numbers.back().size();
      }
      if (size != words)
        throw std::invalid_argument("MISC '" + keys.back() + "' has the wrong size");
      items.push_back(one);
    }
  }
};

}  // namespace arbora::bindings
