// Arrays in, arrays out; no arithmetic here. All sentences' scores come as one flat array.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <tuple>

#include "arbora/inference/batch.hpp"
#include "arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using arbora::Index;
using arbora::border::Fresh;
using arbora::border::InOut;
using arbora::border::Input;
using arbora::border::Output;

using Floats = Input<double>;
using Counts = Input<std::int64_t>;

// The arguments every call begins with.
struct Call {
  arbora::Batch batch;
  std::size_t sentences, words, columns, cells;

  Call(const double* scores, std::size_t size, const Counts& n_words, Index n_labels,
       bool projective, bool multi_root, int threads)
      : batch{scores,
              {n_words.data(), n_words.size()},
              n_labels,
              projective ? arbora::Trees::projective : arbora::Trees::nonprojective,
              multi_root ? arbora::Root::multi : arbora::Root::single,
              threads},
        sentences(n_words.size()),
        words(0),
        columns(0),
        cells(0) {
    for (const std::int64_t n : batch.n_words) {
      words += static_cast<std::size_t>(n);
      columns += static_cast<std::size_t>(n + 1);
      cells += static_cast<std::size_t>((n + 1) * (n + 1));
    }
    if (cells * static_cast<std::size_t>(n_labels) != size) {
      throw std::invalid_argument("scores and n_words disagree");
    }
  }
};

std::vector<std::tuple<int, Index, Index, Index, int, Index>> clean_and_check(
    InOut<double> scores, Counts n_words, Index n_labels, bool projective, bool multi_root,
    int threads) {
  const Call call(scores.data(), scores.size(), n_words, n_labels, projective, multi_root, threads);
  std::vector<std::tuple<int, Index, Index, Index, int, Index>> found;
  {
    nb::gil_scoped_release release;
    const auto checks = arbora::clean_and_check(call.batch, scores.data());
    for (std::size_t i = 0; i < checks.size(); ++i) {
      const arbora::Check& c = checks[i];
      found.emplace_back(static_cast<int>(c.cell), c.head, c.modifier, c.label,
                         static_cast<int>(c.verdict.problem), c.verdict.word);
    }
  }
  return found;
}

std::tuple<Output<double>, Output<double>, Output<double>, Output<double>> sums(
    Floats scores, Counts n_words, Index n_labels, bool projective, bool multi_root, int threads,
    bool marginals) {
  const Call call(scores.data(), scores.size(), n_words, n_labels, projective, multi_root, threads);
  Fresh<double> log_partition(call.sentences), relative(call.sentences), shift(call.columns);
  Fresh<double> answer(marginals ? scores.size() : 0);
  {
    nb::gil_scoped_release release;
    arbora::batch_sums(call.batch, log_partition.data, relative.data, shift.data,
                       marginals ? answer.data : nullptr);
  }
  return {log_partition.release(), relative.release(), shift.release(), answer.release()};
}

Output<double> vjp(Floats scores, Counts n_words, Index n_labels, bool projective, bool multi_root,
                   int threads, Floats marginals, Floats d_marginals) {
  const Call call(scores.data(), scores.size(), n_words, n_labels, projective, multi_root, threads);
  if (marginals.size() != scores.size() || d_marginals.size() != scores.size()) {
    throw std::invalid_argument("scores and gradients disagree");
  }
  Fresh<double> answer(scores.size());
  {
    nb::gil_scoped_release release;
    arbora::batch_vjp(call.batch, marginals.data(), d_marginals.data(), answer.data);
  }
  return answer.release();
}

std::tuple<Output<std::int32_t>, Output<std::int32_t>, Output<double>> argmax(
    Floats scores, Counts n_words, Index n_labels, bool projective, bool multi_root, int threads) {
  const Call call(scores.data(), scores.size(), n_words, n_labels, projective, multi_root, threads);
  Fresh<std::int32_t> heads(call.words), labels(call.words);
  Fresh<double> score(call.sentences);
  {
    nb::gil_scoped_release release;
    arbora::batch_argmax(call.batch, heads.data, labels.data, score.data);
  }
  return {heads.release(), labels.release(), score.release()};
}

// Heads, labels and scores of all trees, sentence after sentence, and how many each sentence has.
std::tuple<Output<std::int32_t>, Output<std::int32_t>, Output<double>, Output<std::int64_t>> kbest(
    Floats scores, Counts n_words, Index n_labels, bool projective, bool multi_root, int threads,
    Index k) {
  const Call call(scores.data(), scores.size(), n_words, n_labels, projective, multi_root, threads);
  std::vector<std::vector<arbora::RankedTree>> lists;
  {
    nb::gil_scoped_release release;
    lists = arbora::batch_kbest(call.batch, k);
  }
  std::size_t words = 0, trees = 0;
  for (const auto& list : lists) {
    trees += list.size();
    for (const auto& tree : list) words += tree.heads.size();
  }
  Fresh<std::int32_t> heads(words), labels(words);
  Fresh<double> score(trees);
  Fresh<std::int64_t> count(call.sentences);
  std::int32_t* head = heads.data;
  std::int32_t* label = labels.data;
  double* value = score.data;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    count.data[i] = static_cast<std::int64_t>(lists[i].size());
    for (const arbora::RankedTree& tree : lists[i]) {
      head = std::copy(tree.heads.begin(), tree.heads.end(), head);
      label = std::copy(tree.labels.begin(), tree.labels.end(), label);
      *value++ = tree.score;
    }
  }
  return {heads.release(), labels.release(), score.release(), count.release()};
}

std::tuple<Output<std::int32_t>, Output<std::int32_t>> sample(
    Floats scores, Counts n_words, Index n_labels, bool projective, bool multi_root, int threads,
    Index count, std::uint64_t seed, Counts sentences) {
  const Call call(scores.data(), scores.size(), n_words, n_labels, projective, multi_root, threads);
  const std::size_t size = call.words * static_cast<std::size_t>(count);
  Fresh<std::int32_t> heads(size), labels(n_labels > 1 ? size : 0);
  {
    nb::gil_scoped_release release;
    arbora::batch_sample(call.batch, seed, {sentences.data(), sentences.size()}, count, heads.data,
                         n_labels > 1 ? labels.data : nullptr);
  }
  return {heads.release(), labels.release()};
}

Output<double> margins(Floats scores, Counts n_words, bool projective, bool multi_root,
                       int threads) {
  const Call call(scores.data(), scores.size(), n_words, 1, projective, multi_root, threads);
  Fresh<double> answer(scores.size());
  {
    nb::gil_scoped_release release;
    arbora::batch_margins(call.batch, answer.data);
  }
  return answer.release();
}

}  // namespace

void bind_inference(nb::module_& module) {
  module.attr("LARGEST_SCORE") = arbora::kLargestScore;
  module.def("clean_and_check", &clean_and_check, "scores"_a.noconvert(), "n_words"_a,
             "n_labels"_a, "projective"_a, "multi_root"_a, "threads"_a,
             "Forbids column 0 and the diagonal in place; reports what is wrong, per sentence.");
  module.def("sums", &sums, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a, "multi_root"_a,
             "threads"_a, "marginals"_a,
             "log Z, log Z relative to the column shifts, the shifts, and the marginals.");
  module.def("vjp", &vjp, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a, "multi_root"_a,
             "threads"_a, "marginals"_a, "d_marginals"_a,
             "The Jacobian of the marginals times d_marginals.");
  module.def("argmax", &argmax, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a,
             "multi_root"_a, "threads"_a, "Heads, labels and scores of the best trees.");
  module.def("kbest", &kbest, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a,
             "multi_root"_a, "threads"_a, "k"_a, "Heads, labels, scores, and trees per sentence.");
  module.def("sample", &sample, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a,
             "multi_root"_a, "threads"_a, "count"_a, "seed"_a, "sentences"_a,
             "Heads and labels of exact draws.");
  module.def("margins", &margins, "scores"_a, "n_words"_a, "projective"_a, "multi_root"_a,
             "threads"_a, "Best tree with each arc minus best tree without it.");
}
