// Sums over all spanning trees: preparation, the choice of number type, and the answers.
#include <cmath>
#include <utility>
#include <vector>

#include "arbora/inference/elimination.hpp"
#include "arbora/inference/shift.hpp"
#include "arbora/inference/sums.hpp"
#include "arbora/inference/unfolding.hpp"

namespace arbora::inference {
namespace {

// Elimination ends at word 1, so under Root::single the word in that place must be able to be the
// root of all others: the words `first` and 1 trade places. Which of the possible roots it is does
// not matter for the sum; the likeliest keeps the s_k large.
struct Order {
  Index first = 1;
  Index at(Index place) const { return place == 1 ? first : place == first ? 1 : place; }
};

struct Prepared {
  ArcScores scores;
  Root root;
  Shift shift;
  Order order;

  Prepared(ArcScores arc_scores, Root root_mode, double* column_shift)
      : scores(arc_scores),
        root(root_mode),
        shift(make_shift(arc_scores, root_mode, 0.0, column_shift)),
        order{root_mode == Root::single ? shift.likeliest_root : 1} {}
};

// Weights for the four number types of the elimination.
void fill(const Prepared& prepared, Matrix<double> w) {
  plain_weights(prepared.scores, prepared.shift, w);
  if (prepared.order.first == 1) return;
  const Index n = prepared.scores.n_words, v = prepared.order.first;
  for (Index m = 0; m <= n; ++m) {
    const double kept = w.get(1, m);
    w.set(1, m, w.get(v, m));
    w.set(v, m, kept);
  }
  for (Index h = 0; h <= n; ++h) {
    const double kept = w.get(h, 1);
    w.set(h, 1, w.get(h, v));
    w.set(h, v, kept);
  }
}

void fill(const Prepared& prepared, Matrix<Wide> w) {
  const Index n = prepared.scores.n_words;
  Polling polling;
  for (Index h = 0; h <= n; ++h) {
    polling.after(40 * n);
    for (Index m = 1; m <= n; ++m) {
      w.set(
          h, m,
          wide_weight(prepared.scores, prepared.shift, prepared.order.at(h), prepared.order.at(m)));
    }
  }
}

// Values as above, tangents w' = g w.
template <class B>
void fill_dual(const Prepared& prepared, const double* g, Matrix<B> plain, Matrix<Dual<B>> w) {
  fill(prepared, plain);
  const Index n = prepared.scores.n_words;
  for (Index h = 0; h <= n; ++h) {
    const double* g_row = g + prepared.order.at(h) * prepared.scores.side();
    for (Index m = 1; m <= n; ++m) {
      const B weight = plain.get(h, m);
      w.set(h, m, {weight, B(g_row[prepared.order.at(m)]) * weight});
    }
  }
}

ARBORA_MULTIVERSION void run(Elimination<double>& tape) { eliminate(tape); }
ARBORA_MULTIVERSION void run(Elimination<Dual<double>>& tape) { eliminate(tape); }
void run(Elimination<Wide>& tape) { eliminate(tape); }
void run(Elimination<Dual<Wide>>& tape) { eliminate(tape); }

ARBORA_MULTIVERSION void run_reverse(const Elimination<double>& tape, Matrix<double> g,
                                     Row<double> d) {
  reverse_sweep(tape, g, d);
}
ARBORA_MULTIVERSION void run_reverse(const Elimination<Dual<double>>& tape, Matrix<Dual<double>> g,
                                     Row<Dual<double>> d) {
  reverse_sweep(tape, g, d);
}
void run_reverse(const Elimination<Wide>& tape, Matrix<Wide> g, Row<Wide> d) {
  reverse_sweep(tape, g, d);
}
void run_reverse(const Elimination<Dual<Wide>>& tape, Matrix<Dual<Wide>> g, Row<Dual<Wide>> d) {
  reverse_sweep(tape, g, d);
}

// answer(h, m) = w(h, m) G(h, m) in the caller's order; dual numbers report the derivative.
template <class T>
void report(const Prepared& prepared, Matrix<T> weights, Matrix<T> g, double* answer) {
  const Index n = prepared.scores.n_words, side = n + 1;
  for (Index h = 0; h <= n; ++h) {
    double* row = answer + prepared.order.at(h) * side;
    row[0] = 0.0;
    for (Index m = 1; m <= n; ++m) {
      row[prepared.order.at(m)] =
          h == m ? 0.0 : Number<T>::to_double(weights.get(h, m) * g.get(h, m));
    }
  }
}

ARBORA_MULTIVERSION void report_plain(Index n, Matrix<double> weights, Matrix<double> g,
                                      Index first, double* answer) {
  const Order order{first};
  for (Index h = 0; h <= n; ++h) {
    double* row = answer + order.at(h) * (n + 1);
    const Row<double> w = weights.row(h), slope = g.row(h);
    for (Index m = 0; m <= n; ++m) row[m] = w.get(m) * slope.get(m);
    std::swap(row[1], row[first]);
    row[order.at(h)] = 0.0;
    row[0] = 0.0;
  }
}
void report(const Prepared& prepared, Matrix<double> weights, Matrix<double> g, double* answer) {
  report_plain(prepared.scores.n_words, weights, g, prepared.order.first, answer);
}

template <class T>
Matrix<T> copy_of(Matrix<T> x, Index side, Workspace& workspace) {
  const auto copy = Matrix<T>::carve(workspace, side, side);
  copy.copy_from(x, side);
  return copy;
}

// Marginals err by little more than rounding errors of 1.
constexpr double kDoubtful = 1e-9;

template <class T>
bool sums_on(const Prepared& prepared, Workspace& workspace, double* marginals, Sums* sums) {
  const Index n = prepared.scores.n_words, side = n + 1;
  auto tape = Elimination<T>::carve(workspace, n, prepared.root);
  fill(prepared, tape.w);
  Matrix<T> weights;
  if (marginals != nullptr) weights = copy_of(tape.w, side, workspace);
  run(tape);
  ExactSum log_z = log_of_sum(tape);
  if (std::isnan(log_z.value())) return false;
  log_z.add(prepared.shift.root);
  sums->relative = log_z.value();
  sums->log_partition = absolute_log(prepared.scores, prepared.shift, log_z);
  sums->doubtful = kDoubtful;
  if (marginals == nullptr) return true;
  const auto g = Matrix<T>::carve(workspace, side, side, Number<T>::zero());
  run_reverse(tape, g, Row<T>::carve(workspace, side + Row<T>::width));
  report(prepared, weights, g, marginals);
  return true;
}

// The s_k alone, without their tangents.
template <class B>
Elimination<B> values_of(const Elimination<Dual<B>>& tape) {
  Elimination<B> values;
  values.n_words = tape.n_words;
  values.s = tape.s.value();
  return values;
}

template <class B>
bool vjp_on(const Prepared& prepared, const double* centred, double* d_scores,
            Workspace& workspace) {
  using T = Dual<B>;
  const Index n = prepared.scores.n_words, side = n + 1;
  auto tape = Elimination<T>::carve(workspace, n, prepared.root);
  fill_dual(prepared, centred, Matrix<B>::carve(workspace, side, side, Number<B>::zero()), tape.w);
  const auto weights = copy_of(tape.w, side, workspace);
  run(tape);
  if (std::isnan(log_of_sum(values_of(tape)).value())) return false;
  const auto g = Matrix<T>::carve(workspace, side, side, Number<T>::zero());
  run_reverse(tape, g, Row<T>::carve(workspace, side + Row<T>::width));
  report(prepared, weights, g, d_scores);
  return true;
}

template <class T>
bool sample_on(const Prepared& prepared, DrawKey key, Index count, std::int32_t* heads,
               Workspace& workspace) {
  const Index n = prepared.scores.n_words;
  auto tape = Elimination<T>::carve(workspace, n, prepared.root);
  fill(prepared, tape.w);
  const auto weights = copy_of(tape.w, n + 1, workspace);
  run(tape);
  if (std::isnan(log_of_sum(tape).value())) return false;
  Unfolding<T> unfolding(tape, weights, workspace);
  for (Index draw = 0; draw < count; ++draw) {
    RandomStream random(key.seed, key.sentence, static_cast<std::uint64_t>(draw));
    const std::vector<Index>& drawn = unfolding.draw(random);
    std::int32_t* row = heads + draw * n;
    for (Index place = 1; place <= n; ++place) {
      const Index head = prepared.order.at(drawn[static_cast<std::size_t>(place)]);
      row[prepared.order.at(place) - 1] = static_cast<std::int32_t>(head);
    }
  }
  return true;
}

}  // namespace

Sums spanning_sums(ArcScores scores, Root root, double* column_shift, double* marginals,
                   Workspace& workspace) {
  const Prepared prepared(scores, root, column_shift);
  Sums sums{};
  if (!sums_on<double>(prepared, workspace, marginals, &sums)) {
    sums_on<Wide>(prepared, workspace, marginals, &sums);
  }
  return sums;
}

void spanning_vjp(ArcScores scores, Root root, const double* marginals, const double* d_marginals,
                  double* d_scores, Workspace& workspace) {
  const Index side = scores.side();
  const Prepared prepared(scores, root, Row<double>::carve(workspace, side).data());
  double* centred = Row<double>::carve(workspace, side * side).data();
  const double factor = centre_columns(scores, marginals, d_marginals, centred);
  if (!vjp_on<double>(prepared, centred, d_scores, workspace)) {
    vjp_on<Wide>(prepared, centred, d_scores, workspace);
  }
  scale_answer(scores, factor, d_scores);
}

void spanning_sample(ArcScores scores, Root root, DrawKey key, Index count, std::int32_t* heads,
                     Workspace& workspace) {
  const Prepared prepared(scores, root, Row<double>::carve(workspace, scores.side()).data());
  if (!sample_on<double>(prepared, key, count, heads, workspace)) {
    sample_on<Wide>(prepared, key, count, heads, workspace);
  }
}

}  // namespace arbora::inference
