// The weighted sum of two rankers, such as a semantic model and exact word
// matches.
//
//   score = first + weight * second / best
//
// where `best` is the second ranker's highest score for the query over all
// documents. The scores of BM25 have no fixed range, those of a cosine have,
// and one weight must suit short and long queries. If the second ranker finds
// nothing, the score is the first ranker's.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_HYBRID_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_HYBRID_RANKER_H_

#include <memory>
#include <string>

#include "model/eval/rankers/ranker.h"

namespace semrank {

class HybridRanker : public Ranker {
 public:
  // Both rankers were made for the same documents; `weight` is finite, >= 0.
  HybridRanker(std::unique_ptr<const Ranker> first,
               std::unique_ptr<const Ranker> second, double weight);

  // "model+bm25".
  std::string name() const override;
  std::size_t num_documents() const override { return first_->num_documents(); }
  void ScoreAll(std::span<const std::string_view> queries,
                float* scores) const override;
  // `best` is still the highest score over all documents, so that a document's
  // score does not depend on the other candidates.
  void ScoreSome(std::string_view query,
                 std::span<const std::uint32_t> documents,
                 std::span<float> scores) const override;

 private:
  // The factor on the second ranker's scores, given all of them.
  float FactorOf(std::span<const float> second_scores) const;

  std::unique_ptr<const Ranker> first_;
  std::unique_ptr<const Ranker> second_;
  float weight_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_HYBRID_RANKER_H_
