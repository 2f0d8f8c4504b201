#include "arbora/features/feature_counts.hpp"

#include <unordered_map>
#include <unordered_set>

namespace arbora::features {
namespace {

struct Counter {
  std::uint64_t sample;
  unsigned variant = kAnyVariant;
  std::unordered_set<std::uint64_t> seen{};
  std::unordered_map<std::uint64_t, std::size_t> places{};  // of templates, by their hash
  std::vector<FeatureCount> counts{};

  template <class... Atoms>
  void operator()(const Template& name, const Atoms&... atoms) {
    const std::uint64_t key = key_of(name, atoms...);
    if (is_new(key)) ++of(name).plain;
    if (is_new(key + variant * kMix)) ++of(name).twins;
  }
  template <class... Atoms>
  void alone(const Template& name, const Atoms&... atoms) {
    if (is_new(key_of(name, atoms...))) ++of(name).plain;
  }
  template <class... Atoms>
  void weighted(float, const Template& name, const Atoms&... atoms) {
    (*this)(name, atoms...);
  }

  bool is_new(std::uint64_t key) {
    const std::uint64_t hash = mixed(key);
    return hash % sample == 0 && seen.insert(hash).second;
  }
  FeatureCount& of(const Template& name) {
    const auto [found, added] = places.try_emplace(name.hash, counts.size());
    if (added) counts.push_back({name.text()});
    return counts[found->second];
  }
};

}  // namespace

std::vector<FeatureCount> count_features(const FeatureSet& set, const Encoded& encoded,
                                         const std::int32_t* heads, std::uint64_t sample) {
  Counter counter{sample};
  Between<std::uint64_t> between;
  for (Index i = 0; i < encoded.sentences(); ++i) {
    const Sentence<std::uint64_t> s = encoded[i];
    for (Index m = 1; m <= s.n_words; ++m) {
      for (Index h = 0; h <= s.n_words; ++h) {
        if (h == m || (heads != nullptr && heads[m - 1] != h)) continue;
        counter.variant = variant_of(h, m);
        end_templates(set, s, h, Role::head, counter);
        end_templates(set, s, m, Role::modifier, counter);
        between.fill(s, h, m);
        pair_templates(set, s, h, m, between, counter);
      }
    }
    if (heads != nullptr) heads += s.n_words;
  }
  return counter.counts;
}

}  // namespace arbora::features
