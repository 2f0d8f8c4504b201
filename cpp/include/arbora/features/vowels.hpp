// Words without the differences between their vowels, which endings have by vowel harmony.
#pragma once

#include <string_view>

#include "arbora/layers.hpp"

namespace arbora::features {

// Vowels of the Latin script in small letters, with and without accents.
inline bool is_vowel(char32_t letter) {
  constexpr std::u32string_view kVowels = U"aeiouyáàâäãåāăąæéèêëēėęěíìîïīįıóòôöõōőøœúùûüūůűųýÿ";
  return kVowels.find(letter) != std::u32string_view::npos;
}

// The letter, or `a` for any vowel.
inline char32_t skeleton_letter(char32_t letter) { return is_vowel(letter) ? U'a' : letter; }

}  // namespace arbora::features
