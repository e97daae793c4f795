#include "client/bulk/model_directory.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/model_bundle.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// Texts of a piece of work; their activations stay in the second-level cache.
constexpr int kSliceTexts = 256;

// What a slice's thread has found wrong with texts, empty = nothing.
using Reasons = std::vector<std::string>;

void AddProblems(const Reasons& reasons, v1::EmbedTextsStreamResponse& piece) {
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (reasons[i].empty()) continue;
    v1::Problem& problem = *piece.add_problems();
    problem.set_index(static_cast<std::uint32_t>(i));
    problem.mutable_status()->set_code(
        static_cast<int>(absl::StatusCode::kInvalidArgument));
    problem.mutable_status()->set_message(reasons[i]);
  }
}

}  // namespace

ModelDirectory::ModelDirectory(std::string path)
    : path_(std::move(path)),
      pool_(NumUsableProcessors()),
      scratches_(pool_.num_threads()) {}

absl::Status ModelDirectory::Load(const v1::ModelRef& wanted) {
  if (model_ == nullptr || wanted.version() != model_->version().version) {
    SEMRANK_ASSIGN_OR_RETURN(model_, LoadModel(path_, wanted.version()));
  }
  const std::string& name = model_->version().name;
  if (wanted.name().empty() || wanted.name() == name) return absl::OkStatus();
  return absl::NotFoundError(absl::StrFormat("no model %s: %s holds model %s",
                                             wanted.name(), path_, name));
}

absl::StatusOr<v1::Model> ModelDirectory::GetModel(const v1::ModelRef& model) {
  SEMRANK_RETURN_IF_ERROR(Load(model));
  v1::Model loaded;
  loaded.set_name(model_->version().name);
  loaded.set_version(model_->version().version);
  loaded.set_weights_sha256(model_->version().weights_sha256);
  loaded.set_embedding_dim(static_cast<std::uint32_t>(model_->embedding_dim()));
  return loaded;
}

absl::Status ModelDirectory::EmbedTextsStream(
    const v1::EmbedTextsRequest& request, const Take& take) {
  SEMRANK_RETURN_IF_ERROR(Load(request.model()));
  const Side side =
      request.side() == v1::SIDE_QUERY ? Side::kQuery : Side::kDocument;
  const int num_texts = request.texts_size();
  const std::size_t dim = model_->embedding_dim();
  std::vector<float> vectors(num_texts * dim);
  Reasons reasons(num_texts);
  const int num_slices = (num_texts + kSliceTexts - 1) / kSliceTexts;
  pool_.ParallelFor(num_slices, [&](int slice, int worker) {
    const int first = slice * kSliceTexts;
    const int last = std::min(first + kSliceTexts, num_texts);
    std::vector<std::string> normalized(last - first);
    for (int i = first; i < last; ++i) {
      // A text that is not UTF-8 stays empty, whose vector is zero.
      const absl::Status status =
          NormalizeText(request.texts(i), normalized[i - first]);
      if (status.ok()) continue;
      normalized[i - first].clear();
      reasons[i] = std::string(status.message());
    }
    const std::vector<std::string_view> texts(normalized.begin(),
                                              normalized.end());
    model_->EmbedTexts(side, texts, scratches_[worker],
                       vectors.data() + first * dim);
  });
  v1::EmbedTextsStreamResponse piece;
  piece.set_num_texts(num_texts);
  piece.set_embedding_dim(static_cast<std::uint32_t>(dim));
  piece.set_encoding(v1::VECTOR_ENCODING_FLOAT32);
  piece.set_vectors(vectors.data(), vectors.size() * sizeof(float));
  piece.mutable_model()->set_name(model_->version().name);
  piece.mutable_model()->set_version(model_->version().version);
  AddProblems(reasons, piece);
  return take(piece);
}

}  // namespace semrank
