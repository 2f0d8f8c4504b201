#include "arbora/data/tree_shape.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace arbora::data {
namespace {

using Places = std::vector<std::int64_t>;

// A word dominates those whose `enter` is in its own enter..leave.
struct Walk {
  Places enter, leave;

  Walk(const std::int32_t* heads, std::size_t n) : enter(n + 1, 0), leave(n + 1, 0) {
    Places first(n + 3, 0), children(n);  // of word h: children[first[h]] to children[first[h + 1]]
    for (std::size_t w = 0; w < n; ++w) ++first[place(heads[w]) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    Places next(first);
    for (std::size_t w = 0; w < n; ++w) {
      children[static_cast<std::size_t>(next[place(heads[w])]++)] =
          static_cast<std::int64_t>(w) + 1;
    }
    next = first;
    std::int64_t clock = 0;
    Places open;
    const auto descend_from = [&](std::size_t row) {  // the children of -1 and 0 are the tops
      for (std::int64_t i = first[row]; i < first[row + 1]; ++i) {
        open.push_back(children[static_cast<std::size_t>(i)]);
        enter[static_cast<std::size_t>(open.back())] = ++clock;
        while (!open.empty()) {
          const auto word = static_cast<std::size_t>(open.back());
          if (next[word + 1] < first[word + 2]) {
            open.push_back(children[static_cast<std::size_t>(next[word + 1]++)]);
            enter[static_cast<std::size_t>(open.back())] = ++clock;
          } else {
            leave[word] = clock;
            open.pop_back();
          }
        }
      }
    };
    descend_from(0);
    descend_from(1);
  }

  bool dominates(std::size_t head, std::size_t word) const {
    return enter[head] <= enter[word] && enter[word] <= leave[head] && enter[head] > 0;
  }

 private:
  static std::size_t place(std::int32_t head) { return static_cast<std::size_t>(head + 1); }
};

// The ends, other than the word itself, of the arcs at each word.
struct Reach {
  Places left, right;

  Reach(const std::int32_t* heads, std::size_t n) : left(n + 1), right(n + 1) {
    std::iota(left.begin(), left.end(), 0);
    right = left;
    for (std::size_t w = 1; w <= n; ++w) {
      if (heads[w - 1] < 0) continue;
      add(w, static_cast<std::size_t>(heads[w - 1]));
      add(static_cast<std::size_t>(heads[w - 1]), w);
    }
  }

 private:
  void add(std::size_t at, std::size_t other) {
    left[at] = std::min(left[at], static_cast<std::int64_t>(other));
    right[at] = std::max(right[at], static_cast<std::int64_t>(other));
  }
};

}  // namespace

TreeShape tree_shape(const std::int32_t* heads, std::int64_t n_words) {
  const auto n = static_cast<std::size_t>(n_words);
  const Walk walk(heads, n);
  const Reach reach(heads, n);
  TreeShape shape;
  for (std::size_t word = 1; word <= n; ++word) {
    if (heads[word - 1] < 0) continue;
    const auto head = static_cast<std::size_t>(heads[word - 1]);
    const auto [low, high] = std::minmax(head, word);
    bool gap = false, crossed = false;
    for (std::size_t x = low + 1; x < high && !(gap && crossed); ++x) {
      gap |= !walk.dominates(head, x);
      crossed |= reach.left[x] < static_cast<std::int64_t>(low) ||
                 reach.right[x] > static_cast<std::int64_t>(high);
    }
    shape.roots += head == 0;
    shape.nonprojective += gap && head != 0;
    shape.crossing += crossed;
  }
  return shape;
}

}  // namespace arbora::data
