// From the key of a feature to the number of its row: open addressing over 32 bits of the key.
// Features that are not in the table have no row, so they add nothing; a stranger is taken for one
// of n features with probability n / 2^32.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arbora/base/multiversion.hpp"
#include "arbora/layers.hpp"

namespace arbora::tagging {

inline constexpr std::int32_t kNoRow = -1;

// The stored part of a key; 0 marks an empty place.
constexpr std::uint32_t short_key(std::uint64_t key) {
  const auto high = static_cast<std::uint32_t>(key >> 32U);
  return high == 0 ? 1U : high;
}

class KeyTable {
 public:
  KeyTable() : places_(1U << 4U) {}
  // Key i has row i; of equal keys the first counts.
  explicit KeyTable(std::span<const std::uint32_t> keys) : KeyTable() {
    while (places_.size() < 2 * keys.size() + 2) grow();
    for (std::size_t i = 0; i < keys.size(); ++i) put(keys[i], static_cast<std::int32_t>(i));
  }

  void prefetch(std::uint32_t key) const { ARBORA_PREFETCH(places_.data() + first(key)); }

  std::int32_t find(std::uint32_t key) const {
    for (std::size_t i = first(key);; i = (i + 1) & (places_.size() - 1)) {
      const Place& place = places_[i];
      if (place.key == key) return place.row;
      if (place.key == 0) return kNoRow;
    }
  }

  // The row of a key; new keys get the numbers 0, 1, ...
  std::int32_t insert(std::uint32_t key) {
    if (2 * (used_ + 1) > places_.size()) grow();
    return put(key, static_cast<std::int32_t>(used_));
  }

 private:
  struct Place {
    std::uint32_t key = 0;
    std::int32_t row = kNoRow;
  };

  std::size_t first(std::uint32_t key) const {
    return (static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL >> 24U) & (places_.size() - 1);
  }

  std::int32_t put(std::uint32_t key, std::int32_t row) {
    key = key == 0 ? 1U : key;
    for (std::size_t i = first(key);; i = (i + 1) & (places_.size() - 1)) {
      Place& place = places_[i];
      if (place.key == key) return place.row;
      if (place.key == 0) {
        place = {key, row};
        ++used_;
        return row;
      }
    }
  }

  void grow() {
    std::vector<Place> old(places_.size() * 2);
    std::swap(old, places_);
    used_ = 0;
    for (const Place& place : old) {
      if (place.key != 0) put(place.key, place.row);
    }
  }

  std::vector<Place> places_;
  std::size_t used_ = 0;
};

}  // namespace arbora::tagging
