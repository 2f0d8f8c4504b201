#include "arbora/inference/loopy.hpp"

#include <algorithm>

#include "arbora/base/parallel.hpp"
#include "arbora/inference/loopy_run.hpp"

namespace arbora::inference {
namespace {

void clear_arcs(const PartIndex& parts, double* arcs) {
  std::fill(arcs, arcs + (parts.n_words() + 1) * (parts.n_words() + 1), 0.0);
}

void clear(const PartIndex& parts, const PartValues<double>& values) {
  const auto fill = [](double* first, Index count) {
    if (first != nullptr) std::fill(first, first + count, 0.0);
  };
  clear_arcs(parts, values.arcs);
  for_each_kind([&](PartKind kind) { fill(values[kind], parts.count(kind)); });
}

// In floating-point operations, roughly.
double cost_of(const PartIndex& parts, Index iterations) {
  const auto n = static_cast<double>(parts.n_words());
  Index numbers = parts.n_arcs();
  for_each_kind([&](PartKind kind) { numbers += parts.count(kind); });
  return static_cast<double>(iterations + 1) *
         (3.0 * n * n * n + 60.0 * static_cast<double>(numbers));
}

// Memory is kept for the next sentence, unless a long one made it large.
struct Trimmed {
  static constexpr std::size_t kKept = std::size_t{1} << 24;

  LoopyRun& sentence;

  ~Trimmed() {
    if (sentence.bytes() > kKept) sentence = LoopyRun{};
  }
};

// Runs job(sentence's number) for every sentence, the dearest first.
template <class Job>
void for_each_sentence(const LoopyBatch& batch, const Job& job) {
  std::vector<double> costs;
  for (Index i = 0; i < batch.parts.size(); ++i) {
    costs.push_back(cost_of(batch.parts[i], batch.settings.iterations));
  }
  for_each_by_cost(costs, batch.threads, [&](Index i, Workspace&) { job(i); });
}

// Runs job(sentence's number, sentence) for every sentence that has a tree; the first that has
// none, or -1. Sentences stay on the tape, if there is one.
template <class Job>
Index run(const LoopyBatch& batch, LoopyTape* tape, const Job& job) {
  const PartBatch& parts = batch.parts;
  std::vector<std::uint8_t> impossible(at(parts.size()), 0);
  if (tape != nullptr) *tape = LoopyTape(at(parts.size()));
  for_each_sentence(batch, [&](Index i) {
    static thread_local LoopyRun passing;
    const Trimmed trimmed{passing};
    LoopyRun& sentence = tape == nullptr ? passing : (*tape)[at(i)];
    if (sentence.set(parts[i], batch.scores.of(parts.place(i)), batch.settings)) {
      job(i, sentence);
    } else {
      impossible[at(i)] = 1;
    }
  });
  const auto found = std::find(impossible.begin(), impossible.end(), std::uint8_t{1});
  return found == impossible.end() ? -1 : found - impossible.begin();
}

}  // namespace

Index loopy_sums(const LoopyBatch& batch, double* log_partition, double* residuals,
                 const PartValues<double>& beliefs) {
  return run(batch, nullptr, [&](Index i, LoopyRun& sentence) {
    const PartValues<double> answer = beliefs.of(batch.parts.place(i));
    clear(batch.parts[i], answer);
    sentence.forward(false, residuals + i * batch.settings.iterations, batch.interruption);
    log_partition[i] = sentence.beliefs(answer);
  });
}

Index loopy_arcs(const LoopyBatch& batch, LoopyTape* tape, double* beliefs) {
  return run(batch, tape, [&](Index i, LoopyRun& sentence) {
    double* answer = beliefs + batch.parts.place(i).cells;
    clear_arcs(batch.parts[i], answer);
    sentence.forward(tape != nullptr, nullptr, batch.interruption);
    sentence.arc_beliefs(answer);
  });
}

Index loopy_vjp(const LoopyBatch& batch, LoopyTape* tape, const PartScores& d_beliefs,
                const PartValues<double>& d_scores) {
  const auto back = [&](Index i, LoopyRun& sentence) {
    const PartBatch::Place& place = batch.parts.place(i);
    clear(batch.parts[i], d_scores.of(place));
    sentence.backward(d_beliefs.of(place), d_scores.of(place), batch.interruption);
  };
  if (tape != nullptr) {
    for_each_sentence(batch, [&](Index i) { back(i, (*tape)[at(i)]); });
    return -1;
  }
  return run(batch, nullptr, [&](Index i, LoopyRun& sentence) {
    sentence.forward(true, nullptr, batch.interruption);
    back(i, sentence);
  });
}

}  // namespace arbora::inference
