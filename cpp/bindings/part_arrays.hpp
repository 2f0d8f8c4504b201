// Scores of parts at the border: five flat arrays, empty where the model lacks the kind.
#pragma once

#include "arbora/tree/part_index.hpp"
#include "arrays.hpp"

namespace arbora::bindings {

template <class Number, class Array>
PartValues<Number> checked_values(const PartBatch& parts, const Array& arcs,
                                  const Array& consecutive, const Array& siblings,
                                  const Array& grandparents, const Array& grandsiblings) {
  const PartBatch::Place& all = parts.place(parts.size());
  check_count(arcs.size(), all.cells, "arcs");
  check_count(consecutive.size(), all.consecutive, "consecutive");
  check_count(siblings.size(), all.siblings, "siblings");
  check_count(grandparents.size(), all.grandparents, "grandparents");
  check_count(grandsiblings.size(), all.grandsiblings, "grandsiblings");
  const PartKinds kinds = parts.kinds();
  return {arcs.data(), kinds.consecutive ? consecutive.data() : nullptr,
          kinds.siblings ? siblings.data() : nullptr,
          kinds.grandparents ? grandparents.data() : nullptr,
          kinds.grandsiblings ? grandsiblings.data() : nullptr};
}

inline PartScores part_scores(const PartBatch& parts, const Input<double>& arcs,
                              const Input<double>& consecutive, const Input<double>& siblings,
                              const Input<double>& grandparents,
                              const Input<double>& grandsiblings) {
  return checked_values<const double>(parts, arcs, consecutive, siblings, grandparents,
                                      grandsiblings);
}

inline PartValues<double> part_values(const PartBatch& parts, const InOut<double>& arcs,
                                      const InOut<double>& consecutive,
                                      const InOut<double>& siblings,
                                      const InOut<double>& grandparents,
                                      const InOut<double>& grandsiblings) {
  return checked_values<double>(parts, arcs, consecutive, siblings, grandparents, grandsiblings);
}

}  // namespace arbora::bindings
