#include "model/eval/rankers/unigram_ranker.h"

#include <utility>

#include "model/base/status_macros.h"
#include "model/eval/rankers/word_features.h"

namespace semrank {

absl::StatusOr<std::unique_ptr<UnigramRanker>> UnigramRanker::Create(
    const std::vector<std::string>& documents, double mu) {
  SEMRANK_ASSIGN_OR_RETURN(Featurizer words,
                           WordFeatures("unigram model", documents));
  return std::unique_ptr<UnigramRanker>(
      new UnigramRanker(std::move(words), documents, mu));
}

UnigramRanker::UnigramRanker(Featurizer words,
                             const std::vector<std::string>& documents,
                             double mu)
    : ListRanker(documents.size()), words_(std::move(words)) {
  BagBatch counts;
  for (const std::string& document : documents) {
    words_.AppendBag(document, counts);
  }
  lists_ = DirichletLists(words_.num_features(), std::move(counts),
                          LengthsInWords(documents), mu);
}

void UnigramRanker::ScoreQuery(std::string_view query, float* scores) const {
  BagBatch bag;
  // Query words of no document are not features, and so are left out.
  words_.AppendBag(query, bag);
  lists_.AddScores(bag.indices, bag.counts, /*weight=*/1, scores);
}

}  // namespace semrank
