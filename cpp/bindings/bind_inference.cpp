// Arrays in, arrays out; no arithmetic here. All sentences' scores come as one flat array, and the
// answers go into arrays that the caller made.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arbora/base/buffers.hpp"
#include "arbora/inference/batch.hpp"
#include "arbora/inference/pruning.hpp"
#include "arrays.hpp"
#include "flags.hpp"
#include "interrupts.hpp"
#include "score_list.hpp"

namespace arbora::bindings {
namespace {

// The arguments every call begins with.
struct Call {
  Batch batch;
  std::size_t sentences, words = 0, columns = 0, cells = 0;  // cells with labels

  Call(const Floats& scores, const Ints& n_words, Index n_labels, bool projective, bool multi_root,
       int threads)
      : batch{scores.data(),
              {n_words.data(), n_words.size()},
              n_labels,
              trees_of(projective),
              root_of(multi_root),
              threads},
        sentences(n_words.size()) {
    for (const std::int64_t n : batch.n_words) {
      words += at(n);
      columns += at(n + 1);
      cells += at((n + 1) * (n + 1) * n_labels);
    }
    check_count(scores.size(), cells, "scores");
  }
};

Output<double> room(std::size_t count) {
  double* buffer = base::acquire_buffer(count);
  nb::capsule owner(buffer,
                    [](void* p) noexcept { base::release_buffer(static_cast<double*>(p)); });
  return Output<double>(buffer, {count}, owner);
}

// Per faulty sentence: its index, the kind of bad cell, head, modifier, label, problem, word.
using Faults = std::vector<std::tuple<Index, int, Index, Index, Index, int, Index>>;

Faults to_tuples(const std::vector<inference::Fault>& faults) {
  Faults found;
  for (const inference::Fault& f : faults) {
    found.emplace_back(f.sentence, static_cast<int>(f.cell), f.head, f.modifier, f.label,
                       static_cast<int>(f.verdict.problem), f.verdict.word);
  }
  return found;
}

Faults copy_and_check(Floats source, Ints n_words, Index n_labels, bool projective, bool multi_root,
                      int threads, FloatAnswer scores) {
  const Call call(source, n_words, n_labels, projective, multi_root, threads);
  check_count(scores.size(), call.cells, "scores");
  return run_polling(
      [&] { return to_tuples(inference::copy_and_check(call.batch, scores.data())); });
}

// The scores of a list in one flat array, words per sentence, labels (none without), and faults.
using PackedList = std::tuple<Output<double>, Output<std::int64_t>, std::optional<Index>, Faults>;

std::optional<PackedList> pack_list(nb::typed<nb::list, nb::object> arrays, nb::handle array_type,
                                    Index most_cells, bool projective, bool multi_root,
                                    int threads) {
  const ScoreList list(arrays, array_type);
  if (!list.is_plain() || list.cells() > most_cells) return std::nullopt;
  Output<double> scores = room(static_cast<std::size_t>(list.cells()));
  const Batch batch{scores.data(),        list.n_words(),      list.n_labels(),
                    trees_of(projective), root_of(multi_root), threads};
  Faults faults = run_polling(
      [&] { return to_tuples(inference::copy_and_check(batch, list.scores(), scores.data())); });
  std::optional<Index> n_labels;
  if (list.has_labels()) n_labels = list.n_labels();
  return PackedList{scores, to_array(std::vector(list.n_words())), n_labels, std::move(faults)};
}

void sums(Floats scores, Ints n_words, Index n_labels, bool projective, bool multi_root,
          int threads, FloatAnswer log_partition, FloatAnswer relative, FloatAnswer shift,
          FloatAnswer marginals) {
  const Call call(scores, n_words, n_labels, projective, multi_root, threads);
  check_count(log_partition.size(), call.sentences, "log_partition");
  check_count(relative.size(), call.sentences, "relative");
  check_count(shift.size(), call.columns, "shift");
  if (marginals.size() != 0) check_count(marginals.size(), call.cells, "marginals");
  run_polling([&] {
    inference::batch_sums(call.batch, log_partition.data(), relative.data(), shift.data(),
                          marginals.size() == 0 ? nullptr : marginals.data());
  });
}

void vjp(Floats scores, Ints n_words, Index n_labels, bool projective, bool multi_root, int threads,
         Floats marginals, Floats d_marginals, FloatAnswer d_scores) {
  const Call call(scores, n_words, n_labels, projective, multi_root, threads);
  check_count(marginals.size(), call.cells, "marginals");
  check_count(d_marginals.size(), call.cells, "d_marginals");
  check_count(d_scores.size(), call.cells, "d_scores");
  run_polling([&] {
    inference::batch_vjp(call.batch, marginals.data(), d_marginals.data(), d_scores.data());
  });
}

void argmax(Floats scores, Ints n_words, Index n_labels, bool projective, bool multi_root,
            int threads, IntAnswer heads, IntAnswer labels, FloatAnswer score) {
  const Call call(scores, n_words, n_labels, projective, multi_root, threads);
  check_count(heads.size(), call.words, "heads");
  check_count(labels.size(), call.words, "labels");
  check_count(score.size(), call.sentences, "score");
  run_polling(
      [&] { inference::batch_argmax(call.batch, heads.data(), labels.data(), score.data()); });
}

// Heads, labels and scores of all trees, sentence after sentence, and how many each sentence has.
std::tuple<Output<std::int32_t>, Output<std::int32_t>, Output<double>, Output<std::int64_t>> kbest(
    Floats scores, Ints n_words, Index n_labels, bool projective, bool multi_root, int threads,
    Index k) {
  const Call call(scores, n_words, n_labels, projective, multi_root, threads);
  std::vector<std::int32_t> heads, labels;
  std::vector<double> score;
  std::vector<std::int64_t> count;
  run_polling([&] {
    const auto lists = inference::batch_kbest(call.batch, k);
    std::size_t trees = 0, words = 0;
    for (const auto& list : lists) {
      count.push_back(static_cast<std::int64_t>(list.size()));
      trees += list.size();
      words += list.empty() ? 0 : list.size() * list.front().heads.size();
    }
    heads.reserve(words);
    labels.reserve(words);
    score.reserve(trees);
    for (const auto& list : lists) {
      for (const RankedTree& tree : list) {
        heads.insert(heads.end(), tree.heads.begin(), tree.heads.end());
        labels.insert(labels.end(), tree.labels.begin(), tree.labels.end());
        score.push_back(tree.score);
      }
    }
  });
  return {to_array(std::move(heads)), to_array(std::move(labels)), to_array(std::move(score)),
          to_array(std::move(count))};
}

void sample(Floats scores, Ints n_words, Index n_labels, bool projective, bool multi_root,
            int threads, Index count, std::uint64_t seed, Ints sentences, IntAnswer heads,
            IntAnswer labels) {
  const Call call(scores, n_words, n_labels, projective, multi_root, threads);
  const std::size_t size = call.words * static_cast<std::size_t>(count);
  check_count(sentences.size(), call.sentences, "sentences");
  check_count(heads.size(), size, "heads");
  if (n_labels > 1) check_count(labels.size(), size, "labels");
  run_polling([&] {
    inference::batch_sample(call.batch, seed, {sentences.data(), sentences.size()}, count,
                            heads.data(), n_labels > 1 ? labels.data() : nullptr);
  });
}

void margins(Floats scores, Ints n_words, Index n_labels, bool projective, bool multi_root,
             int threads, FloatAnswer answer) {
  check_count(at(n_labels), Index{1}, "n_labels");
  const Call call(scores, n_words, n_labels, projective, multi_root, threads);
  check_count(answer.size(), call.cells, "answer");
  run_polling([&] { inference::batch_margins(call.batch, answer.data()); });
}

void prune(Floats scores, Ints n_words, Index n_labels, bool projective, bool multi_root,
           int threads, Floats marginals, Input<std::int32_t> trees, double threshold, Index heads,
           InOut<std::uint8_t> kept) {
  check_count(at(n_labels), Index{1}, "n_labels");
  const Call call(scores, n_words, n_labels, projective, multi_root, threads);
  check_count(marginals.size(), call.cells, "marginals");
  check_count(trees.size(), call.words, "trees");
  check_count(kept.size(), call.cells, "kept");
  run_polling([&] {
    inference::batch_prune(call.batch, marginals.data(), trees.data(), {threshold, heads},
                           kept.data());
  });
}

}  // namespace

void bind_inference(nb::module_& module) {
  module.attr("LARGEST_SCORE") = kLargestScore;
  module.def("room", &room, "count"_a,
             "An uninitialised array for an answer, over memory that is used again.");
  module.def("copy_and_check", &copy_and_check, "source"_a, "n_words"_a, "n_labels"_a,
             "projective"_a, "multi_root"_a, "threads"_a, "scores"_a.noconvert(),
             "Copies scores, forbids column 0 and the diagonal, reports impossible sentences.");
  module.def("pack_list", &pack_list, "arrays"_a, "array_type"_a, "most_cells"_a, "projective"_a,
             "multi_root"_a, "threads"_a,
             "Packs and checks a list of contiguous float64 arrays; None if anything is unusual.");
  module.def("sums", &sums, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a, "multi_root"_a,
             "threads"_a, "log_partition"_a.noconvert(), "relative"_a.noconvert(),
             "shift"_a.noconvert(), "marginals"_a.noconvert(),
             "log Z, log Z relative to the column shifts, the shifts, and the marginals.");
  module.def("vjp", &vjp, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a, "multi_root"_a,
             "threads"_a, "marginals"_a, "d_marginals"_a, "d_scores"_a.noconvert(),
             "The Jacobian of the marginals times d_marginals.");
  module.def("argmax", &argmax, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a,
             "multi_root"_a, "threads"_a, "heads"_a.noconvert(), "labels"_a.noconvert(),
             "score"_a.noconvert(), "Heads, labels and scores of the best trees.");
  module.def("kbest", &kbest, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a, "multi_root"_a,
             "threads"_a, "k"_a, "Heads, labels, scores, and trees per sentence.");
  module.def("sample", &sample, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a,
             "multi_root"_a, "threads"_a, "count"_a, "seed"_a, "sentences"_a, "heads"_a.noconvert(),
             "labels"_a.noconvert(), "Heads and labels of exact draws.");
  module.def("margins", &margins, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a,
             "multi_root"_a, "threads"_a, "answer"_a.noconvert(),
             "Best tree with each arc minus best tree without it.");
  module.def("prune", &prune, "scores"_a, "n_words"_a, "n_labels"_a, "projective"_a, "multi_root"_a,
             "threads"_a, "marginals"_a, "trees"_a, "threshold"_a, "heads"_a, "kept"_a.noconvert(),
             "Which arcs are likely enough; those of the given trees are kept.");
}

}  // namespace arbora::bindings
