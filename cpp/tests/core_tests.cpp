// What Python cannot see, and every kernel once more without Python, for the sanitizers.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "arbora/base/buffers.hpp"
#include "arbora/base/number.hpp"
#include "arbora/base/parallel.hpp"
#include "arbora/data/block.hpp"
#include "arbora/data/render.hpp"
#include "arbora/data/tree_shape.hpp"
#include "arbora/inference/batch.hpp"
#include "arbora/inference/shift.hpp"
#include "expect.hpp"

namespace {

using namespace arbora;

void test_exponential() {
  for (double x = -707.5; x <= 0.0; x += 0.37) {
    EXPECT(near(exp_nonpositive(splat(x))[2] / std::exp(x), 1.0, 5e-16));
  }
  EXPECT(exp_nonpositive(splat(-709.0))[0] == 0.0);
  EXPECT(exp_nonpositive(splat(kForbidden))[1] == 0.0);
  EXPECT(exp_nonpositive(splat(0.0))[3] == 1.0);
  for (double x = -707.5; x <= 707.5; x += 0.41) {
    EXPECT(near(exp_bounded(splat(x))[1] / std::exp(x), 1.0, 5e-16));
  }
}

void test_logarithm() {
  for (double x = 3e-308; x < 1e308; x *= 1.37) {
    const double right = std::log(x);
    EXPECT(near(log_positive(splat(x))[0] / right, 1.0, 9e-16));
  }
  for (double x = 0.5; x < 2.0; x += 0.00013) {  // also where the logarithm is small
    const double right = std::log(x);
    EXPECT(near(log_positive(splat(x))[3] / right, 1.0, 9e-16));
  }
  EXPECT(log_positive(splat(1.0))[2] == 0.0);
}

void test_sigmoid() {
  for (double x = -700.0; x <= 700.0; x += 0.73) {
    EXPECT(near(sigmoid(splat(x))[1] * (1.0 + std::exp(-x)), 1.0, 1e-15));
  }
}

void test_wide_numbers() {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 1000; ++i) {
    const double a = normal(random), b = normal(random) * std::exp(5 * normal(random));
    EXPECT((Wide(a) + Wide(b)).to_double() == a + b);
    EXPECT((Wide(a) - Wide(b)).to_double() == a - b);
    EXPECT((Wide(a) * Wide(b)).to_double() == a * b);
    EXPECT((Wide(a) / Wide(b)).to_double() == a / b);
  }
  EXPECT(near((Wide::exp(-1e6) * Wide::exp(1e6)).to_double(), 1.0, 1e-9));
  EXPECT(near(Wide::exp(-12345.678).log(), -12345.678, 1e-15));
  EXPECT(Wide::exp(-1e6).to_double() == 0.0);
  EXPECT((Wide::exp(-1e6) + Wide()).is_positive());
  EXPECT(!Wide().is_positive());
  EXPECT(Wide().log() == kForbidden);
  EXPECT(Wide(5e-324).to_double() == 5e-324);
  // Exponents stop where they would overflow: large stays large, small stays above zero.
  for (const double x : {1e17, 1e18, 1e30, 3e38, 1e300, kInfinity}) {
    Wide large = Wide::exp(x), small = Wide::exp(-std::min(x, 1e300));
    for (int i = 0; i < 70; ++i) {
      large = large * large;
      small = small * small;
      EXPECT(large.log() >= 6.8e16);
      EXPECT(small.log() <= -6.8e16);
      EXPECT(small.is_positive());
      EXPECT((small / large).is_positive());
      EXPECT((large / small).log() >= 6.8e16);
      EXPECT((large + small).log() == large.log());
      EXPECT(!(small * Wide()).is_positive());
    }
  }
}

void test_workspace() {
  Workspace workspace;
  for (int round = 0; round < 3; ++round) {
    std::vector<unsigned char*> blocks;
    for (std::size_t size : {1U, 1000U, 64U, 100000U}) {
      auto* block = static_cast<unsigned char*>(workspace.bytes(size));
      EXPECT(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
      std::fill(block, block + size, static_cast<unsigned char>(blocks.size()));
      blocks.push_back(block);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT(*blocks[i] == i);
    workspace.reset();
  }
}

void test_buffers() {
  double* first = take_buffer(5000);
  first[4999] = 1.0;
  give_buffer(first);
  double* again = take_buffer(4800);
  EXPECT(again == first);
  double* other = take_buffer(4800);
  EXPECT(other != first);
  give_buffer(other);
  give_buffer(again);
  for (int i = 0; i < 40; ++i) give_buffer(take_buffer(std::size_t{1} << (10 + i % 13)));
  give_buffer(take_buffer(std::size_t{1} << 24));  // too large to keep
}

void test_threads_meet_exceptions() {
  std::vector<int> done(100, 0);
  for_each_sentence(100, 4, 1e9,
                    [&](Index i, Workspace&) { done[static_cast<std::size_t>(i)] = 1; });
  EXPECT(std::accumulate(done.begin(), done.end(), 0) == 100);
  bool caught = false;
  try {
    for_each_sentence(100, 4, 1e9, [](Index i, Workspace&) {
      if (i == 57) throw std::bad_alloc();
    });
  } catch (const std::bad_alloc&) {
    caught = true;
  }
  EXPECT(caught);
}

struct Sentences {
  std::vector<std::int64_t> n_words;
  std::vector<double> scores;
  Index n_labels;

  Sentences(std::vector<std::int64_t> sizes, Index labels, double scale, double mask, unsigned seed)
      : n_words(std::move(sizes)), n_labels(labels) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (const std::int64_t n : n_words) {
      for (Index h = 0; h <= n; ++h) {
        for (Index m = 0; m <= n; ++m) {
          for (Index l = 0; l < labels; ++l) {
            const bool forbidden = h + 1 != m && uniform(random) < mask;
            scores.push_back(forbidden ? kForbidden : scale * normal(random));
          }
        }
      }
    }
  }
  Batch batch(Trees trees, Root root, int threads) const {
    return {scores.data(), n_words, n_labels, trees, root, threads};
  }
  std::size_t words() const {
    return static_cast<std::size_t>(std::accumulate(n_words.begin(), n_words.end(), Index{0}));
  }
};

void test_every_kernel(Trees trees, Root root, Index labels, double scale, double mask) {
  Sentences s({1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 21, 33}, labels, scale, mask, 7);
  const Batch batch = s.batch(trees, root, 3);
  EXPECT(copy_and_check(batch, s.scores.data()).empty());
  const std::size_t sentences = s.n_words.size(), cells = s.scores.size(), words = s.words();
  std::vector<double> log_z(sentences), relative(sentences), shift(words + sentences);
  std::vector<double> marginals(cells), gradient(cells, 0.25), answer(cells), score(sentences);
  batch_sums(batch, log_z.data(), relative.data(), shift.data(), marginals.data());
  EXPECT(near(std::accumulate(marginals.begin(), marginals.end(), 0.0), static_cast<double>(words),
              1e-9));
  batch_vjp(batch, marginals.data(), gradient.data(), answer.data());
  for (const double x : answer) EXPECT(std::abs(x) < 1e-9);  // a constant has no covariance
  std::vector<std::int32_t> heads(words), arc_labels(words);
  batch_argmax(batch, heads.data(), arc_labels.data(), score.data());
  const auto lists = batch_kbest(batch, 5);
  for (std::size_t i = 0; i < sentences; ++i) {
    EXPECT(score[i] <= log_z[i] + 1e-9 * std::abs(log_z[i]) + 1e-9);
    EXPECT(!lists[i].empty() && near(lists[i][0].score, score[i], 1e-12));
  }
  std::vector<std::int32_t> drawn(4 * words), drawn_labels(4 * words);
  std::vector<std::int64_t> keys(sentences);
  std::iota(keys.begin(), keys.end(), 0);
  batch_sample(batch, 5, keys, 4, drawn.data(), labels > 1 ? drawn_labels.data() : nullptr);
  for (const std::int32_t head : drawn) EXPECT(head >= 0 && head <= 33);
  if (labels == 1) batch_margins(batch, answer.data());
}

// Texts with single bytes changed, cut anywhere: nothing is read out of bounds, and what is read is
// written back.
void test_damaged_text() {
  const std::string good =
      "\xEF\xBB\xBF# text = \xC3\xA9\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n"
      "1\ta\t_\tX\t_\t_\t2\tx\t_\tk=v\n2\tb\t_\tX\t_\t_\t0\ty\t_\t_\n2.1\tc\t_\t_\t_\t_\t_\t_\t_\t_"
      "\n"
      "\n\n1\td\t_\tX\t_\t_\t_\t_\t_\t_\r\n\r\n# end";
  std::mt19937_64 random(2);
  for (int round = 0; round < 5000; ++round) {
    std::string text = good;
    for (int change = round % 4; change > 0; --change) {
      text[random() % text.size()] = "\t\n#0123-._\r \xC3"[random() % 14];
    }
    data::ReadOptions options;
    options.skip_bad = round % 2 == 0;
    options.trees = round % 3 == 0;
    options.whole = round % 5 != 0;
    data::Layout layout;
    layout.universal = data::guess_format(text).universal;
    options.layout = std::make_shared<const data::Layout>(layout);
    const data::Block block(text, options);
    EXPECT(block.text().size() <= text.size());
    if (round % 4 == 0 && options.whole) EXPECT(block.sentences() == 2 && block.text() == good);
    std::vector<std::int64_t> all(static_cast<std::size_t>(block.sentences()));
    std::iota(all.begin(), all.end(), 0);
    std::string copy;
    for (const std::int64_t s : all) {
      copy += block.text(s);
      data::tree_shape(block.heads(s), block.words(s));
    }
    EXPECT(data::render(block, all, {}) == copy);
    const std::vector<std::int32_t> heads(static_cast<std::size_t>(block.total_words()), 0);
    const std::vector<double> numbers(heads.size(), 0.5);
    const data::MiscItems items{"k", numbers.data(), 2, nullptr};
    data::NewColumns columns;
    columns.heads = heads.data();
    columns.misc = {&items, 1};
    options.whole = true;
    EXPECT(data::Block(data::render(block, all, columns), options).total_words() ==
           block.total_words());
  }
}

// The same with other columns: gold and predicted ones, and as many at the end as there are.
void test_damaged_wide_text() {
  data::Layout layout;
  layout.columns = {"ID", "FORM", "TAG", "PTAG", "HEAD", "DEPREL"};
  layout.further = "ARG";
  layout.places = {0, 1, -1, -1, 3, -1, 4, 5, -1, -1};
  layout.substitutes = {-1, -1, -1, -1, 2, -1, -1, -1, -1, -1};
  layout.universal = false;
  const std::string good =
      "1\ta\tN\t_\t2\tx\tA0\t_\n2\tb\tV\t_\t0\ty\t_\t_ \r\n\n# arbora.rank = 1\n"
      "1\td\t_\tV\t_\t_\r\n\n\n1\te\t_\t_\t0\tz";
  std::mt19937_64 random(3);
  for (int round = 0; round < 5000; ++round) {
    std::string text = good;
    for (int change = round % 4; change > 0; --change) {
      text[random() % text.size()] = "\t\n#0123-._\r \xC3"[random() % 14];
    }
    data::ReadOptions options;
    options.layout = std::make_shared<const data::Layout>(layout);
    options.skip_bad = round % 2 == 0;
    options.whole = round % 5 != 0;
    const data::Block block(text, options);
    std::vector<std::int64_t> all(static_cast<std::size_t>(block.sentences()));
    std::iota(all.begin(), all.end(), 0);
    if (round % 4 == 0 && options.whole) {
      EXPECT(block.sentences() == 3 && block.text() == good);
      EXPECT(block.field(0, 1, data::Column::xpos) == "N");
      EXPECT(block.field(0, 2, data::Column::deprel) == "y");
      EXPECT(block.field(0, 2, data::Column::lemma) == "_");
      EXPECT(block.line_field(0, 2, 7) == "_");
    }
    const std::vector<std::string_view> tags(static_cast<std::size_t>(block.total_words()), "T");
    const data::NewTexts texts{data::Column::xpos, tags.data()};
    data::NewColumns columns;
    columns.texts = {&texts, 1};
    options.whole = true;
    const data::Block tagged(data::render(block, all, columns), options);
    EXPECT(tagged.total_words() == block.total_words());
    for (const std::int64_t s : all) EXPECT(tagged.field(s, 1, data::Column::xpos) == "T");
    EXPECT(data::render(tagged, all, columns) == tagged.text());
  }
}

}  // namespace

int main() {
  test_damaged_text();
  test_damaged_wide_text();
  test_learning();
  test_decoding();
  test_climbing();
  test_hypergraphs();
  test_loopy();
  test_exponential();
  test_logarithm();
  test_sigmoid();
  test_wide_numbers();
  test_workspace();
  test_buffers();
  test_threads_meet_exceptions();
  for (const Trees trees : {Trees::nonprojective, Trees::projective}) {
    for (const Root root : {Root::single, Root::multi}) {
      for (const Index labels : {1, 3}) {
        for (const double scale : {1.0, 700.0}) {
          for (const double mask : {0.0, 0.3}) test_every_kernel(trees, root, labels, scale, mask);
        }
      }
    }
  }
  std::printf("core tests: %s\n", failures == 0 ? "all passed" : "FAILED");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
