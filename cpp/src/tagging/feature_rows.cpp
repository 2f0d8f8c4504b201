#include "arbora/tagging/feature_rows.hpp"

namespace arbora::tagging {

ARBORA_MULTIVERSION
void add_rows(const float* const* rows, std::size_t count, Index width, double* sums) {
  for (std::size_t k = 0; k < count; ++k) {
    const float* row = rows[k];
    for (Index i = 0; i < width; ++i) sums[i] += static_cast<double>(row[i]);
  }
}

}  // namespace arbora::tagging
