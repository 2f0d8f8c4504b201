// Features, scores, gradients and steps without Python, over every template and kind of outcome.
#include <random>
#include <string>
#include <vector>

#include "arbora/features/arc_filter.hpp"
#include "arbora/learning/update.hpp"
#include "arbora/scoring/linear_model.hpp"
#include "testing.hpp"

namespace arbora::tests {
namespace {

// Sentences of 1, 2 and 40 words; odd fields included.
Block some_block() {
  std::string text;
  for (const int words : {1, 2, 40}) {
    for (int w = 1; w <= words; ++w) {
      text += std::to_string(w) + "\t" + (w % 5 == 0 ? "\xC3\xA9t\xC3\xA9s" : "understanding") +
              "\t_\t" +
              (w % 3 == 0   ? "VERB"
               : w % 7 == 0 ? "CCONJ"
                            : "PUNCT") +
              "\tx\t" +
              (w % 2 == 0   ? "Case=Nom|Number=Sing"
               : w % 9 == 0 ? "||a"
                            : "_") +
              "\t" + std::to_string(w - 1) + "\tdep\t_\t_\n";
    }
    text += "\n";
  }
  return Block(text, {});
}

std::vector<double> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  return normal_numbers(count, random);
}

// <d, scores(w)> = <expand(d), w>
void check_adjoint(const LinearModel& model, const Encoded& encoded, const ArcFilter& filter) {
  const std::vector<std::int64_t> chosen = {2, 0, 1, 2};
  for (const int threads : {1, 2}) {
    const Selection selection{encoded, chosen, threads};
    std::size_t cells = 0;
    for (const std::int64_t s : chosen) {
      const auto side = static_cast<std::size_t>(encoded.words(s) + 1);
      cells += side * side * static_cast<std::size_t>(model.width());
    }
    const std::vector<double> weights = random_numbers(model.weights(), 1);
    std::vector<double> scores(cells), d = random_numbers(cells, 2), dense(model.weights(), 0.0);
    score_sentences(model, weights.data(), 1.0, filter, selection, nullptr, scores.data());
    double left = 0.0, right = 0.0;
    for (std::size_t i = 0; i < cells; ++i) {
      if (std::isinf(scores[i])) d[i] = 0.0;
      if (d[i] != 0.0) left += d[i] * scores[i];
    }
    Gradient gradient(model.weights(), model.shape());
    expand_sentences(model, selection, d.data(), gradient);
    add_gradient(gradient, dense.data(), threads);
    for (std::size_t i = 0; i < dense.size(); ++i) right += dense[i] * weights[i];
    CHECK(left == near(right, 1e-9));
  }
}

void check_labels(const FeatureSet& set, const Encoded& encoded) {
  const RowTable table{set, Outcomes::label, 5, 3, 0};
  const std::vector<std::int64_t> chosen = {0, 2};
  std::vector<std::int32_t> heads(41);
  for (std::size_t i = 1; i < heads.size(); ++i) {
    heads[i] = i % 6 == 0 ? -1 : static_cast<std::int32_t>(i % 4 == 0 ? 0 : i - 1);
  }
  const std::size_t size = std::size_t{3} << 5U;
  const std::vector<double> weights = random_numbers(size, 3), d = random_numbers(3 * 41, 4);
  std::vector<double> scores(3 * 41), dense(size, 0.0);
  const Selection selection{encoded, chosen, 2};
  score_labels(table, weights.data(), 1.0, selection, heads.data(), scores.data());
  Gradient gradient(size, table.shape());
  expand_labels(table, selection, heads.data(), d.data(), gradient);
  add_gradient(gradient, dense.data(), 2);
  double left = 0.0, right = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) left += d[i] * scores[i];
  for (std::size_t i = 0; i < size; ++i) right += dense[i] * weights[i];
  CHECK(left == near(right, 1e-9));
}

void check_steps(const LinearModel& model, const Encoded& encoded) {
  const std::size_t size = model.weights();
  std::vector<double> values(size, 0.0);
  std::vector<WeightState> states(size, {0.0, 0.0, 0.0});
  const Weights weights{values.data(), states.data(), size};
  const std::vector<std::int64_t> chosen = {1};
  const std::vector<double> d = random_numbers(9 * static_cast<std::size_t>(model.width()), 5);
  Gradient gradient(size, model.shape());
  for (int step = 1; step <= 5; ++step) {
    expand_sentences(model, {encoded, chosen, 1}, d.data(), gradient);
    adagrad_update({0.1, 1e-6, 0.01, static_cast<double>(step)}, gradient, weights, 2);
  }
  adagrad_flush({0.1, 1e-6, 0.01, 9.0}, weights, 2);
  for (std::size_t i = 0; i < size; ++i) {
    CHECK(std::isfinite(values[i]));
    if (values[i] != 0.0) CHECK(states[i].seen == 9.0);
  }
  std::vector<double> products(4);
  const std::vector<double> two = random_numbers(18 * static_cast<std::size_t>(model.width()), 6);
  inner_products(model, {encoded, chosen, 1}, two.data(), 2, products.data());
  CHECK(products[1] == products[2]);
  CHECK(products[0] * products[3] >= products[1] * products[1]);
}

TEST_CASE("Scores, gradients and steps over every template and kind of outcome") {
  const Block block = some_block();
  CHECK(block.sentences() == 3);
  Clusters clusters;
  clusters.add("understanding", clusters.number_of("0110"), 0.25F);
  clusters.add("understanding", clusters.number_of("1"), 0.75F);
  clusters.finish();
  const std::vector<std::int64_t> all = {0, 1, 2};
  for (int templates = 0; templates < features::kTemplateSets; ++templates) {
    for (const bool full : {false, true}) {
      CAPTURE(templates);
      CAPTURE(full);
      const FeatureSet set{static_cast<TemplateSet>(templates), Columns{full, full, full, full},
                           full};
      const Encoded encoded(block, all, set.columns, full ? &clusters : nullptr);
      std::vector<std::uint16_t> lengths(ArcFilter::kSize, 0);
      ArcFilter::learn(encoded[2], block.heads(2), lengths);
      const LinearModel plain{{set, 10}, std::nullopt};
      check_adjoint(plain, encoded, ArcFilter({}));
      check_adjoint(plain, encoded, ArcFilter(lengths));
      for (const Outcomes outcomes : {Outcomes::label, Outcomes::edge, Outcomes::token}) {
        const LinearModel model{{set, 6}, RowTable{set, outcomes, 4, 3, std::size_t{1} << 6U}};
        check_adjoint(model, encoded, ArcFilter(lengths));
        check_steps(model, encoded);
      }
      for (const Outcomes outcomes : {Outcomes::edge, Outcomes::token, Outcomes::soft}) {
        const bool beside = outcomes != Outcomes::edge;
        const RowTable rows{set, outcomes, 6, 5, std::size_t{beside} << 6U, true};
        const LinearModel model{{set, 6}, rows, beside};
        check_adjoint(model, encoded, ArcFilter(lengths));
        check_steps(model, encoded);
      }
      check_labels(set, encoded);
    }
  }
}

}  // namespace
}  // namespace arbora::tests
