#include "arbora/inference/arc_variables.hpp"

#include <algorithm>
#include <cmath>

#include "arbora/inference/log_odds.hpp"

namespace arbora::inference {

void ArcVariables::set(const PartIndex& parts, const double* table) {
  parts_ = &parts;
  order_.set(parts);
  scores.resize(static_cast<std::size_t>(size()));
  for (Index a = 0; a < size(); ++a) scores[static_cast<std::size_t>(a)] = table[order_.cell(a)];
}

void ArcVariables::bound(const std::vector<double>& sizes) {
  certain_ = 0.0;
  for (std::size_t a = 0; a < scores.size(); ++a) {
    const double own = scores[a] == kForbidden ? 0.0 : std::abs(scores[a]);
    certain_ = std::max(certain_, own + sizes[a]);
  }
  certain_ += kNothing;
}

void ArcVariables::read(const double* table, double* of_arcs) const {
  for (Index a = 0; a < size(); ++a) {
    if (possible(a)) of_arcs[a] = table[order_.cell(a)];
  }
}

void ArcVariables::write(const double* of_arcs, double* table) const {
  for (Index a = 0; a < size(); ++a) table[order_.cell(a)] = possible(a) ? of_arcs[a] : 0.0;
}

}  // namespace arbora::inference
