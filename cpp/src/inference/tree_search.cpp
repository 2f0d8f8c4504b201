#include "arbora/inference/tree_search.hpp"

#include <algorithm>

#include "arbora/base/number.hpp"

namespace arbora::inference {
namespace {

// Whether no arcs of a tree cross, those of the root symbol included: then everything between the
// ends of an arc has its head there. (Were only an arc's far end outside, the two arcs' heads would
// each be above the other.)
bool is_projective(const std::int32_t* heads, Index n) {
  for (Index m = 1; m <= n; ++m) {
    const Index left = std::min<Index>(heads[m - 1], m), right = std::max<Index>(heads[m - 1], m);
    for (Index k = left + 1; k < right; ++k) {
      if (heads[k - 1] < left || heads[k - 1] > right) return false;
    }
  }
  return true;
}

}  // namespace

TreeSearch::TreeSearch(const ArcOrder& order, Trees trees, Root root)
    : trees_(trees),
      root_(root),
      n_words_(order.n_words),
      stride_(whole_steps<double>(n_words_ + 1)),
      links_(order.link),
      first_link_(at(n_words_ + 2), 1),
      heads_of_links_(order.of_link.size()),
      by_link_(order.of_link.size(), 0.0),
      columns_(at((n_words_ + 1) * stride_), kForbidden),
      best_(at(stride_)),
      head_(best_),
      seen_(best_.size()) {
  for (std::size_t link = 1; link < heads_of_links_.size(); ++link) {
    const std::size_t arc = at(order.of_link[link]);
    heads_of_links_[link] = order.head[arc];
    first_link_[at(order.modifier[arc] + 1)] = static_cast<std::int32_t>(link + 1);
  }
  for (std::size_t m = 1; m < first_link_.size(); ++m) {
    first_link_[m] = std::max(first_link_[m], first_link_[m - 1]);
  }
  if (trees == Trees::projective) matrix_.assign(order.arc_at.size(), kForbidden);
  for (Index a = 0; a < order.size(); ++a) {
    cells_.push_back(order.cell(a));
    column_cells_.push_back(order.modifier[at(a)] * stride_ + order.head[at(a)]);
    set_weight(a, 0.0);
  }
}

bool TreeSearch::best(std::int32_t* heads, Workspace& workspace) {
  workspace.reset();
  if (!spanning(heads, workspace)) return false;
  if (trees_ == Trees::nonprojective || is_projective(heads, n_words_)) return true;
  workspace.reset();
  return best_projective_tree({matrix_.data(), n_words_}, root_, heads, workspace);
}

bool TreeSearch::spanning(std::int32_t* heads, Workspace& workspace) {
  if (!take_best_heads(0)) return false;
  if (is_tree()) {
    for (Index m = 1; m <= n_words_; ++m) heads[m - 1] = static_cast<std::int32_t>(head_[at(m)]);
    return true;
  }
  const ArcColumns columns{columns_.data(), n_words_, stride_};
  if (!best_spanning_tree_from(columns, Root::multi, best_.data(), head_.data(), heads,
                               workspace)) {
    return false;
  }
  // A best tree that happens to have one root is the best of the trees with one root.
  if (root_ == Root::multi || std::count(heads, heads + n_words_, 0) == 1) return true;
  workspace.reset();
  take_best_heads(1);
  return best_spanning_tree_from(columns, Root::single, best_.data(), head_.data(), heads,
                                 workspace);
}

// The best head of every word, independently; false if some word has none.
bool TreeSearch::take_best_heads(Index first_head) {
  bool all = true;
  for (Index m = 1; m <= n_words_; ++m) {
    double best = kForbidden;
    std::int32_t head = static_cast<std::int32_t>(first_head);
    for (std::int32_t link = first_link_[at(m)]; link < first_link_[at(m + 1)]; ++link) {
      if (by_link_[at(link)] > best && heads_of_links_[at(link)] >= first_head) {
        best = by_link_[at(link)];
        head = heads_of_links_[at(link)];
      }
    }
    all = all && best != kForbidden;
    best_[at(m)] = best;
    head_[at(m)] = head;
  }
  return all;
}

// Whether the best heads form a tree.
bool TreeSearch::is_tree() {
  std::fill(seen_.begin(), seen_.end(), 0);
  Index root_arcs = 0;
  for (Index m = 1; m <= n_words_; ++m) {
    root_arcs += head_[at(m)] == 0.0;
    Index here = m;
    for (; here != 0 && seen_[at(here)] == 0; here = static_cast<Index>(head_[at(here)])) {
      seen_[at(here)] = static_cast<std::int32_t>(m);
    }
    if (here != 0 && seen_[at(here)] == m) return false;
  }
  return root_ == Root::multi || root_arcs == 1;
}

}  // namespace arbora::inference
