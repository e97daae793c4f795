// ULM, the unigram language model with Dirichlet smoothing (row 2 of the CLSM
// paper's table 5; Zhai and Lafferty, ACM TOIS 22(2), 2004, table 1):
//
//   P(Q|D) = product over query words q, repeats counted, of
//            (c(q, D) + mu P(q|C)) / (|D| + mu)
//
// The score is log P(Q|D) - log P(Q|C) (dirichlet_lists.h).
//
// Left open by the CLSM paper: mu. Here 20 by default: on titles the best value
// was 3 on one collection and 300 on another (--tune=dirichlet_mu). Query words
// of no document have P(q|C) = 0 and are left out, as they would make every
// P(Q|D) 0.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_UNIGRAM_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_UNIGRAM_RANKER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/dirichlet_lists.h"
#include "model/eval/rankers/ranker.h"
#include "model/text/featurizer.h"

namespace semrank {

class UnigramRanker : public ListRanker {
 public:
  // `documents` are normalised and need not outlive the call. InvalidArgument
  // when no document has a word.
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

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_UNIGRAM_RANKER_H_
