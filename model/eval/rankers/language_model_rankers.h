// Rankers by query likelihood with Dirichlet smoothing (dirichlet_lists.h):
// ULM, the unigram language model, and MRF, the sequential dependence model.
//
// The CLSM paper names neither mu nor MRF's weights. mu is 20 by default: on
// titles the best value was 3 on one collection and 300 on another
// (--tune=dirichlet_mu).
#ifndef SEMRANK_MODEL_EVAL_RANKERS_LANGUAGE_MODEL_RANKERS_H_
#define SEMRANK_MODEL_EVAL_RANKERS_LANGUAGE_MODEL_RANKERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "model/eval/rankers/dirichlet_lists.h"
#include "model/eval/rankers/ranker.h"
#include "model/text/featurizer.h"

namespace semrank {

// ULM (row 2 of the CLSM paper's table 5; Zhai and Lafferty, ACM TOIS 22(2),
// 2004, table 1):
//
//   P(Q|D) = product over query words q, repeats counted, of
//            (c(q, D) + mu P(q|C)) / (|D| + mu)
//
// The score is log P(Q|D) - log P(Q|C). Query words that no document has are
// ignored: their P(q|C) is 0 and would make every P(Q|D) 0.
class UnigramRanker : public ListRanker {
 public:
  // `documents` are normalised and need not outlive the call. InvalidArgument
  // if no document has a word.
  static absl::StatusOr<std::unique_ptr<UnigramRanker>> Create(
      const std::vector<std::string>& documents, double mu);

  std::string name() const override { return "ulm"; }

 private:
  UnigramRanker(Featurizer words, const std::vector<std::string>& documents,
                double mu);
  void ScoreQuery(std::string_view query, float* scores) const override;

  Featurizer words_;
  DirichletLists lists_;
};

// l_O and l_U of DependenceRanker, each >= 0 and together at most 1; l_T is the
// rest. The default values are those of Indri's documentation for this model.
struct DependenceOptions {
  double ordered = 0.10;
  double unordered = 0.05;
};

// MRF (row 8 of the CLSM paper's table 5; Metzler and Croft, SIGIR 2005,
// section 2, variant "sequential dependence"):
//
//   score(Q, D) = l_T sum over words q_i of              f_T(q_i, D)
//               + l_O sum over adjacent words q_i q_i+1 of f_O(q_i q_i+1, D)
//               + l_U sum over adjacent words q_i q_i+1 of f_U(q_i q_i+1, D)
//
//   f(x, D) = log [ (tf(x, D) + mu cf(x) / |C|) / (|D| + mu) ],  up to a
//             constant of the query
//
// tf counts the word for f_T, the two words side by side in this order for f_O
// (Indri's #1), and both words within 8 words in any order for f_U (#uw8).
//
// Here #uw8 counts pairs of positions less than 8 apart. Indri counts windows
// that do not overlap, which differs only where a word is repeated. A pair that
// no document has cannot change the order and is ignored, as is one with an
// unknown word.
class DependenceRanker : public ListRanker {
 public:
  // `documents` are normalised and need not outlive the call. InvalidArgument
  // if a weight is out of range or no document has a word.
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

#endif  // SEMRANK_MODEL_EVAL_RANKERS_LANGUAGE_MODEL_RANKERS_H_
