// A two-tower model as a ranker: dot product of the query's and the document's
// vector (DSSM eq. 5), plus the sparse part of models that have one (SSI), or
// combined with the lexical part (lexical_part.h): what a server answers.
//
//   Memory   4 x embedding_dim bytes a document, and 8 bytes a distinct word of
//            it for a sparse part, 12 a distinct n-gram for a lexical part.
//   Threads  as Ranker.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_MODEL_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_MODEL_RANKER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/base/thread_pool.h"
#include "model/eval/rankers/ranker.h"
#include "model/nn/gemm.h"
#include "model/nn/lexical_part.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

class ModelRanker : public Ranker {
 public:
  // Embeds every document once, with the whole pool. `documents` are
  // normalised and need not outlive the call.
  // Without a lexical part all `parts` are the same.
  ModelRanker(std::shared_ptr<const TwoTowerModel> model,
              const std::vector<std::string>& documents, ThreadPool& pool,
              ModelParts parts = ModelParts::kBoth);

  std::string name() const override { return "model"; }
  std::size_t num_documents() const override { return num_documents_; }
  void ScoreAll(std::span<const std::string_view> queries,
                float* scores) const override;
  void ScoreSome(std::string_view query,
                 std::span<const std::uint32_t> documents,
                 std::span<float> scores) const override;

 private:
  // The lexical entries of all documents by bucket, so that all are scored in
  // the time that common buckets take.
  struct Postings {
    std::vector<std::uint32_t> offsets;  // [num_buckets + 1]
    std::vector<std::uint32_t> documents;
    std::vector<std::uint16_t> values;
  };

  void AddLexicalPart(const std::vector<std::string>& documents);
  // Both replace scores[i], the cosine of the dense parts, by the score of
  // parts_: for all documents, or for documents[i].
  void CombineAll(std::string_view query, std::span<float> scores) const;
  void CombineSome(std::string_view query,
                   std::span<const std::uint32_t> documents,
                   std::span<float> scores) const;
  // Row-major [queries.size(), embedding_dim].
  std::vector<float> EmbedQueries(
      std::span<const std::string_view> queries) const;
  // Adds the sparse part to scores[i] of document_at(i), which is a number
  // below num_documents_. Nothing for a model without it.
  template <typename DocumentAt>
  void AddSparseScores(std::string_view query, DocumentAt document_at,
                       std::span<float> scores) const;

  std::shared_ptr<const TwoTowerModel> model_;
  std::size_t num_documents_;
  std::vector<float> vectors_;  // row-major [num_documents_, embedding_dim]
  BagBatch words_;              // of the documents, for the sparse part
  const ModelParts parts_;
  LexicalBatch lexical_;  // of the documents
  Postings postings_;     // the same by bucket
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_MODEL_RANKER_H_
