#include <algorithm>
#include <cmath>

#include "arbora/base/parallel.hpp"
#include "arbora/inference/head_walks.hpp"

namespace arbora::inference {
namespace {

// One sentence; memory is reused from head to head.
class WalkSums {
 public:
  WalkSums(const PartIndex& parts, const PartScores& scores, const PartValues<double>& expected)
      : parts_(parts), scores_(scores), out_(expected), steps_(parts, scores) {}

  double run() {
    double total = 0.0;
    for (Index h = 0; h <= parts_.n_words(); ++h) total += head(h);
    if (!steps_.grand()) {
      for (Index m = 1; m <= parts_.n_words(); ++m) total += own_head(m);
    }
    return total;
  }

 private:
  // log of the sum over a word's heads, where walks do not choose them.
  double own_head(Index m) {
    const Index side = parts_.n_words() + 1;
    const auto heads = parts_.heads(m);
    double top = kForbidden, sum = 0.0;
    for (const std::int32_t h : heads) top = std::max(top, scores_.arcs[h * side + m]);
    for (const std::int32_t h : heads) sum += std::exp(scores_.arcs[h * side + m] - top);
    for (const std::int32_t h : heads) {
      out_.arcs[h * side + m] += std::exp(scores_.arcs[h * side + m] - top) / sum;
    }
    return top + std::log(sum);
  }

  // log of the sum over the head's walks, which with grandparents choose its own head too.
  double head(Index h) {
    list_cells(h);
    const bool chooses = steps_.grand() && h > 0;
    const double value =
        walks_.sum(steps_of(steps_, h), arcs_.data(), chooses ? links_.data() : nullptr);
    if (value == kForbidden) return value;
    for (std::size_t j = 0; j < cells_.size(); ++j) out_.arcs[cells_[j]] += walks_.taken()[j];
    for (std::size_t c = 0; chooses && c < links_.size(); ++c) {
      out_.arcs[link_cells_[c]] += walks_.chosen()[c];
    }
    walks_.add_parts(steps_, h, out_);
    return value;
  }

  void list_cells(Index h) {
    const Index side = parts_.n_words() + 1;
    cells_.clear();
    link_cells_.clear();
    for (const int which : {0, 1}) {
      for (const std::int32_t m : parts_.modifiers(h, which)) cells_.push_back(h * side + m);
    }
    for (Index c = 0; h > 0 && c < parts_.links_of(h); ++c) {
      link_cells_.push_back(parts_.grandparent(parts_.first_link(h) + c) * side + h);
    }
    arcs_.resize(cells_.size());
    links_.resize(link_cells_.size());
    for (std::size_t j = 0; j < cells_.size(); ++j) arcs_[j] = scores_.arcs[cells_[j]];
    for (std::size_t c = 0; c < links_.size(); ++c) links_[c] = scores_.arcs[link_cells_[c]];
  }

  const PartIndex& parts_;
  const PartScores& scores_;
  const PartValues<double>& out_;
  StepTables steps_;
  HeadWalks walks_;
  std::vector<Index> cells_, link_cells_;
  std::vector<double> arcs_, links_;
};

}  // namespace

void batch_walk_sums(const PartBatch& parts, const PartScores& scores,
                     const PartValues<double>& expected, double* values, int threads) {
  std::vector<double> costs;
  for (Index i = 0; i < parts.size(); ++i) {
    const PartIndex& own = parts[i];
    const Index pairs = own.kinds().grand() ? own.n_links() * 30 : own.n_arcs() * 8;
    costs.push_back(30.0 * static_cast<double>(pairs));
  }
  for_each_by_cost(costs, threads, [&](Index i, Workspace&) {
    const PartScores own = scores.of(parts.place(i));
    const PartValues<double> out = expected.of(parts.place(i));
    values[i] = WalkSums(parts[i], own, out).run();
  });
}

}  // namespace arbora::inference
