// Head bigrams: a word with its head and the head of the word before.
//
// The parts of word m are a table of the possible heads of m - 1 by those of m, both from left to
// right. Words 2 to n have one, and the tables follow each other.
#include "arbora/tree/part_kinds.hpp"

namespace arbora::tree {
namespace {

Index heads_of(const PartIndex& parts, Index word) {
  return static_cast<Index>(parts.heads(word).size());
}

Index table_size(const PartIndex& parts, Index word) {
  return heads_of(parts, word - 1) * heads_of(parts, word);
}

// The place of a head among the possible heads of a word; negative if the arc is not kept.
Index head_place(const PartIndex& parts, Index head, Index word) {
  return parts.link(head, word) - parts.first_link(word);
}

Index count_bigrams(const PartIndex& parts) {
  Index count = 0;
  for (Index m = 2; m <= parts.n_words(); ++m) count += table_size(parts, m);
  return count;
}

Index bigram_number(const PartIndex& parts, const std::int64_t* columns) {
  const std::int64_t m = columns[0], before = columns[1], h = columns[2];
  if (!is_word(m, parts) || m == 1 || !is_head(before, parts) || !is_head(h, parts)) {
    return fault(PartFault::range);
  }
  if (h == m || before == m - 1) return fault(PartFault::range);
  const Index row = head_place(parts, before, m - 1), column = head_place(parts, h, m);
  if (row < 0 || column < 0) return fault(PartFault::pruned);
  Index first = 0;
  for (Index word = 2; word < m; ++word) first += table_size(parts, word);
  return first + row * heads_of(parts, m) + column;
}

void list_bigrams(const PartIndex& parts, std::int64_t* columns) {
  for (Index m = 2; m <= parts.n_words(); ++m) {
    for (const std::int32_t before : parts.heads(m - 1)) {
      for (const std::int32_t h : parts.heads(m)) {
        for (const Index value : {m, Index{before}, Index{h}}) *columns++ = value;
      }
    }
  }
}

void bigrams_of_tree(const PartIndex& parts, const std::int32_t* heads,
                     std::vector<Index>& numbers) {
  Index first = 0;
  for (Index m = 2; m <= parts.n_words(); ++m) {
    const Index row = head_place(parts, heads[m - 2], m - 1);
    const Index column = head_place(parts, heads[m - 1], m);
    if (row >= 0 && column >= 0) numbers.push_back(first + row * heads_of(parts, m) + column);
    first += table_size(parts, m);
  }
}

}  // namespace

const PartLayout kHeadBigrams{
    .columns = 3,
    .in_walks = false,
    .summable = false,
    .count = count_bigrams,
    .number = bigram_number,
    .list = list_bigrams,
    .of_tree = bigrams_of_tree,
};

}  // namespace arbora::tree
