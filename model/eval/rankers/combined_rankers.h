// Rankers that change the scores of other rankers: the sum of two, and
// names first.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_COMBINED_RANKERS_H_
#define SEMRANK_MODEL_EVAL_RANKERS_COMBINED_RANKERS_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/data/collection.h"
#include "model/eval/rankers/ranker.h"

namespace semrank {

// The weighted sum of two rankers, such as a semantic model and exact
// word matches.
//
//   score = first + weight * second / best
//
// where `best` is the second ranker's highest score for the query over all
// documents. The scores of BM25 have no fixed range, those of a cosine have,
// and one weight must suit short and long queries. If the second ranker finds
// nothing, the score is the first ranker's.
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

// A ranker that ranks documents above all others if the query is their name, as
// the server's catalog search does (model/text/name_match.h).
//
// These documents get scores above 1 and above the best of the ranker, in order
// of name match and then of the ranker's score. The scores differ by the
// smallest step of a float.
class NameMatchRanker : public Ranker {
 public:
  // `ranker` was made for the documents of `collection`, which outlives this.
  NameMatchRanker(std::unique_ptr<const Ranker> ranker,
                  const Collection& collection);

  std::string name() const override { return ranker_->name() + "+name_match"; }
  std::size_t num_documents() const override {
    return ranker_->num_documents();
  }
  void ScoreAll(std::span<const std::string_view> queries,
                float* scores) const override;

 private:
  void Boost(std::string_view query, std::span<float> scores) const;

  std::unique_ptr<const Ranker> ranker_;
  std::vector<std::string> ids_;  // as names
  std::vector<std::string> titles_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_COMBINED_RANKERS_H_
