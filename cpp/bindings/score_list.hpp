// A list of NumPy arrays with the scores of one sentence each, read without copying.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/base/types.hpp"

namespace arbora::bindings {

// Takes the list as it is only if every entry is an array of the given type (no subclass) with
// C-contiguous float64 scores of shape (n+1, n+1), or (n+1, n+1, L) with one L for all, n and L at
// least 1. Whatever else there is, is_plain() is false, and Python has to convert or refuse it.
class ScoreList {
 public:
  ScoreList(const nanobind::list& arrays, nanobind::handle array_type);
  ~ScoreList();
  ScoreList(const ScoreList&) = delete;
  ScoreList& operator=(const ScoreList&) = delete;

  bool is_plain() const { return is_plain_; }
  bool has_labels() const { return n_dimensions_ == 3; }
  Index n_labels() const { return n_labels_; }  // 1 without labels
  Index cells() const { return cells_; }        // with labels, of all sentences
  const std::vector<std::int64_t>& n_words() const { return n_words_; }
  std::span<const double* const> scores() const { return scores_; }

 private:
  bool add(PyObject* array);

  std::vector<Py_buffer> buffers_;
  std::vector<std::int64_t> n_words_;
  std::vector<const double*> scores_;
  int n_dimensions_ = 0;
  Index n_labels_ = 1, cells_ = 0;
  bool is_plain_ = true;
};

}  // namespace arbora::bindings
