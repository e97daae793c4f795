#include "model/nn/two_tower_model.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

absl::Status CheckTower(std::string_view side, const Tower* tower,
                        int num_features) {
  if (tower == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the %s tower is missing", side));
  }
  if (tower->num_features() != num_features) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the %s tower takes %d features, but the vocabularies have %d", side,
        tower->num_features(), num_features));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TwoTowerModel>> TwoTowerModel::Create(
    ModelVersion version, v1::ModelConfig config, Featurizer featurizer,
    std::shared_ptr<const Tower> query_tower,
    std::shared_ptr<const Tower> document_tower, TermScorers words) {
  const int num_features = featurizer.num_features();
  SEMRANK_RETURN_IF_ERROR(CheckTower("query", query_tower.get(), num_features));
  SEMRANK_RETURN_IF_ERROR(
      CheckTower("document", document_tower.get(), num_features));
  // Vectors of different dimensions have no dot product.
  if (query_tower->embedding_dim() != document_tower->embedding_dim()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the query tower gives %d dimensions and the document tower %d",
        query_tower->embedding_dim(), document_tower->embedding_dim()));
  }
  const SparseScorer* const sparse = words.sparse_scorer.get();
  if (sparse != nullptr && sparse->num_words() != num_features) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the sparse part takes %d words, but the vocabulary has %d",
        sparse->num_words(), num_features));
  }
  // Both compare words; a score has one place for either.
  if (sparse != nullptr && words.lexical != nullptr) {
    return absl::InvalidArgumentError(
        "a model has a sparse part or a lexical part, not both");
  }
  // make_shared cannot reach the private constructor.
  return std::shared_ptr<const TwoTowerModel>(new TwoTowerModel(
      std::move(version), std::move(config), std::move(featurizer),
      std::move(query_tower), std::move(document_tower), std::move(words)));
}

TwoTowerModel::TwoTowerModel(ModelVersion version, v1::ModelConfig config,
                             Featurizer featurizer,
                             std::shared_ptr<const Tower> query_tower,
                             std::shared_ptr<const Tower> document_tower,
                             TermScorers words)
    : version_(std::move(version)),
      config_(std::move(config)),
      featurizer_(std::move(featurizer)),
      query_tower_(std::move(query_tower)),
      document_tower_(std::move(document_tower)),
      words_(std::move(words)) {}

const Tower& TwoTowerModel::tower(Side side) const {
  return side == Side::kQuery ? *query_tower_ : *document_tower_;
}

void TwoTowerModel::WeighTexts(
    std::span<const std::string_view> normalized_texts, BagBatch& bags) const {
  bags.Clear();
  for (const std::string_view text : normalized_texts) {
    featurizer_.AppendBag(text, bags);
  }
  words_.sparse_scorer->Weigh(bags);
}

void TwoTowerModel::EmbedTexts(
    Side side, std::span<const std::string_view> normalized_texts,
    EmbedScratch& scratch, float* vectors) const {
  tower(side).EmbedTexts(featurizer_, normalized_texts, scratch.input,
                         scratch.tower, vectors);
  // Vectors are rounded before they are scored or stored, so that no score
  // depends on whether a vector was stored.
  const auto dim = static_cast<std::size_t>(embedding_dim());
  for (std::size_t i = 0; i < normalized_texts.size(); ++i) {
    RoundVector(version_.vector_precision, {vectors + i * dim, dim});
  }
}

}  // namespace semrank
