// A ranker that ranks documents above all others if the query is their name, as
// the server's catalog search does (model/text/name_match.h).
//
// These documents get scores above 1 and above the best of the ranker, in order
// of name match and then of the ranker's score. The scores differ by the
// smallest step of a float.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_NAME_MATCH_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_NAME_MATCH_RANKER_H_

#include <memory>
#include <string>
#include <vector>

#include "model/data/collection.h"
#include "model/eval/rankers/ranker.h"

namespace semrank {

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
  void Lift(std::string_view query, std::span<float> scores) const;

  std::unique_ptr<const Ranker> ranker_;
  const Collection& collection_;
  std::vector<std::string> normalized_ids_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_NAME_MATCH_RANKER_H_
