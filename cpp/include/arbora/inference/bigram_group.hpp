// One factor over all arcs: head bigrams, as a chain over the words in which each word takes one of
// its possible heads (Martins et al. 2013).
//
// The heads of a word exclude each other. As with the links of walk_group.hpp, arcs therefore send
// and receive logarithms of probabilities. Two neighbours that are each other's head are forbidden:
// if they scored 0, a constant in the scores of all other pairs would change their probability.
#pragma once

#include "arbora/inference/factor_group.hpp"
#include "arbora/inference/head_chain.hpp"

namespace arbora::inference {

class BigramGroup final : public FactorGroup {
 public:
  bool set(const ArcVariables& arcs, const PartScores& scores,
           const LoopySettings& settings) override;
  void add_bounds(double* sizes) const override;
  Index n_messages() const override { return arcs_->size(); }
  double send(const Incoming& in, const double* old, const Mixing& mixing, double* fresh,
              double* sums) override;
  void send_back(const Incoming& in, const double* old, double share_of_old, const double* d_sums,
                 const GroupGradients& gradients) override;
  double beliefs(const Incoming& in, const double* last, const PartValues<double>& answer) override;
  void beliefs_back(const Incoming& in, const double* last, const PartScores& d_beliefs,
                    const GroupGradients& gradients) override;

 private:
  Index arc(Index state) const {
    return arcs_->order().of_link[static_cast<std::size_t>(state + 1)];
  }
  // log of the sum over the chain under the incoming messages.
  double sum(const Incoming& in, const double* old);
  // log-sum of the incoming messages of a word's heads, plus `more` for each, which may be null.
  double sum_of_word(Index word, const double* more) const;
  void start_gradients();
  void add_gradients(const Incoming& in, const GroupGradients& gradients);

  const ArcVariables* arcs_ = nullptr;
  HeadChain chain_;
  std::vector<double> scores_;  // of pairs, -inf for cycles
  std::vector<double> in_;      // incoming messages, by state
  HeadChain::Gradients d_logs_;
  std::vector<double> d_in_;
};

}  // namespace arbora::inference
