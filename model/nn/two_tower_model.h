// A trained model, ready to use: a featurizer and a tower for each side, which
// may be the same tower. The score of a pair is the dot product of the two
// vectors, plus the sparse part if the model has one, or combined with the
// cosine of the lexical parts if it has those.
//
//   Threads  thread-safe; each thread uses its own scratch.
#ifndef SEMRANK_MODEL_NN_TWO_TOWER_MODEL_H_
#define SEMRANK_MODEL_NN_TWO_TOWER_MODEL_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/nn/lexical_part.h"
#include "model/nn/row_format.h"
#include "model/nn/sparse_scorer.h"
#include "model/nn/tower.h"
#include "model/text/featurizer.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

enum class Side { kQuery, kDocument };

// Where a model came from. `identity` is the SHA-256 of the manifest, in hex,
// and what else its vectors depend on: equal identity = equal vectors, so
// caches key on it. `weights_sha256` is that of weights.safetensors alone, in
// hex; empty for a model made in memory.
struct ModelVersion {
  std::string name;
  std::int64_t version = 0;
  std::string identity;
  std::string weights_sha256 = {};
  // The precision that its vectors are rounded to.
  VectorPrecision vector_precision = VectorPrecision::kFloat32;
};

// Memory that EmbedTexts reuses between calls. Not thread-safe.
struct EmbedScratch {
  TowerInput input;
  TowerScratch tower;
};

// The part of a score that compares words and n-grams, beside the dot product.
// A model has at most one of the two.
struct TermScorers {
  std::shared_ptr<const SparseScorer> sparse_scorer = nullptr;
  std::shared_ptr<const LexicalPart> lexical = nullptr;
};

class TwoTowerModel {
 public:
  // InvalidArgument when the features or dimensions of the parts do not match.
  // Without `words` the score is the dot product alone.
  static absl::StatusOr<std::shared_ptr<const TwoTowerModel>> Create(
      ModelVersion version, v1::ModelConfig config, Featurizer featurizer,
      std::shared_ptr<const Tower> query_tower,
      std::shared_ptr<const Tower> document_tower, TermScorers words = {});

  const ModelVersion& version() const { return version_; }
  const v1::ModelConfig& config() const { return config_; }
  const Featurizer& featurizer() const { return featurizer_; }
  // The rules by which its texts are normalised.
  int normalizer_version() const { return featurizer_.normalizer_version(); }
  const Tower& tower(Side side) const;
  // 0: vectors have no elements, and the sparse part is the whole score.
  int embedding_dim() const { return query_tower_->embedding_dim(); }
  // The format that stores its vectors without loss.
  RowFormat row_format() const {
    return {embedding_dim(), version_.vector_precision};
  }
  // Null for a model without a sparse part.
  const SparseScorer* sparse_scorer() const {
    return words_.sparse_scorer.get();
  }
  // Null for a model without a lexical part.
  const LexicalPart* lexical() const { return words_.lexical.get(); }

  // Vectors of normalised texts, row-major [texts.size(), embedding_dim()],
  // with the promises of Tower. In bfloat16 their length is 1 within 2^-8.
  void EmbedTexts(Side side, std::span<const std::string_view> normalized_texts,
                  EmbedScratch& scratch, float* vectors) const;

  // Replaces `bags` by the tf-idf bags of normalised texts that
  // sparse_scorer(), which must not be null, scores.
  void WeighTexts(std::span<const std::string_view> normalized_texts,
                  BagBatch& bags) const;

 private:
  TwoTowerModel(ModelVersion version, v1::ModelConfig config,
                Featurizer featurizer, std::shared_ptr<const Tower> query_tower,
                std::shared_ptr<const Tower> document_tower, TermScorers words);

  ModelVersion version_;
  v1::ModelConfig config_;
  Featurizer featurizer_;
  std::shared_ptr<const Tower> query_tower_;
  std::shared_ptr<const Tower> document_tower_;
  TermScorers words_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_TWO_TOWER_MODEL_H_
