// Best spanning trees (Chu & Liu 1965; Edmonds 1967) in the dense O(n^2) form of Tarjan (1977).
//
// Every word first takes its best head. Where that makes a cycle, the cycle becomes one new node,
// into which an arc costs its score minus that of the arc it would replace; and so on, along a path
// that grows from each word until it meets a finished node. Then the nodes are expanded, the newest
// first.
//
// The single-root optimum needs no penalty on root arcs, hence no loss of precision: the root
// symbol's arcs are left out of the contraction, and used only by a node that no word arc enters.
// Exactly one such node is a tree; a second one means that no single-root tree exists.
#include <algorithm>
#include <cmath>
#include <vector>

#include "arbora/base/interruption.hpp"
#include "arbora/base/number.hpp"
#include "arbora/inference/best_heads.hpp"
#include "arbora/inference/best_tree.hpp"

namespace arbora::inference {
namespace {

template <class T>
T* array(Workspace& workspace, Index count) {
  return static_cast<T*>(workspace.bytes(static_cast<std::size_t>(count) * sizeof(T)));
}

// Arrays of one number per word have room for whole packs.
double* padded(Workspace& workspace, Index side) {
  return array<double>(workspace, whole_steps<double>(side));
}

ARBORA_MULTIVERSION
void best_heads(ArcScores scores, Index first_head, double* best, double* head) {
  find_best_heads(scores, first_head, best, head);
}

// Keeps, for every source u, the better of the arcs in (score, target) and of those in
// (offered, offered_target), whose scores count less `replaced`. All arrays are padded.
ARBORA_MULTIVERSION
void keep_better(Index side, const double* offered, const double* offered_target, double replaced,
                 double* score, double* target) {
  for (Index u = 0; u < side; u += kPackWidth) {
    keep_better_step(load_pack(offered + u) - splat(replaced), load_pack(offered_target + u),
                     positions(u), score + u, target + u);
  }
}

ARBORA_MULTIVERSION
double largest(const double* x, Index count) {
  Pack best = splat(kForbidden);
  Index i = 0;
  for (; i + kPackWidth <= count; i += kPackWidth) best = larger(load_pack(x + i), best);
  double result = larger(larger(best[0], best[1]), larger(best[2], best[3]));
  for (; i < count; ++i) result = larger(x[i], result);
  return result;
}

// Forbids the sources that carry a label; both arrays are padded.
ARBORA_MULTIVERSION
void forbid_labelled(Index side, const double* labels, double label, double* score) {
  for (Index u = 0; u < side; u += kPackWidth) {
    const Pack apart = magnitude(load_pack(labels + u) - splat(label));
    store_pack(score + u, where_below(apart, splat(0.5), splat(kForbidden), load_pack(score + u)));
  }
}

// Whether every word's path of heads ends at the root symbol, over exactly one root arc if
// required.
bool is_tree(const std::int32_t* heads, Index n, Root root, std::int32_t* seen) {
  std::fill(seen, seen + n + 1, 0);
  Index root_arcs = 0;
  for (Index m = 1; m <= n; ++m) {
    root_arcs += heads[m - 1] == 0;
    Index here = m;
    while (here != 0 && seen[here] == 0) {
      seen[here] = static_cast<std::int32_t>(m);
      here = heads[here - 1];
    }
    if (here != 0 && seen[here] == m) return false;
  }
  return root == Root::multi || root_arcs == 1;
}

// Column m of scores that are known by rows, gathered into `column`.
class GatheredColumns {
 public:
  GatheredColumns(ArcScores scores, Workspace& workspace)
      : scores_(scores), column_(padded(workspace, scores.side())) {
    std::fill(column_ + side(), column_ + whole_steps<double>(side()), kForbidden);
  }

  Index side() const { return scores_.side(); }
  double root_arc(Index m) const { return scores_(0, m); }
  const double* column(Index m) const {
    for (Index u = 0; u < side(); ++u) column_[u] = scores_(u, m);
    return column_;
  }

 private:
  ArcScores scores_;
  double* column_;
};

class GivenColumns {
 public:
  explicit GivenColumns(ArcColumns columns) : columns_(columns) {}

  Index side() const { return columns_.n_words + 1; }
  double root_arc(Index m) const { return columns_.column(m)[0]; }
  const double* column(Index m) const { return columns_.column(m); }

 private:
  ArcColumns columns_;
};

template <class Columns>
class Contraction {
 public:
  Contraction(const Columns& columns, Root root, Workspace& workspace)
      : columns_(columns),
        workspace_(workspace),
        side_(columns.side()),
        first_head_(root == Root::multi ? 0 : 1),
        nodes_(side_),
        label_(padded(workspace, side_)),
        labelled_(array<Index>(workspace, side_)),
        next_inside_(array<Index>(workspace, side_)),
        node_(array<Node>(workspace, 2 * side_)),
        target_(padded(workspace, side_)),
        path_(array<Index>(workspace, 2 * side_)) {
    for (Index word = 0; word < side_; ++word) {
      label_[word] = static_cast<double>(word);
      labelled_[word] = word;
      next_inside_[word] = kNone;
      node_[word] = Node{};
      node_[word].first_inside = node_[word].last_inside = word;
    }
    std::fill(label_ + side_, label_ + whole_steps<double>(side_), -1.0);
    node_[0].mark = Mark::settled;
  }

  // `best` and `head` are each word's best head among first_head..n.
  bool solve(const double* best, const double* head, std::int32_t* heads) {
    for (Index m = 1; m < side_; ++m) {
      node_[m].in = {static_cast<Index>(head[m]), m, best[m]};
      node_[m].in_is_known = true;
    }
    for (Index m = 1; m < side_; ++m) {
      if (!settle(m)) return false;
    }
    open_nodes();
    for (Index m = 1; m < side_; ++m) heads[m - 1] = static_cast<std::int32_t>(node_[m].in.head);
    return true;
  }

 private:
  static constexpr Index kNone = -1;

  struct Arc {
    Index head = 0, modifier = 0;
    double score = kForbidden;
  };
  enum class Mark { unseen, on_path, settled };

  // A word, or a cycle of nodes that became one. Into a contracted node, score[u] is the best
  // adjusted score of an arc from word u, and target[u] the word it goes to.
  struct Node {
    Arc in;
    bool in_is_known = false, opened = false;
    Mark mark = Mark::unseen;
    Index parent = kNone;
    Index first_inside = kNone, last_inside = kNone;  // its words, linked by next_inside_
    double* score = nullptr;
    double* target = nullptr;
  };

  // Grows a path of best arcs from word m until it reaches a finished node.
  bool settle(Index m) {
    length_ = 0;
    Index here = node_of(m);
    while (node_[here].mark != Mark::settled) {
      if (node_[here].mark == Mark::unseen) {
        node_[here].mark = Mark::on_path;
        path_[length_++] = here;
      }
      if (!choose_in(here)) return false;
      const Index above = node_of(node_[here].in.head);
      here = node_[above].mark == Mark::on_path ? contract(above) : above;
    }
    for (Index i = 0; i < length_; ++i) node_[path_[i]].mark = Mark::settled;
    return true;
  }

  bool choose_in(Index id) {
    Node& node = node_[id];
    if (!node.in_is_known) {
      node.in_is_known = true;
      const Index u = best_source(node);
      if (u != kNone) node.in = {u, static_cast<Index>(node.target[u]), node.score[u]};
    }
    if (node.in.score != kForbidden) return true;
    if (first_head_ == 0) return false;
    // Root::single, and no word arc enters: this node is the root of the tree, if it may be.
    if (root_used_) return false;
    root_used_ = true;
    const bool contracted = node.score != nullptr;
    node.in = contracted ? Arc{0, static_cast<Index>(node.target[0]), node.score[0]}
                         : Arc{0, id, columns_.root_arc(id)};
    return node.in.score != kForbidden;
  }

  Index best_source(const Node& node) const {
    const double best = largest(node.score + first_head_, side_ - first_head_);
    if (best == kForbidden) return kNone;
    Index chosen = kNone;
    double nearest = kInfinity;
    for (Index u = first_head_; u < side_; ++u) {
      if (node.score[u] != best) [[likely]]
        continue;
      const double distance = std::abs(static_cast<double>(u) - node.target[u]);
      if (distance < nearest) {
        nearest = distance;
        chosen = u;
      }
    }
    return chosen;
  }

  // Makes one node of the path's end from node `from` on, which is a cycle; returns it.
  Index contract(Index from) {
    polling_.after(8 * side_);
    const Index id = nodes_++;
    Node& merged = node_[id];
    merged = Node{};
    Index *const end = path_ + length_, *const start = std::find(path_, end, from);
    // A contracted member's arrays can be taken over; its own scores are not needed again.
    Index* base = std::find_if(start, end, [&](Index x) { return node_[x].score != nullptr; });
    if (base == end) {
      base = start;
      merged.score = padded(workspace_, side_);
      merged.target = padded(workspace_, side_);
      std::fill(merged.score, merged.score + whole_steps<double>(side_), kForbidden);
      std::fill(merged.target, merged.target + whole_steps<double>(side_), 0.0);
      merge(merged, *base);
    } else {
      merged.score = node_[*base].score;
      merged.target = node_[*base].target;
      const double replaced = node_[*base].in.score;
      for (Index u = 0; u < side_; ++u) merged.score[u] -= replaced;
    }
    const double label = label_[node_[*base].first_inside];
    labelled_[static_cast<Index>(label)] = id;
    for (Index* member = start; member != end; ++member) {
      if (member != base) {
        merge(merged, *member);
        for (Index u = node_[*member].first_inside; u != node_[*member].last_inside;) {
          label_[u] = label;
          u = next_inside_[u];
        }
        label_[node_[*member].last_inside] = label;
      }
      adopt(id, *member);
    }
    forbid_labelled(side_, label_, label, merged.score);
    length_ = start - path_;
    return id;
  }

  void merge(Node& merged, Index member) {
    polling_.after(8 * side_);
    const Node& node = node_[member];
    const double* offered = node.score;
    const double* target = node.target;
    if (offered == nullptr) {  // a word: its arcs are a column of the scores
      offered = columns_.column(member);
      std::fill(target_, target_ + whole_steps<double>(side_), static_cast<double>(member));
      target = target_;
    }
    keep_better(side_, offered, target, node.in.score, merged.score, merged.target);
  }

  void adopt(Index id, Index member) {
    Node& merged = node_[id];
    node_[member].parent = id;
    if (merged.first_inside == kNone) {
      merged.first_inside = node_[member].first_inside;
    } else {
      next_inside_[merged.last_inside] = node_[member].first_inside;
    }
    merged.last_inside = node_[member].last_inside;
  }

  // The arc into a contracted node replaces the arc of each of its members on the way down. Members
  // that were reached from above have been followed to the end.
  void open_nodes() {
    for (Index id = nodes_ - 1; id >= side_; --id) {
      if (node_[id].opened) continue;
      const Arc in = node_[id].in;
      for (Index x = in.modifier; x != id; x = node_[x].parent) {
        node_[x].in = in;
        node_[x].opened = true;
      }
    }
  }

  // The words of a node carry one label, and the label knows its node; so a node can take over the
  // words of its largest member without touching them.
  Index node_of(Index word) const { return labelled_[static_cast<Index>(label_[word])]; }

  const Columns& columns_;
  Workspace& workspace_;
  Index side_, first_head_, nodes_;
  double* label_;
  Index* labelled_;
  Index* next_inside_;
  Node* node_;
  double* target_;
  Index* path_;
  Index length_ = 0;
  bool root_used_ = false;
  Polling polling_;
};

bool solve(ArcScores scores, Root root, std::int32_t* heads, Workspace& workspace) {
  const Index n = scores.n_words, side = n + 1;
  double* best = padded(workspace, side);
  double* head = padded(workspace, side);
  std::int32_t* seen = array<std::int32_t>(workspace, side);
  best_heads(scores, 0, best, head);
  for (Index m = 1; m <= n; ++m) {
    if (best[m] == kForbidden) return false;
    heads[m - 1] = static_cast<std::int32_t>(head[m]);
  }
  if (is_tree(heads, n, root, seen)) return true;
  // A best tree that happens to have one root is the best of the trees with one root.
  const GatheredColumns columns(scores, workspace);
  if (!Contraction(columns, Root::multi, workspace).solve(best, head, heads)) return false;
  if (root == Root::multi || std::count(heads, heads + n, 0) == 1) return true;
  best_heads(scores, 1, best, head);
  return Contraction(columns, Root::single, workspace).solve(best, head, heads);
}

}  // namespace

bool best_spanning_tree(ArcScores scores, Root root, std::int32_t* heads, Workspace& workspace) {
  // With one word there is no word head to start the single-root search from.
  if (scores.n_words == 1) {
    heads[0] = 0;
    return scores.allows(0, 1);
  }
  return solve(scores, root, heads, workspace);
}

bool best_spanning_tree_from(ArcColumns columns, Root root, const double* best, const double* head,
                             std::int32_t* heads, Workspace& workspace) {
  const GivenColumns given(columns);
  return Contraction(given, root, workspace).solve(best, head, heads);
}

double score_of(ArcScores scores, const std::int32_t* heads) {
  double sum = 0.0;
  for (Index m = 1; m <= scores.n_words; ++m) sum += scores(heads[m - 1], m);
  return sum;
}

void spanning_margins(ArcScores scores, Root root, double* margins, Workspace& workspace) {
  const Index n = scores.n_words, side = scores.side();
  const auto size = static_cast<std::size_t>(side * side);
  std::vector<double> changed(scores.first, scores.first + size);
  std::vector<std::int32_t> best(static_cast<std::size_t>(n)), other(best);
  const ArcScores view{changed.data(), n};
  const auto best_score = [&](std::vector<std::int32_t>& heads) {
    workspace.reset();
    const bool found = best_spanning_tree(view, root, heads.data(), workspace);
    return found ? score_of(scores, heads.data()) : kForbidden;
  };
  Polling polling;
  const double top = best_score(best);
  std::fill(margins, margins + side * side, kForbidden);
  for (Index m = 1; m <= n; ++m) {
    const auto cell = [&](Index h) -> double& {
      return changed[static_cast<std::size_t>(h * side + m)];
    };
    const Index chosen = best[static_cast<std::size_t>(m - 1)];
    cell(chosen) = kForbidden;
    margins[chosen * side + m] = top - best_score(other);  // -(-inf) if nothing else is possible
    for (Index h = 0; h < side; ++h) cell(h) = kForbidden;
    for (Index h = 0; h < side; ++h) {
      if (h == chosen || !scores.allows(h, m)) continue;
      cell(h) = scores(h, m);
      margins[h * side + m] = best_score(other) - top;
      polling.after(8 * side * side);
      cell(h) = kForbidden;
    }
    for (Index h = 0; h < side; ++h) cell(h) = scores(h, m);
  }
}

}  // namespace arbora::inference
