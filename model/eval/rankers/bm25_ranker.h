// Okapi BM25 over words, the baseline of both papers:
//
//   sum over query words w, repeats counted, of
//     idf(w) * tf / (tf + k1 * (1 - b + b * length / mean length))
//   idf(w) = ln(1 + (N - n + 0.5) / (n + 0.5))
//
// with N documents, n of them containing w, tf the count of w in the document
// and lengths in words. The constant factor k1 + 1 of some texts is left out:
// it changes no order. An idf in this form is never negative.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_BM25_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_BM25_RANKER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/lexical_ranker.h"

namespace semrank {

struct Bm25Options {
  // How late repeats of a word stop counting; >= 0; 0 = at once.
  double k1 = 0.9;
  // How much long documents are penalised, in [0, 1].
  double b = 0.4;
};

class Bm25Ranker : public LexicalRanker {
 public:
  // `documents` are normalised and need not outlive the call. InvalidArgument
  // when no document has a word.
  static absl::StatusOr<std::unique_ptr<Bm25Ranker>> Create(
      const std::vector<std::string>& documents, const Bm25Options& options);

  std::string name() const override { return "bm25"; }

 private:
  Bm25Ranker(Featurizer featurizer, const std::vector<std::string>& documents,
             const Bm25Options& options);
  void WeighQuery(Bag bag) const override;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_BM25_RANKER_H_
