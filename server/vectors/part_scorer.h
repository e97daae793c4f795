// Scores the documents of one query by the parts of their vectors that a
// request asks for, from the cosines of the dense and of the lexical parts.
// Without a lexical part the dense part is the score, and for SSI the words'
// share is added.
//
//   Promise  the same bits as Rank: alone, in any batch, in any thread.
//   Threads  a PartScorer is const after Begin; AddSparseScores is thread-safe.
#ifndef SEMRANK_SERVER_VECTORS_PART_SCORER_H_
#define SEMRANK_SERVER_VECTORS_PART_SCORER_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/nn/lexical_part.h"
#include "model/nn/lexical_query.h"
#include "model/nn/two_tower_model.h"
#include "server/vectors/text_batch.h"

namespace semrank {

// The parts that a request asks for.
struct PartsWanted {
  ModelParts parts = ModelParts::kBoth;
  bool with_parts = false;  // the cosine of each part beside the score
};

// Returns InvalidArgument for parts that `model` does not have. `parts` may be
// any number, because clients send it.
absl::Status CheckParts(const TwoTowerModel& model, ModelParts parts);

// The cosines of the parts, parallel to scores. Empty unless requested, and for
// a part that the model does not have.
struct PartScores {
  std::vector<float> semantic;
  std::vector<float> lexical;

  void Clear() {
    semantic.clear();
    lexical.clear();
  }
};

class PartScorer {
 public:
  // Prepares a query by its lexical entries, of which there are none if the
  // model has no lexical part. `model` must outlive the scorer; `wanted` must
  // have passed CheckParts.
  void Begin(const TwoTowerModel& model, const PartsWanted& wanted,
             std::span<const LexicalEntry> query);

  // Whether Score reads the cosines of the lexical parts.
  bool needs_lexical() const { return needs_lexical_; }

  // Replaces scores[i], the cosine of the dense parts of the query and document
  // i, by the score. Appends the cosines to `kept` if `wanted` asks for them.
  // `lexical` has the cosines of the lexical parts, if needs_lexical().
  void Score(std::span<const float> lexical, std::span<float> scores,
             PartScores& kept) const;

  // The cosine of the lexical parts of the query and a normalised title.
  float LexicalCosineOf(std::string_view title) const;

  // The score of these cosines.
  float Combine(float semantic, float lexical) const;

  // The prepared query; only if needs_lexical().
  const LexicalQuery& query() const { return *query_; }

 private:
  const TwoTowerModel* model_ = nullptr;
  PartsWanted wanted_;
  bool needs_lexical_ = false;
  // Only the first Begin that needs it creates it, because it allocates.
  std::optional<LexicalQuery> query_;
};

// Adds the part of the score that comes from the words of both texts, for
// models that have one (SSI), to scores[i] of titles[i], all normalised. Each
// thread keeps 4 bytes a word of the vocabulary.
void AddSparseScores(const TwoTowerModel& model, std::string_view query,
                     const TextBatch& titles, std::span<float> scores);

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_PART_SCORER_H_
