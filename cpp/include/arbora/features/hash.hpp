// From text to atoms (64 well-mixed bits), from atoms to the key of a feature.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "arbora/layers.hpp"

namespace arbora::features {

inline constexpr std::uint64_t kMix = 0x9fb21c651e98df25ULL;

constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 32)) * kMix;
  z = (z ^ (z >> 29)) * 0xd6e8feb86659fd93ULL;
  return z ^ (z >> 32);
}

constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t state = 0x2545f4914f6cdd1dULL + text.size();
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * kMix;
  return mixed(state);
}

// A template is known by its name: the name's hash tells its features from those of others, so
// adding a template changes no other feature.
struct Template {
  std::string_view name;
  std::uint64_t hash;

  consteval Template(const char* text) : name(text), hash(hash_text(text)) {}
};

// An atom with the text it came from, for explanations.
struct NamedAtom {
  std::uint64_t hash = 0;
  std::string text;
};

constexpr std::uint64_t hash_of(std::uint64_t atom) { return atom; }
inline std::uint64_t hash_of(const NamedAtom& atom) { return atom.hash; }

// The atom of a word that is hidden while learning: features that see it do not fire.
inline constexpr std::uint64_t kHidden = 0x5bd1e995a7c3f10dULL;
template <class... Atoms>
inline bool sees_hidden(const Atoms&... atoms) {
  return ((hash_of(atoms) == kHidden) || ...);
}

// Each place in a template has a multiplier of its own, so that swapping atoms makes another key.
inline constexpr std::uint64_t kPlaces[] = {0x9e3779b97f4a7c15ULL, 0xc2b2ae3d27d4eb4fULL,
                                            0x165667b19e3779f9ULL, 0xff51afd7ed558ccdULL,
                                            0xd1342543de82ef95ULL, 0xaf251af3b0f025b5ULL};

template <class... Atoms>
inline std::uint64_t key_of(const Template& of, const Atoms&... atoms) {
  static_assert(sizeof...(atoms) <= std::size(kPlaces));
  std::uint64_t sum = of.hash;
  [[maybe_unused]] int place = 0;
  ((sum += hash_of(atoms) * kPlaces[place++]), ...);
  // Without this, two words whose hashes are close would share the slots of all their features.
  return (sum ^ (sum >> 31)) * kMix;
}

}  // namespace arbora::features
