// Okapi BM25 over words, the baseline of both papers:
//
//   sum over query words w, repeats counted, of
//     idf(w) * tf / (tf + k1 * (1 - b + b * length / mean length))
//   idf(w) = ln(1 + (N - n + 0.5) / (n + 0.5))
//
// where n of the N documents contain w, tf is the count of w in the document
// and lengths are in words. Some texts have a constant factor k1 + 1, which
// changes no order and is omitted here. An idf in this form is never negative.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_BM25_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_BM25_RANKER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/ranker.h"

namespace semrank {

struct Bm25Options {
  // How late repeats of a word stop counting; >= 0; 0 = at once.
  double k1 = 0.9;
  // How much long documents are penalised, in [0, 1].
  double b = 0.4;
};

// `documents` are normalised and need not outlive the call. InvalidArgument if
// no document has a word.
absl::StatusOr<std::unique_ptr<Ranker>> CreateBm25Ranker(
    const std::vector<std::string>& documents, const Bm25Options& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_BM25_RANKER_H_
