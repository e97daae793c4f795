// The scores of one query's documents by the parts of their vectors that a
// request asks for, from the cosines of the dense and of the lexical parts. For
// a model without a lexical part the dense part is all, and for SSI the words'
// share comes on top.
//
//   Promise  as Rank's: the same bits alone, in any batch, in any thread.
//   Threads  a PartScorer is const after Begin, so thread-safe then;
//            AddSparseScores from any thread.
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

// Which parts a request asks for.
struct PartsWanted {
  Parts parts = Parts::kBoth;
  bool with_parts = false;  // the cosine of each part beside the score
};

// InvalidArgument for parts that `model` does not have. `parts` may be any
// number that came over the wire.
absl::Status CheckParts(const TwoTowerModel& model, Parts parts);

// The cosines of the parts, parallel to scores. Empty when they were not asked
// for, and of a part that the model does not have.
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
  // Prepares a query, given as its lexical entries; none for a model without
  // that part.
  // `model` must outlive the scorer; `wanted` has passed CheckParts.
  void Begin(const TwoTowerModel& model, const PartsWanted& wanted,
             std::span<const LexicalEntry> query);

  // Whether Score reads the cosines of the lexical parts.
  bool needs_lexical() const { return needs_lexical_; }

  // Replaces scores[i], the cosine of the dense parts of the query and document
  // i, by the score; appends the cosines to `kept` if they are wanted.
  // `lexical` holds those of the lexical parts, if needs_lexical().
  void Score(std::span<const float> lexical, std::span<float> scores,
             PartScores& kept) const;

  // The cosine of the lexical parts of the query and a normalised title.
  float LexicalCosineOf(std::string_view title) const;

  // What the cosines of the parts come to in the score.
  float Combine(float semantic, float lexical) const;

  // The prepared query; only if needs_lexical().
  const LexicalQuery& query() const { return *query_; }

 private:
  const TwoTowerModel* model_ = nullptr;
  PartsWanted wanted_;
  bool needs_lexical_ = false;
  // Made by the first Begin that needs it: it allocates.
  std::optional<LexicalQuery> query_;
};

// The part of a score that comes from the words of both texts, for models that
// have one (SSI): added to scores[i] of titles[i], all normalised. Does nothing
// for a model whose vectors are all of the score. Each thread keeps its memory,
// 4 bytes a word of the vocabulary.
void AddSparseScores(const TwoTowerModel& model, std::string_view query,
                     const TextBatch& titles, std::span<float> scores);

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_PART_SCORER_H_
