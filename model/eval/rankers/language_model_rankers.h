// Rankers by query likelihood with Dirichlet smoothing (Zhai and Lafferty, ACM
// TOIS 22(2), 2004): ULM, the unigram language model, and MRF, the sequential
// dependence model.
//
// The CLSM paper names neither mu nor MRF's weights. mu is 20 by
// default: on titles the best value was 3 on one collection and 300 on
// another (--tune=dirichlet_mu).
//
// The rankers take 8 bytes for each distinct feature of each document (words,
// for MRF also pairs of words) and 4 a document.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_LANGUAGE_MODEL_RANKERS_H_
#define SEMRANK_MODEL_EVAL_RANKERS_LANGUAGE_MODEL_RANKERS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/ranker.h"

namespace semrank {

// ULM (row 2 of the CLSM paper's table 5; Zhai and Lafferty, table 1):
//
//   P(Q|D) = product over query words q, repeats counted, of
//            (c(q, D) + mu P(q|C)) / (|D| + mu)
//
// The score is log P(Q|D) - log P(Q|C). Query words that no document has are
// ignored: their P(q|C) is 0 and would make every P(Q|D) 0.
//
// `documents` are normalised and need not outlive the call. InvalidArgument if
// no document has a word.
absl::StatusOr<std::unique_ptr<Ranker>> CreateUnigramRanker(
    const std::vector<std::string>& documents, double mu);

// The weights l_O and l_U of MRF, each >= 0 and together at most 1; l_T is the
// rest. The default values are those of Indri's documentation for this model.
struct DependenceOptions {
  // Words of the window of f_U.
  static constexpr int kWindow = 8;

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
//
// InvalidArgument as CreateUnigramRanker, and if a weight is out of range.
absl::StatusOr<std::unique_ptr<Ranker>> CreateDependenceRanker(
    const std::vector<std::string>& documents, const DependenceOptions& options,
    double mu);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_LANGUAGE_MODEL_RANKERS_H_
