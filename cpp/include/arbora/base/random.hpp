// Random numbers keyed by (seed, sentence, draw): every draw has its own stream, so answers do not
// depend on the order of work or on the number of threads.
#pragma once

#include <cstdint>

#include "arbora/layers.hpp"

namespace arbora::base {

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t sentence, std::uint64_t draw)
      : state_(mixed(mixed(mixed(seed) ^ sentence) ^ draw)) {}

  // Uniform on [0, 1), 53 bits.
  double uniform() {
    state_ += kGolden;
    return static_cast<double>(finish(state_) >> 11) * 0x1.0p-53;
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

  // The output function of SplitMix64 (Steele, Lea & Flood 2014).
  static std::uint64_t finish(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  static std::uint64_t mixed(std::uint64_t z) { return finish(z + kGolden); }

  std::uint64_t state_;
};

}  // namespace arbora::base
