#include "score_list.hpp"

#include <string_view>

namespace arbora::bindings {

ScoreList::ScoreList(const nanobind::list& arrays, nanobind::handle array_type) {
  const std::size_t count = nanobind::len(arrays);
  buffers_.reserve(count);
  n_words_.reserve(count);
  scores_.reserve(count);
  for (const nanobind::handle array : arrays) {
    is_plain_ = array.type().is(array_type) && add(array.ptr());
    if (!is_plain_) return;
  }
}

ScoreList::~ScoreList() {
  for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
}

bool ScoreList::add(PyObject* array) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(array, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();  // not contiguous, or of a type without a buffer
    return false;
  }
  buffers_.push_back(buffer);  // there is room; from here on it is released
  if (std::string_view(buffer.format) != "d") return false;
  if (buffer.ndim != 2 && buffer.ndim != 3) return false;
  const Index side = buffer.shape[0];
  const Index n_labels = buffer.ndim == 3 ? buffer.shape[2] : 1;
  if (side < 2 || buffer.shape[1] != side || n_labels < 1) return false;
  if (scores_.empty()) {
    n_dimensions_ = buffer.ndim;
    n_labels_ = n_labels;
  }
  if (buffer.ndim != n_dimensions_ || n_labels != n_labels_) return false;
  n_words_.push_back(side - 1);
  scores_.push_back(static_cast<const double*>(buffer.buf));
  cells_ += side * side * n_labels;
  return true;
}

}  // namespace arbora::bindings
