// Projective trees of second order: arrays in, arrays out. No arithmetic here.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arbora/inference/second_order_batch.hpp"
#include "arbora/tree/part_kinds.hpp"
#include "arrays.hpp"
#include "interrupts.hpp"
#include "part_arrays.hpp"

namespace arbora::bindings {
namespace {

SecondOrderBatch batch_of(const PartBatch& parts, const PartInput& scores, bool multi_root,
                          int threads) {
  for_each_kind([&](PartKind kind) {
    if (parts.kinds().has(kind) && !layout_of(kind).summable) {
      throw std::invalid_argument("the chart cannot sum over a kind of parts");
    }
  });
  return {parts, part_scores(parts, scores), root_of(multi_root), threads};
}

Index sums(const PartBatch& parts, const PartInput& scores, bool multi_root, int threads,
           FloatAnswer log_partition) {
  const auto batch = batch_of(parts, scores, multi_root, threads);
  check_count(log_partition.size(), parts.size(), "log_partition");
  return run_polling([&] { return second_order_sums(batch, log_partition.data(), {}); });
}

Index marginals(const PartBatch& parts, const PartInput& scores, bool multi_root, int threads,
                FloatAnswer log_partition, const PartAnswer& answer) {
  const auto batch = batch_of(parts, scores, multi_root, threads);
  check_count(log_partition.size(), parts.size(), "log_partition");
  const auto values = part_values(parts, answer);
  return run_polling([&] { return second_order_sums(batch, log_partition.data(), values); });
}

Index entropy(const PartBatch& parts, const PartInput& scores, bool multi_root, int threads,
              FloatAnswer answer) {
  const auto batch = batch_of(parts, scores, multi_root, threads);
  check_count(answer.size(), parts.size(), "entropy");
  return run_polling([&] { return second_order_entropy(batch, answer.data()); });
}

Index vjp(const PartBatch& parts, const PartInput& scores, bool multi_root, int threads,
          const PartInput& d_marginals, const PartAnswer& d_scores) {
  const auto batch = batch_of(parts, scores, multi_root, threads);
  const auto direction = part_scores(parts, d_marginals);
  const auto values = part_values(parts, d_scores);
  return run_polling([&] { return second_order_vjp(batch, direction, values); });
}

Index argmax(const PartBatch& parts, const PartInput& scores, bool multi_root, int threads,
             InOut<std::int32_t> heads, FloatAnswer score) {
  const auto batch = batch_of(parts, scores, multi_root, threads);
  check_count(heads.size(), parts.place(parts.size()).words, "heads");
  check_count(score.size(), parts.size(), "score");
  return run_polling([&] { return second_order_argmax(batch, heads.data(), score.data()); });
}

// The first sentence without a tree; heads and scores of all trees; how many each sentence has.
std::tuple<Index, Output<std::int32_t>, Output<double>, Output<std::int64_t>> kbest(
    const PartBatch& parts, const PartInput& scores, bool multi_root, int threads, Index k) {
  const auto batch = batch_of(parts, scores, multi_root, threads);
  std::vector<std::int32_t> heads;
  std::vector<double> score;
  std::vector<std::int64_t> count;
  Index impossible = -1;
  run_polling([&] {
    std::vector<std::vector<RankedTree>> lists;
    impossible = second_order_kbest(batch, k, lists);
    for (const auto& list : lists) {
      count.push_back(static_cast<std::int64_t>(list.size()));
      for (const RankedTree& tree : list) {
        heads.insert(heads.end(), tree.heads.begin(), tree.heads.end());
        score.push_back(tree.score);
      }
    }
  });
  return {impossible, to_array(std::move(heads)), to_array(std::move(score)),
          to_array(std::move(count))};
}

Index sample(const PartBatch& parts, const PartInput& scores, bool multi_root, int threads,
             Index count, std::uint64_t seed, Input<std::int64_t> sentences,
             InOut<std::int32_t> heads) {
  const auto batch = batch_of(parts, scores, multi_root, threads);
  check_count(sentences.size(), parts.size(), "sentences");
  check_count(heads.size(), count * parts.place(parts.size()).words, "heads");
  return run_polling([&] {
    return second_order_sample(batch, seed, {sentences.data(), sentences.size()}, count,
                               heads.data());
  });
}

Index margins(const PartBatch& parts, const PartInput& scores, bool multi_root, int threads,
              FloatAnswer answer) {
  const auto batch = batch_of(parts, scores, multi_root, threads);
  check_count(answer.size(), parts.place(parts.size()).cells, "margins");
  return run_polling([&] { return second_order_margins(batch, answer.data()); });
}

// Scores of trees of one sentence, n heads each; -inf where an arc is not kept.
void tree_scores(const PartBatch& parts, const PartInput& scores, Index sentence,
                 Input<std::int32_t> heads, FloatAnswer answer) {
  if (sentence < 0 || sentence >= parts.size()) throw nb::index_error("no such sentence");
  const Index n = parts[sentence].n_words();
  check_count(heads.size(), n * static_cast<Index>(answer.size()), "heads");
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads.data()[i] < 0 || heads.data()[i] > n) throw nb::index_error("no such head");
  }
  const auto values = part_scores(parts, scores).of(parts.place(sentence));
  run_polling([&] {
    Polling polling;
    for (Index i = 0; i < static_cast<Index>(answer.size()); ++i) {
      answer.data()[i] = score_of_tree(parts[sentence], values, heads.data() + i * n);
      polling.after(20 * n * n);
    }
  });
}

}  // namespace

// Calls return the first sentence without a tree, or -1.
void bind_second_order(nb::module_& module) {
  module.def("second_order_largest", &second_order_largest, "parts"_a,
             "The edges of the largest hypergraph, roughly.");
  module.def("second_order_sums", &sums, "parts"_a, "scores"_a, "multi_root"_a, "threads"_a,
             "log_partition"_a.noconvert(), "log Z of every sentence.");
  module.def("second_order_marginals", &marginals, "parts"_a, "scores"_a, "multi_root"_a,
             "threads"_a, "log_partition"_a.noconvert(), "answer"_a.noconvert(),
             "log Z, and the marginals of arcs and parts.");
  module.def("second_order_entropy", &entropy, "parts"_a, "scores"_a, "multi_root"_a, "threads"_a,
             "answer"_a.noconvert(), "Entropies of all sentences.");
  module.def("second_order_vjp", &vjp, "parts"_a, "scores"_a, "multi_root"_a, "threads"_a,
             "d_marginals"_a, "d_scores"_a.noconvert(),
             "The Jacobian of all marginals times d_marginals.");
  module.def("second_order_argmax", &argmax, "parts"_a, "scores"_a, "multi_root"_a, "threads"_a,
             "heads"_a.noconvert(), "score"_a.noconvert(), "Heads and scores of the best trees.");
  module.def("second_order_kbest", &kbest, "parts"_a, "scores"_a, "multi_root"_a, "threads"_a,
             "k"_a, "Heads, scores, and trees per sentence.");
  module.def("second_order_sample", &sample, "parts"_a, "scores"_a, "multi_root"_a, "threads"_a,
             "count"_a, "seed"_a, "sentences"_a, "heads"_a.noconvert(), "Heads of exact draws.");
  module.def("second_order_margins", &margins, "parts"_a, "scores"_a, "multi_root"_a, "threads"_a,
             "answer"_a.noconvert(), "Best tree with each arc minus best tree without it.");
  module.def("second_order_tree_scores", &tree_scores, "parts"_a, "scores"_a, "sentence"_a,
             "heads"_a, "answer"_a.noconvert(), "Scores of trees of one sentence.");
}

}  // namespace arbora::bindings
