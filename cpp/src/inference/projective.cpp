// Sums over projective trees and best projective trees: preparation, number types, answers.
#include <algorithm>

#include "arbora/inference/best_tree.hpp"
#include "arbora/inference/eisner.hpp"
#include "arbora/inference/eisner_walk.hpp"
#include "arbora/inference/shift.hpp"
#include "arbora/inference/sums.hpp"

namespace arbora::inference {
namespace {

// log(27/4): there are about (27/4)^n projective trees of n words, so with every column shifted by
// this much more than its largest score neither Z nor any item can overflow.
constexpr double kGrowth = 1.9095425048844386;

// Below this, underflow in the chart may have cost Z its precision.
constexpr double kSmallestTrusted = 1e-280;

// A bound on the loss of a sum by underflow.
constexpr double kLost = 1e-290;

void fill(ArcScores scores, const Shift& shift, Matrix<double> w) {
  plain_weights(scores, shift, w);
}
void fill(ArcScores scores, const Shift& shift, Matrix<Wide> w) {
  Polling polling;
  for (Index h = 0; h <= scores.n_words; ++h) {
    polling.after(40 * scores.n_words);
    for (Index m = 1; m <= scores.n_words; ++m) w.set(h, m, wide_weight(scores, shift, h, m));
  }
}
template <class B>
void fill_dual(ArcScores scores, const Shift& shift, const double* g, Matrix<B> plain,
               Matrix<Dual<B>> w) {
  fill(scores, shift, plain);
  for (Index h = 0; h <= scores.n_words; ++h) {
    for (Index m = 1; m <= scores.n_words; ++m) {
      w.set(h, m, {plain.get(h, m), B(g[h * scores.side() + m]) * plain.get(h, m)});
    }
  }
}

ARBORA_MULTIVERSION double inside(const Eisner<double>& e) { return sweep_inside(e); }
ARBORA_MULTIVERSION MaxPlus inside(const Eisner<MaxPlus>& e) { return sweep_inside(e); }
ARBORA_MULTIVERSION Dual<double> inside(const Eisner<Dual<double>>& e) { return sweep_inside(e); }
Wide inside(const Eisner<Wide>& e) { return sweep_inside(e); }
Dual<Wide> inside(const Eisner<Dual<Wide>>& e) { return sweep_inside(e); }

ARBORA_MULTIVERSION void outside(const Eisner<double>& e, const EisnerChart<double>& chart) {
  sweep_outside(e, chart);
}
ARBORA_MULTIVERSION void outside(const Eisner<MaxPlus>& e, const EisnerChart<MaxPlus>& chart) {
  sweep_outside(e, chart);
}
ARBORA_MULTIVERSION void outside(const Eisner<Dual<double>>& e,
                                 const EisnerChart<Dual<double>>& chart) {
  sweep_outside(e, chart);
}
void outside(const Eisner<Wide>& e, const EisnerChart<Wide>& chart) { sweep_outside(e, chart); }
void outside(const Eisner<Dual<Wide>>& e, const EisnerChart<Dual<Wide>>& chart) {
  sweep_outside(e, chart);
}

bool trusted(double z) { return z >= kSmallestTrusted; }
bool trusted(Wide) { return true; }
template <class B>
bool trusted(Dual<B> z) {
  return trusted(z.value);
}

// Nothing is ever subtracted, so that small marginals lose digits to underflow only: in the chart,
// or when a wide number becomes a double.
double least_marginal(double z) { return kLost / z; }
double least_marginal(Wide) { return kLost; }

ExactSum log_of(double z) {
  ExactSum sum;
  sum.add(std::log(z));
  return sum;
}
ExactSum log_of(Wide z) {
  ExactSum sum;
  z.add_log_to(sum);
  return sum;
}

// Calls visit(h, m, weight) with the total weight of the trees that have the arc h -> m.
template <class T, class Visit>
void visit_arcs(const Eisner<T>& e, const EisnerChart<T>& chart, const Visit& visit) {
  for (Index s = e.first(); s <= e.n_words; ++s) {
    for (Index t = s + 1; t <= e.n_words; ++t) {
      visit(s, t, e.inside.open_right.get(s, t) * chart.open_right.get(s, t));
      if (s > 0) visit(t, s, e.inside.open_left.get(s, t) * chart.open_left.get(s, t));
    }
  }
  if (e.root == Root::multi) return;
  for (Index r = 1; r <= e.n_words; ++r) visit(0, r, e.single_root_term(r));
}

template <class T>
void report(const Eisner<T>& e, T z, double* answer, Workspace& workspace) {
  const auto chart = EisnerChart<T>::carve(workspace, e.n_words);
  outside(e, chart);
  const Index side = e.n_words + 1;
  std::fill(answer, answer + side * side, 0.0);
  const T inverse = Number<T>::one() / z;
  visit_arcs(e, chart, [&](Index h, Index m, T weight) {
    answer[h * side + m] = Number<T>::to_double(weight * inverse);
  });
}

template <class T>
bool sums_on(ArcScores scores, Root root, const Shift& shift, double* marginals, Sums* sums,
             Workspace& workspace) {
  const auto e = Eisner<T>::carve(workspace, scores.n_words, root);
  fill(scores, shift, e.w);
  const T z = inside(e);
  if (!trusted(z)) return false;
  ExactSum log_z = log_of(z);
  log_z.add(shift.root);
  sums->relative = log_z.value();
  sums->log_partition = absolute_log(scores, shift, log_z);
  sums->doubtful = least_marginal(z);
  if (marginals != nullptr) report(e, z, marginals, workspace);
  return true;
}

template <class B>
bool vjp_on(ArcScores scores, Root root, const Shift& shift, const double* centred,
            double* d_scores, Workspace& workspace) {
  const Index side = scores.side();
  const auto e = Eisner<Dual<B>>::carve(workspace, scores.n_words, root);
  fill_dual(scores, shift, centred, Matrix<B>::carve(workspace, side, side, Number<B>::zero()),
            e.w);
  const Dual<B> z = inside(e);
  if (!trusted(z)) return false;
  report(e, z, d_scores, workspace);
  return true;
}

template <class T>
bool sample_on(ArcScores scores, Root root, const Shift& shift, DrawKey key, Index count,
               std::int32_t* heads, Workspace& workspace) {
  const auto e = Eisner<T>::carve(workspace, scores.n_words, root);
  fill(scores, shift, e.w);
  if (!trusted(inside(e))) return false;
  std::vector<EisnerItem> open;
  Polling polling;
  for (Index draw = 0; draw < count; ++draw) {
    RandomStream random(key.seed, key.sentence, static_cast<std::uint64_t>(draw));
    walk_down(e, ChooseRandomly<T>{random}, open, heads + draw * scores.n_words, polling);
  }
  return true;
}

Eisner<MaxPlus> best_chart(ArcScores scores, Root root, Workspace& workspace, double* best) {
  const auto e = Eisner<MaxPlus>::carve(workspace, scores.n_words, root);
  for (Index h = 0; h <= scores.n_words; ++h) {
    for (Index m = 1; m <= scores.n_words; ++m) e.w.set(h, m, {scores(h, m)});
  }
  *best = inside(e).score;
  return e;
}

}  // namespace

Sums projective_sums(ArcScores scores, Root root, double* column_shift, double* marginals,
                     Workspace& workspace) {
  const Shift shift = make_shift(scores, root, kGrowth, column_shift);
  Sums sums{};
  if (!sums_on<double>(scores, root, shift, marginals, &sums, workspace)) {
    sums_on<Wide>(scores, root, shift, marginals, &sums, workspace);
  }
  return sums;
}

void projective_log_marginals(ArcScores scores, Root root, double* log_marginals,
                              Workspace& workspace) {
  const Index side = scores.side();
  const Shift shift = make_shift(scores, root, kGrowth, Row<double>::carve(workspace, side).data());
  const auto e = Eisner<Wide>::carve(workspace, scores.n_words, root);
  fill(scores, shift, e.w);
  const Wide z = inside(e);
  const auto chart = EisnerChart<Wide>::carve(workspace, scores.n_words);
  outside(e, chart);
  std::fill(log_marginals, log_marginals + side * side, kForbidden);
  visit_arcs(e, chart, [&](Index h, Index m, Wide weight) {
    log_marginals[h * side + m] = (weight / z).log();
  });
}

void projective_vjp(ArcScores scores, Root root, const double* marginals, const double* d_marginals,
                    double* d_scores, Workspace& workspace) {
  const Index side = scores.side();
  double* column = Row<double>::carve(workspace, side).data();
  const Shift shift = make_shift(scores, root, kGrowth, column);
  double* centred = Row<double>::carve(workspace, side * side).data();
  const double factor = centre_columns(scores, marginals, d_marginals, centred);
  if (!vjp_on<double>(scores, root, shift, centred, d_scores, workspace)) {
    vjp_on<Wide>(scores, root, shift, centred, d_scores, workspace);
  }
  scale_answer(scores, factor, d_scores);
}

void projective_sample(ArcScores scores, Root root, DrawKey key, Index count, std::int32_t* heads,
                       Workspace& workspace) {
  double* column = Row<double>::carve(workspace, scores.side()).data();
  const Shift shift = make_shift(scores, root, kGrowth, column);
  if (!sample_on<double>(scores, root, shift, key, count, heads, workspace)) {
    sample_on<Wide>(scores, root, shift, key, count, heads, workspace);
  }
}

bool best_projective_tree(ArcScores scores, Root root, std::int32_t* heads, Workspace& workspace) {
  double best = kForbidden;
  const auto e = best_chart(scores, root, workspace, &best);
  if (best == kForbidden) return false;
  std::vector<EisnerItem> open;
  Polling polling;
  walk_down(e, ChooseBest{}, open, heads, polling);
  return true;
}

void projective_margins(ArcScores scores, Root root, double* margins, Workspace& workspace) {
  double best = kForbidden;
  const auto e = best_chart(scores, root, workspace, &best);
  const auto chart = EisnerChart<MaxPlus>::carve(workspace, scores.n_words);
  outside(e, chart);
  const Index side = scores.side();
  std::fill(margins, margins + side * side, kForbidden);
  visit_arcs(e, chart, [&](Index h, Index m, MaxPlus x) { margins[h * side + m] = x.score; });
  subtract_best_without(margins, scores.n_words);
}

void subtract_best_without(double* best_with, Index n_words) {
  const Index side = n_words + 1;
  for (Index m = 1; m < side; ++m) {
    Index leader = 0;
    double second = kForbidden;
    for (Index h = 0; h < side; ++h) {
      if (best_with[h * side + m] > best_with[leader * side + m]) leader = h;
    }
    for (Index h = 0; h < side; ++h) {
      if (h != leader) second = std::max(second, best_with[h * side + m]);
    }
    const double first = best_with[leader * side + m];
    for (Index h = 0; h < side; ++h) {
      double& with = best_with[h * side + m];
      const double without = h == leader ? second : first;
      with = with == kForbidden ? kForbidden : with - without;
    }
  }
}

}  // namespace arbora::inference
