// Layouts of formats, which Python describes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arbora/data/layout.hpp"
#include "arrays.hpp"

namespace arbora::bindings {
namespace {

std::shared_ptr<Layout> make_layout(std::string name, std::string title,
                                    std::vector<std::string> columns, const data::Places& places,
                                    std::string further, const data::Places& substitutes,
                                    bool universal) {
  auto made = std::make_shared<Layout>();
  made->name = std::move(name);
  made->title = std::move(title);
  made->columns = std::move(columns);
  made->further = std::move(further);
  made->places = places;
  made->substitutes = substitutes;
  made->universal = universal;
  data::check_layout(*made);
  return made;
}

}  // namespace

void bind_layout(nb::module_& module) {
  nb::class_<Layout>(module, "Layout", "Which columns the lines of a format have; see layout.hpp.")
      .def(nb::new_(&make_layout), "name"_a, "title"_a, "columns"_a, "places"_a = data::kInOrder,
           "further"_a = "", "substitutes"_a = data::kNowhere, "universal"_a = false)
      .def_ro("name", &Layout::name)
      .def_ro("title", &Layout::title)
      .def_ro("columns", &Layout::columns, "The names of the columns that every line has.")
      .def_ro("places", &Layout::places, "Which of them is ID, FORM, ...; -1 for none.")
      .def_ro("further", &Layout::further, "The name of columns that may follow, or nothing.")
      .def_ro("substitutes", &Layout::substitutes, "Where a column is that is _ throughout.")
      .def_ro("universal", &Layout::universal, "Whether MISC has items, as in CoNLL-U.")
      .def_prop_ro("in_order", &Layout::in_order, "Whether it has the ten columns of CoNLL-U.");
}

}  // namespace arbora::bindings
