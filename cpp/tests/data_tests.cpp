// The reader and the writer of CoNLL files.
#include <memory>
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
    Layout layout;
    layout.universal = guess_format(text).universal;
    options.layout = std::make_shared<const Layout>(layout);
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

// The same with other columns: gold and predicted ones, and any number of columns at the end.
TEST_CASE("Damaged text with other columns is read within bounds and written back") {
  Layout layout;
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
    CAPTURE(round);
    ReadOptions options;
    options.layout = std::make_shared<const Layout>(layout);
    options.skip_bad = round % 2 == 0;
    options.is_last = round % 5 != 0;
    const Block block(text, options);
    std::vector<std::int64_t> all(static_cast<std::size_t>(block.sentences()));
    std::iota(all.begin(), all.end(), 0);
    if (round % 4 == 0 && options.is_last) {
      CHECK(block.sentences() == 3);
      CHECK(block.text() == good);
      CHECK(block.field(0, 1, Column::xpos) == "N");
      CHECK(block.field(0, 2, Column::deprel) == "y");
      CHECK(block.field(0, 2, Column::lemma) == "_");
      CHECK(block.line_field(0, 2, 7) == "_");
    }
    const std::vector<std::string_view> tags(static_cast<std::size_t>(block.total_words()), "T");
    const NewTexts texts{Column::xpos, tags.data()};
    NewColumns columns;
    columns.texts = {&texts, 1};
    options.is_last = true;
    const Block tagged(render(block, all, columns), options);
    CHECK(tagged.total_words() == block.total_words());
    for (const std::int64_t s : all) CHECK(tagged.field(s, 1, Column::xpos) == "T");
    CHECK(render(tagged, all, columns) == tagged.text());
  }
}

}  // namespace
}  // namespace arbora::tests
