#include "arbora/inference/loopy_run.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"

namespace arbora::inference {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Mixes a share of the old messages into fresh ones; returns how much any of them changed.
double mix(Index count, const double* old, double share, double* fresh) {
  double largest = 0.0;
  for (Index i = 0; i < count; ++i) {
    const double change = old[i] - fresh[i];
    largest = std::max(largest, std::abs(change));
    fresh[i] += share * change;
  }
  return largest;
}

ARBORA_MULTIVERSION
void sigmoids(const double* log_odds, Index count, double* answer) {
  for (Index i = 0; i + kPackWidth <= count; i += kPackWidth) {
    store_pack(answer + i, sigmoid(load_pack(log_odds + i)));
  }
  for (Index i = count / kPackWidth * kPackWidth; i < count; ++i) {
    answer[i] = sigmoid(log_odds[i]);
  }
}

}  // namespace

bool LoopyRun::set(const PartIndex& parts, const PartScores& scores,
                   const LoopySettings& settings) {
  settings_ = settings;
  graph_.set(parts, scores, settings);
  n_arcs_ = graph_.n_arcs();
  n_in_rows_ = graph_.rows.size();
  n_pairs_ = whole_packs(graph_.n_pairs());
  n_walks_ = graph_.steps() == nullptr ? 0 : n_arcs_;
  n_links_ = graph_.grand() ? n_arcs_ : 0;
  tree_.set(parts.n_words(), graph_.order().head, graph_.order().modifier, settings.trees,
            settings.root);
  in_first_.assign(at(n_pairs_), 0.0);
  in_second_.assign(at(n_pairs_), 0.0);
  both_.resize(at(n_pairs_));
  return tree_.possible(graph_.arc_scores.data());
}

LoopyRun::Row LoopyRun::row_at(double* begin) const {
  Row r{};
  if (n_in_rows_ > 0) r.in_rows = {begin, begin + n_in_rows_};
  r.to_first = begin + 2 * n_in_rows_;
  r.to_second = r.to_first + n_pairs_;
  r.to_modifier = r.to_second + n_pairs_;
  r.to_link = r.to_modifier + n_walks_;
  r.from_tree = r.to_link + n_links_;
  r.to_tree = r.from_tree + n_arcs_;
  r.marginals = r.to_tree + n_arcs_;
  r.totals = r.marginals + n_arcs_;
  return r;
}

PairRows::Messages LoopyRun::in_rows_before(Index iteration) {
  return iteration == 1 ? PairRows::Messages{} : row(iteration - 1).in_rows;
}

LoopyRun::Row LoopyRun::row(Index iteration) {
  return row_at(rows_.data() + (tape_ ? iteration : iteration % 2) * row_size());
}

void LoopyRun::forward(bool tape, double* residuals, Interruption& interruption) {
  tape_ = tape;
  const Index n_rows = tape ? settings_.iterations + 1 : 2;
  rows_.resize(at(n_rows * row_size()));
  for (Index i = 0; i < n_rows; ++i) graph_.rows.silence_gaps(row(i).in_rows);
  const Row start = row(0);
  std::fill(start.to_first, start.to_tree, 0.0);
  std::copy(graph_.arc_scores.begin(), graph_.arc_scores.end(), start.to_tree);
  std::copy(graph_.arc_scores.begin(), graph_.arc_scores.end(), start.totals);
  for (Index i = 1; i <= settings_.iterations; ++i) {
    iterate(i, residuals == nullptr ? nullptr : residuals + i - 1);
    interruption.poll();
  }
}

void LoopyRun::iterate(Index iteration, double* residual) {
  const Row old = row(iteration - 1), fresh = row(iteration);
  const double share = share_of_old(iteration);
  pair_messages(pair_inputs(old), fresh.to_first, fresh.to_second);
  const Start start = iteration == 1 ? Start::scores : Start::beliefs;
  if (graph_.steps() != nullptr) send_from_walks(old, fresh, start);
  const bool mixed = share > 0.0 || residual != nullptr;
  double change = mixed ? mix(n_messages(), old.to_first, share, fresh.to_first) : 0.0;
  add_up(fresh, fresh.to_tree);
  double of_rows = kForbidden;
  if (n_in_rows_ > 0) {
    const PairRows::Messages before = in_rows_before(iteration);
    graph_.rows.send(old.totals, before, fresh.in_rows, fresh.to_tree);
    if (mixed) of_rows = graph_.rows.largest_change(before, fresh.in_rows);
  }

  const Row& heard = settings_.parallel ? old : fresh;
  tree_log_partition_ =
      tree_.messages(heard.to_tree, graph_.certain(), fresh.marginals, fresh.from_tree);
  if (mixed) {
    const double of_tree = mix(n_arcs_, old.from_tree, share, fresh.from_tree);
    // Where only the tree speaks, nobody listens to its messages, and a change is none.
    if (n_messages() > 0 || of_rows >= 0.0) change = std::max({change, of_rows, of_tree});
  }
  if (residual != nullptr) *residual = change;
  for (Index a = 0; a < n_arcs_; ++a) fresh.totals[a] = fresh.to_tree[a] + fresh.from_tree[a];
}

// The score of every arc and all messages to it but the tree's.
void LoopyRun::add_up(const Row& messages, double* sums) const {
  std::copy(graph_.arc_scores.begin(), graph_.arc_scores.end(), sums);
  for (Index a = 0; a < n_walks_; ++a) sums[a] += messages.to_modifier[a];
  for (Index a = 0; a < n_links_; ++a) sums[a] += messages.to_link[a];
  for (Index i = 0; i < graph_.n_pairs(); ++i) {
    sums[graph_.first[at(i)]] += messages.to_first[i];
    sums[graph_.second[at(i)]] += messages.to_second[i];
  }
}

// What an arc tells a factor is all that it heard but from that factor (G15, Eq. 4).
PairInputs LoopyRun::pair_inputs(const Row& old) {
  for (Index i = 0; i < graph_.n_pairs(); ++i) {
    in_first_[at(i)] = old.totals[graph_.first[at(i)]] - old.to_first[i];
    in_second_[at(i)] = old.totals[graph_.second[at(i)]] - old.to_second[i];
  }
  return {graph_.n_pairs(), in_first_.data(), in_second_.data(), graph_.pair_scores.data()};
}

// log Z of a head's walks under what the arcs tell them. Walks choose one of the head's own heads,
// which exclude each other. The tree says so too, and saying it twice would count it twice: so here
// arcs tell the logarithms of probabilities, not of odds, and are told the same. Before the first
// iteration, the scores are such logarithms, up to a constant.
double LoopyRun::sum_head(Index head, const Row& old, Start start) {
  const ArcOrder& order = graph_.order();
  const Index begin = order.first[at(head)], k = order.first[at(head + 1)] - begin;
  in_arcs_.resize(at(k));
  for (Index j = 0; j < k; ++j) {
    in_arcs_[at(j)] = old.totals[begin + j] - old.to_modifier[begin + j];
  }
  in_links_.clear();
  if (graph_.grand() && head > 0) {
    const Index link = graph_.parts().first_link(head);
    for (Index c = 0; c < graph_.parts().links_of(head); ++c) {
      const Index arc = order.of_link[at(link + c)];
      const double total = old.totals[arc];
      in_links_.push_back(total - (start == Start::scores ? 0.0 : softplus(total)) -
                          old.to_link[arc]);
    }
  }
  return walks_.sum(steps_of(*graph_.steps(), head), in_arcs_.data(),
                    in_links_.empty() ? nullptr : in_links_.data());
}

// Messages to arcs that are forbidden, or that the tree has made certain, are of no consequence.
void LoopyRun::send_from_walks(const Row& old, const Row& fresh, Start start) {
  const ArcOrder& order = graph_.order();
  for (Index h = 0; h <= graph_.parts().n_words(); ++h) {
    const double log_partition = sum_head(h, old, start);
    const Index link = graph_.parts().first_link(h);
    const double total = log_sum(in_links_);
    for (std::size_t c = 0; c < in_links_.size(); ++c) {  // log P(c) less its share in the total
      fresh.to_link[order.of_link[at(link) + c]] =
          in_links_[c] == kForbidden ? 0.0 : walks_.log_walks()[c] - log_partition + total;
    }
    double* to_modifier = fresh.to_modifier + order.first[at(h)];
    const double* from_tree = old.from_tree + order.first[at(h)];
    bool sound = true;
    for (std::size_t j = 0; j < in_arcs_.size(); ++j) {
      const double ratio = walks_.taken()[j] / walks_.skipped()[j];
      const bool of_consequence = std::abs(from_tree[j]) != graph_.certain();
      sound = sound && (sound_odds(ratio) || !of_consequence);
      to_modifier[j] = of_consequence ? std::log(ratio) - in_arcs_[j] : 0.0;
    }
    if (!sound) mend_messages(h, to_modifier);
  }
}

// The messages of a head's walks again, in logarithms: what came in left no chance for some of the
// contrary.
void LoopyRun::mend_messages(Index head, double* to_modifier) {
  log_walks_.sum(steps_of(*graph_.steps(), head), in_arcs_.data(),
                 in_links_.empty() ? nullptr : in_links_.data());
  for (std::size_t j = 0; j < in_arcs_.size(); ++j) {
    to_modifier[j] =
        in_arcs_[j] == kForbidden
            ? 0.0
            : log_message(log_walks_.taken()[j], log_walks_.skipped()[j], graph_.certain());
  }
}

// log of the sum over a head's own heads of all that is known of them, as its walks tell it.
double LoopyRun::sum_of_links(Index head, const Row& last) {
  const Index link = graph_.parts().first_link(head);
  for (std::size_t c = 0; c < in_links_.size(); ++c) {
    in_links_[c] += last.to_link[graph_.order().of_link[at(link) + c]];
  }
  return in_links_.empty() ? 0.0 : log_sum(in_links_);
}

// log Z = sum over factors of log Z_factor, minus for every variable and factor but one the log of
// the variable's own sum; a variable's score is no factor here, but part of what it says.
double LoopyRun::beliefs(const PartValues<double>& answer) {
  const Row last = row(settings_.iterations);
  double log_partition = pair_beliefs(pair_inputs(last), both_.data());
  if (n_in_rows_ > 0) log_partition += beliefs_in_rows(last, answer);
  in_arcs_.resize(at(n_arcs_));
  sigmoids(last.totals, n_arcs_, in_arcs_.data());
  for (Index a = 0; a < n_arcs_; ++a) {
    if (const std::int32_t count = graph_.n_factors[at(a)]; count > 0) {
      log_partition -= count * softplus(last.totals[a]);
    }
  }
  graph_.write(in_arcs_.data(), both_.data(), answer);
  for (Index h = 0; graph_.steps() != nullptr && h <= graph_.parts().n_words(); ++h) {
    log_partition += sum_head(h, last, Start::beliefs) - sum_of_links(h, last);
    walks_.add_parts(*graph_.steps(), h, graph_.of_walks(answer));
  }
  graph_.clear_impossible(answer);
  if (settings_.parallel) {  // the tree has not heard the last messages
    tree_log_partition_ =
        tree_.messages(last.to_tree, graph_.certain(), last.marginals, last.from_tree);
  }
  return log_partition + tree_log_partition_;
}

// The part of the Bethe approximation that pairs in rows have; odds stay within their bounds.
double LoopyRun::beliefs_in_rows(const Row& last, const PartValues<double>& answer) {
  both_in_rows_.resize(at(n_in_rows_ + kPackWidth));
  double log_partition = graph_.rows.beliefs(last.totals, last.in_rows, both_in_rows_.data());
  graph_.rows.write(both_in_rows_.data(), answer);
  for (Index a = 0; a < n_arcs_; ++a) {
    const double log_odds =
        std::clamp(last.totals[a], -PairRows::kLargestLogOdds, PairRows::kLargestLogOdds);
    log_partition -= static_cast<double>(graph_.rows.n_pairs(a)) * softplus(log_odds);
  }
  return log_partition;
}

void LoopyRun::arc_beliefs(double* answer) {
  const Row last = row(settings_.iterations);
  in_arcs_.resize(at(n_arcs_));
  sigmoids(last.totals, n_arcs_, in_arcs_.data());
  graph_.write_arcs(in_arcs_.data(), answer);
}

}  // namespace arbora::inference
