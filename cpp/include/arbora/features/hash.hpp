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

// letter(i) is the i-th of `size` letters.
template <class Letter>
constexpr std::uint64_t hash_letters(std::size_t size, const Letter& letter) {
  std::uint64_t state = 0x2545f4914f6cdd1dULL + size;
  for (std::size_t i = 0; i < size; ++i) {
    state = (state ^ static_cast<unsigned char>(letter(i))) * kMix;
  }
  return mixed(state);
}

constexpr std::uint64_t hash_text(std::string_view text) {
  return hash_letters(text.size(), [&](std::size_t i) { return text[i]; });
}

// Tags in the name of a template have the letter p if they are fine, c if they are coarse: "hp" and
// "mp-1", "hc" and "mc-1". This is the i-th letter of the same name with coarse tags.
constexpr char coarse_letter(std::string_view name, std::size_t i) {
  const bool is_second = i == 1 || (i > 1 && name[i - 2] == ' ');
  const bool is_last = i + 1 == name.size() || name[i + 1] == ' ';
  const bool is_tag = is_second && (is_last || name[i + 1] == '-' || name[i + 1] == '+');
  return name[i] == 'p' && is_tag ? 'c' : name[i];
}

// A template is known by its name: the name's hash tells its features from those of others, so
// adding a template changes no other feature.
struct Template {
  std::string_view name;
  std::uint64_t hash;
  std::uint64_t coarse_hash;  // of the name with coarse tags
  bool is_coarse = false;

  consteval Template(const char* text)
      : name(text), hash(hash_text(text)), coarse_hash(hash_coarse(name)) {}

  constexpr bool has_fine_tags() const { return hash != coarse_hash; }

  // The same template over coarse tags.
  constexpr Template coarse() const {
    Template answer = *this;
    answer.hash = coarse_hash;
    answer.is_coarse = true;
    return answer;
  }
  std::string text() const {
    std::string answer(name);
    for (std::size_t i = 0; is_coarse && i < name.size(); ++i) answer[i] = coarse_letter(name, i);
    return answer;
  }

 private:
  static constexpr std::uint64_t hash_coarse(std::string_view name) {
    return hash_letters(name.size(), [&](std::size_t i) { return coarse_letter(name, i); });
  }
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
