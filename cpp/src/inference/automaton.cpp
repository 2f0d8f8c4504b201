#include "arbora/inference/automaton.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "arbora/tree/part_index.hpp"

namespace arbora::inference {
namespace {

struct Best {
  double value = kForbidden;
  Index from = 0;  // (place, state) as place * S + state

  void offer(double other, Index other_from) {
    if (other >= value) *this = {other, other_from};  // of equals the nearest
  }
};

}  // namespace

Automaton::Automaton(Index n_states, Index n_modifiers, std::vector<double> numbers)
    : n_states_(n_states), n_modifiers_(n_modifiers), numbers_(std::move(numbers)) {
  if (static_cast<Index>(numbers_.size()) != n_states * (2 + n_modifiers * n_states)) {
    throw std::invalid_argument("an automaton has the wrong size");
  }
}

double Automaton::most() const {
  double most = 0.0;
  for (const double x : numbers_) {
    if (x != kForbidden) most = std::max(most, std::abs(x));
  }
  return most;
}

double Automaton::best(const double* pairs, const double* arcs, std::int32_t* from) const {
  const Index states = n_states_, k = n_modifiers_;
  std::vector<double> value(at((k + 1) * states));  // by place (0 is START) and state
  std::vector<Index> before(value.size());
  std::vector<Best> reached(at(states));  // without pairs: the best at a state so far
  for (Index s = 0; s < states; ++s) {
    value[at(s)] = initial(s);
    reached[at(s)].offer(initial(s), s);
  }
  // The best walk to state s before `next`.
  const auto arrive = [&](Index next, Index s) {
    if (pairs == nullptr) return reached[at(s)];
    Best best;
    const double* row = pairs + sibling_pair(0, next);
    for (Index previous = 0; previous <= next; ++previous) {
      best.offer(value[at(previous * states + s)] + row[previous], previous * states + s);
    }
    return best;
  };
  std::vector<Best> arrivals(at(states));
  for (Index next = 0; next < k; ++next) {
    for (Index s = 0; s < states; ++s) arrivals[at(s)] = arrive(next, s);
    for (Index t = 0; t < states; ++t) {
      Best best;
      for (Index s = 0; s < states; ++s) {
        best.offer(arrivals[at(s)].value + step(next, s, t), arrivals[at(s)].from);
      }
      const Index here = (next + 1) * states + t;
      value[at(here)] = best.value + arcs[next];
      before[at(here)] = best.from;
      reached[at(t)].offer(value[at(here)], here);
    }
  }
  Best end;
  for (Index s = 0; s < states; ++s) {
    const Best best = arrive(k, s);
    end.offer(best.value + final(s), best.from);
  }
  std::fill(from, from + k + 1, 0);
  Index here = end.from;
  from[k] = static_cast<std::int32_t>(here / states);
  for (; here >= states; here = before[at(here)]) {
    from[here / states - 1] = static_cast<std::int32_t>(before[at(here)] / states);
  }
  return end.value;
}

double Automaton::score(const std::uint8_t* chosen) const {
  std::vector<double> value(at(n_states_)), moved(value);
  for (Index s = 0; s < n_states_; ++s) value[at(s)] = initial(s);
  for (Index j = 0; j < n_modifiers_; ++j) {
    if (chosen[j] == 0) continue;
    std::fill(moved.begin(), moved.end(), kForbidden);
    for (Index s = 0; s < n_states_; ++s) {
      for (Index t = 0; t < n_states_; ++t) {
        moved[at(t)] = std::max(moved[at(t)], value[at(s)] + step(j, s, t));
      }
    }
    std::swap(value, moved);
  }
  double best = kForbidden;
  for (Index s = 0; s < n_states_; ++s) best = std::max(best, value[at(s)] + final(s));
  return best;
}

}  // namespace arbora::inference
