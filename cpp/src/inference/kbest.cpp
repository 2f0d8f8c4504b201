// Lawler's (1972) partition. The best tree is removed from a set of trees; the rest is partitioned
// by the first word at which a tree differs from it: the words before keep their choice, that word
// may not repeat its choice, the words after are free. Each part is again a best-tree problem with
// some arcs forbidden, whatever the class of trees, so the root constraint and projectivity need no
// special case.
//
// A word's choice is a head and a label. The labels of an arc are used best first, so forbidding
// a choice means that the arc falls back to its next label, if it has one.
#include "arbora/inference/kbest.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "arbora/base/interruption.hpp"
#include "arbora/base/workspace.hpp"
#include "arbora/inference/best_tree.hpp"

namespace arbora::inference {
namespace {

// The labels of each arc from best to worst, sorted when first asked for.
class LabelRanking {
 public:
  explicit LabelRanking(LabelledScores scores) : scores_(scores) {}

  std::int32_t label(Index head, Index modifier, std::int32_t rank) {
    if (scores_.n_labels == 1) return 0;
    std::vector<std::int32_t>& order = orders_[head * scores_.side() + modifier];
    if (order.empty()) {
      const double* score = scores_.labels(head, modifier);
      order.resize(static_cast<std::size_t>(scores_.n_labels));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int32_t a, std::int32_t b) { return score[a] > score[b]; });
    }
    return order[static_cast<std::size_t>(rank)];
  }
  double score(Index head, Index modifier, std::int32_t rank) {
    if (rank >= scores_.n_labels) return kForbidden;
    return scores_.labels(head, modifier)[label(head, modifier, rank)];
  }

 private:
  LabelledScores scores_;
  std::map<Index, std::vector<std::int32_t>> orders_;
};

// A set of trees and the best of them. The words before `pivot` are fixed to this tree's choices;
// excluded[i] is a head that the pivot has used up one more label of.
struct Part {
  std::vector<std::int32_t> heads, ranks;
  double score = 0.0;
  Index pivot = 1;
  std::vector<std::int32_t> excluded;
  std::size_t serial = 0;
};

struct BetterPart {
  bool operator()(const Part& a, const Part& b) const {
    return a.score != b.score ? a.score > b.score : a.serial < b.serial;
  }
};

class Search {
 public:
  Search(LabelledScores scores, Trees trees, Root root, Index k)
      : scores_(scores), trees_(trees), root_(root), wanted_(k), ranking_(scores) {
    const Index side = scores.side();
    best_.resize(static_cast<std::size_t>(side * side));
    for (Index cell = 0; cell < side * side; ++cell) {
      const double* label = scores.first + cell * scores.n_labels;
      best_[static_cast<std::size_t>(cell)] = *std::max_element(label, label + scores.n_labels);
    }
  }

  std::vector<RankedTree> run() {
    current_ = best_;
    add_best_of(Part{}, kInfinity);
    std::vector<RankedTree> found;
    while (!queue_.empty() && static_cast<Index>(found.size()) < wanted_) {
      const Part part = std::move(queue_.extract(queue_.begin()).value());
      found.push_back(to_tree(part));
      const Index still_wanted = wanted_ - static_cast<Index>(found.size());
      if (still_wanted > 0) split(part, still_wanted);
    }
    return found;
  }

 private:
  double& cell(Index h, Index m) {
    return current_[static_cast<std::size_t>(h * scores_.side() + m)];
  }

  // Puts into the queue the best tree of the part that current_ describes. In the pivot's column
  // the arcs stand at the rank that the exclusions leave them; in fixed columns, at the tree's.
  // No tree of a part beats `bound`, the score of the tree that was removed; where the search
  // for best trees rounds differently, the bound keeps the list in order.
  void add_best_of(Part part, double bound) {
    const Index n = scores_.n_words;
    polling_.after(10 * n * n);
    std::vector<std::int32_t> heads(static_cast<std::size_t>(n));
    workspace_.reset();
    if (!best_tree({current_.data(), n}, trees_, root_, heads.data(), workspace_)) return;
    part.ranks.resize(static_cast<std::size_t>(n), 0);
    for (Index m = part.pivot; m <= n; ++m) {
      const std::int32_t head = heads[static_cast<std::size_t>(m - 1)];
      const auto used = std::count(part.excluded.begin(), part.excluded.end(), head);
      part.ranks[static_cast<std::size_t>(m - 1)] =
          m == part.pivot ? static_cast<std::int32_t>(used) : 0;
    }
    part.heads = std::move(heads);
    part.score = 0.0;
    for (Index m = 1; m <= n; ++m) {
      const auto i = static_cast<std::size_t>(m - 1);
      part.score += ranking_.score(part.heads[i], m, part.ranks[i]);
    }
    part.score = std::min(part.score, bound);
    part.serial = serial_++;
    queue_.insert(std::move(part));
  }

  void split(const Part& part, Index still_wanted) {
    const Index n = scores_.n_words;
    current_ = best_;
    for (Index m = 1; m < part.pivot; ++m) fix(part, m);
    for (Index m = part.pivot; m <= n; ++m) {
      Part rest;
      rest.pivot = m;
      if (m == part.pivot) rest.excluded = part.excluded;
      rest.excluded.push_back(part.heads[static_cast<std::size_t>(m - 1)]);
      rest.ranks = part.ranks;
      for (const std::int32_t h : rest.excluded) {
        const auto used = std::count(rest.excluded.begin(), rest.excluded.end(), h);
        cell(h, m) = ranking_.score(h, m, static_cast<std::int32_t>(used));
      }
      add_best_of(std::move(rest), part.score);
      fix(part, m);
      while (static_cast<Index>(queue_.size()) > still_wanted)
        queue_.erase(std::prev(queue_.end()));
    }
  }

  void fix(const Part& part, Index m) {
    const auto i = static_cast<std::size_t>(m - 1);
    for (Index h = 0; h <= scores_.n_words; ++h) cell(h, m) = kForbidden;
    cell(part.heads[i], m) = ranking_.score(part.heads[i], m, part.ranks[i]);
  }

  RankedTree to_tree(const Part& part) {
    RankedTree tree{part.heads, part.ranks, part.score};
    for (std::size_t i = 0; i < tree.labels.size(); ++i) {
      tree.labels[i] = ranking_.label(tree.heads[i], static_cast<Index>(i + 1), part.ranks[i]);
    }
    return tree;
  }

  LabelledScores scores_;
  Trees trees_;
  Root root_;
  Index wanted_;
  LabelRanking ranking_;
  std::vector<double> best_, current_;  // arc scores: unconstrained, and of the part at hand
  std::set<Part, BetterPart> queue_;
  std::size_t serial_ = 0;
  Workspace workspace_;
  Polling polling_;
};

}  // namespace

std::vector<RankedTree> kbest_trees(LabelledScores scores, Trees trees, Root root, Index k) {
  return Search(scores, trees, root, k).run();
}

}  // namespace arbora::inference
