// MRF, the sequential dependence model (row 8 of the CLSM paper's table 5;
// Metzler and Croft, SIGIR 2005, section 2, variant "sequential dependence"):
//
//   score(Q, D) = l_T sum over words q_i of              f_T(q_i, D)
//               + l_O sum over adjacent words q_i q_i+1 of f_O(q_i q_i+1, D)
//               + l_U sum over adjacent words q_i q_i+1 of f_U(q_i q_i+1, D)
//
//   f(x, D) = log [ (tf(x, D) + mu cf(x) / |C|) / (|D| + mu) ],  up to a
//             constant of the query (dirichlet_lists.h)
//
// tf counts for f_T the word; for f_O the two words side by side in this order
// (Indri's #1); for f_U both words within 8 words, in any order (#uw8).
//
// Left open by the CLSM paper: mu (as in unigram_ranker.h) and the weights,
// which it tunes by cross-validation. Default: l_T, l_O, l_U = .85, .10, .05,
// those of Indri's documentation for this model. #uw8 is counted here as pairs
// of positions less than 8 apart; Indri counts windows that do not overlap,
// which differs only where a word is repeated. A pair that no document has
// cannot change the order and is left out, and so is one with an unknown word.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_DEPENDENCE_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_DEPENDENCE_RANKER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "model/eval/rankers/dirichlet_lists.h"
#include "model/eval/rankers/ranker.h"
#include "model/text/featurizer.h"

namespace semrank {

struct DependenceOptions {
  // l_O and l_U, each >= 0, together at most 1; l_T is the rest.
  double ordered = 0.10;
  double unordered = 0.05;
};

class DependenceRanker : public ListRanker {
 public:
  // `documents` are normalised and need not outlive the call. InvalidArgument
  // when a weight is out of range or no document has a word.
  static absl::StatusOr<std::unique_ptr<DependenceRanker>> Create(
      const std::vector<std::string>& documents,
      const DependenceOptions& options, double mu);

  std::string name() const override { return "mrf"; }

 private:
  // Numbers pairs of words in order of their first appearance.
  using PairNumbers = absl::flat_hash_map<std::uint64_t, std::uint32_t>;
  static constexpr std::uint32_t kUnknownWord = ~0U;

  DependenceRanker(Featurizer words, const std::vector<std::string>& documents,
                   const DependenceOptions& options, double mu);
  void WordsOf(std::string_view text, std::vector<std::uint32_t>& words) const;
  void ScoreQuery(std::string_view query, float* scores) const override;

  Featurizer words_;
  DependenceOptions options_;
  PairNumbers ordered_pairs_;
  PairNumbers unordered_pairs_;
  DirichletLists word_lists_;
  DirichletLists ordered_lists_;
  DirichletLists unordered_lists_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_DEPENDENCE_RANKER_H_
