// The reader and the writer of CoNLL files.
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "arbora/data/block.hpp"
#include "arbora/data/render.hpp"
#include "arbora/data/tree_shape.hpp"
#include "testing.hpp"

namespace arbora::tests {
namespace {

// Texts with single bytes changed, cut anywhere: nothing is read out of bounds, and what is read is
// written back.
TEST_CASE("Damaged text is read within bounds and written back") {
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
    CAPTURE(round);
    ReadOptions options;
    options.skip_bad = round % 2 == 0;
    options.trees = round % 3 == 0;
    options.is_last = round % 5 != 0;
    options.format = guess_format(text).format;
    const Block block(text, options);
    CHECK(block.text().size() <= text.size());
    if (round % 4 == 0 && options.is_last) {
      CHECK(block.sentences() == 2);
      CHECK(block.text() == good);
    }
    std::vector<std::int64_t> all(static_cast<std::size_t>(block.sentences()));
    std::iota(all.begin(), all.end(), 0);
    std::string copy;
    for (const std::int64_t s : all) {
      copy += block.text(s);
      tree_shape(block.heads(s), block.words(s));
    }
    CHECK(render(block, all, {}) == copy);
    const std::vector<std::int32_t> heads(static_cast<std::size_t>(block.total_words()), 0);
    const std::vector<double> numbers(heads.size(), 0.5);
    const MiscItems items{"k", numbers.data(), 2, nullptr};
    NewColumns columns;
    columns.heads = heads.data();
    columns.misc = {&items, 1};
    options.is_last = true;
    CHECK(Block(render(block, all, columns), options).total_words() == block.total_words());
  }
}

}  // namespace
}  // namespace arbora::tests
