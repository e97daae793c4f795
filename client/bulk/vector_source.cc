#include "client/bulk/vector_source.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "model/format/model_bundle.h"
#include "model/nn/two_tower_model.h"
#include "model/text/normalizer.h"

// The towers of a model directory run here as in a server, so that both give
// the same vectors. Three sizes matter: a request is a block of the file; a
// chunk is what becomes one response; a slice is what one thread embeds.
namespace semrank {
namespace {

// Texts of a response: a few milliseconds of work, so that threads seldom wait
// for each other and the vectors are still in a cache when they are written.
constexpr int kChunkTexts = 2'048;

// Texts per task, few enough for their activations to stay in the L2 cache.
constexpr int kSliceTexts = 128;

// Says why each text cannot be embedded; empty = it can.
using Reasons = std::vector<std::string>;

void AddProblems(const Reasons& reasons, v1::EmbedTextsStreamResponse& chunk) {
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (reasons[i].empty()) continue;
    v1::Problem& problem = *chunk.add_problems();
    problem.set_index(static_cast<std::uint32_t>(i));
    problem.mutable_status()->set_code(
        static_cast<int>(absl::StatusCode::kInvalidArgument));
    problem.mutable_status()->set_message(reasons[i]);
  }
}

// What a thread needs for a slice of texts.
struct SliceScratch {
  std::vector<std::string> normalized{kSliceTexts};
  std::vector<std::string_view> views;
  EmbedScratch embed;
};

class ServerSource final : public VectorSource {
 public:
  explicit ServerSource(SemrankClient& client) : client_(client) {}

  absl::StatusOr<v1::Model> GetModel(const v1::ModelRef& model) override {
    return client_.GetModel(model);
  }
  absl::Status EmbedTextsStream(
      const v1::EmbedTextsRequest& request,
      const SemrankClient::TakeEmbeddings& take) override {
    return client_.EmbedTextsStream(request, take);
  }

 private:
  SemrankClient& client_;
};

class ModelDirectorySource final : public VectorSource {
 public:
  ModelDirectorySource(std::string path, std::int64_t max_text_bytes)
      : path_(std::move(path)),
        max_text_bytes_(max_text_bytes),
        pool_(NumUsableProcessors()),
        scratches_(pool_.num_threads()) {}

  absl::StatusOr<v1::Model> GetModel(const v1::ModelRef& model) override {
    SEMRANK_RETURN_IF_ERROR(Load(model));
    v1::Model loaded;
    loaded.set_name(model_->version().name);
    loaded.set_version(model_->version().version);
    loaded.set_weights_sha256(model_->version().weights_sha256);
    loaded.set_embedding_dim(
        static_cast<std::uint32_t>(model_->embedding_dim()));
    return loaded;
  }

  absl::Status EmbedTextsStream(
      const v1::EmbedTextsRequest& request,
      const SemrankClient::TakeEmbeddings& take) override {
    SEMRANK_RETURN_IF_ERROR(Load(request.model()));
    for (int first = 0; first < request.texts_size(); first += kChunkTexts) {
      EmbedChunk(request, first,
                 std::min(first + kChunkTexts, request.texts_size()));
      SEMRANK_RETURN_IF_ERROR(take(response_));
    }
    return absl::OkStatus();
  }

 private:
  // Keeps the loaded version until another one is wanted. Version 0 is the
  // highest in the directory, which may have changed, so it is looked up each
  // time.
  absl::Status Load(const v1::ModelRef& wanted) {
    if (model_ == nullptr || wanted.version() != model_->version().version) {
      SEMRANK_ASSIGN_OR_RETURN(model_, LoadModel(path_, wanted.version()));
    }
    const std::string& name = model_->version().name;
    if (wanted.name().empty() || wanted.name() == name) return absl::OkStatus();
    return absl::NotFoundError(absl::StrFormat("no model %s: %s holds model %s",
                                               wanted.name(), path_, name));
  }

  // Embeds texts [first, last) of the request into response_, which has the
  // form of a server's, so that callers need not know where the vectors come
  // from.
  void EmbedChunk(const v1::EmbedTextsRequest& request, int first, int last) {
    const Side side =
        request.side() == v1::SIDE_QUERY ? Side::kQuery : Side::kDocument;
    const int num_texts = last - first;
    const std::size_t dim = model_->embedding_dim();
    // Not cleared first, since that would set each element to zero once more.
    std::string& bytes = *response_.mutable_vectors();
    bytes.resize(num_texts * dim * sizeof(float));
    auto* const vectors = reinterpret_cast<float*>(bytes.data());
    Reasons reasons(num_texts);
    const std::span<const std::string* const> texts(
        request.texts().data() + first, num_texts);
    const int num_slices = (num_texts + kSliceTexts - 1) / kSliceTexts;
    // Slices, not texts, are the tasks: a tower is faster on a batch, and the
    // result does not depend on the number of threads.
    pool_.ParallelFor(num_slices, [&](int slice, int worker) {
      const int begin = slice * kSliceTexts;
      const int count = std::min(kSliceTexts, num_texts - begin);
      EmbedSlice(side, texts.subspan(begin, count), scratches_[worker],
                 vectors + begin * dim, &reasons[begin]);
    });
    response_.set_first_text(first);
    response_.set_num_texts(num_texts);
    response_.set_embedding_dim(static_cast<std::uint32_t>(dim));
    response_.set_encoding(v1::VECTOR_ENCODING_FLOAT32);
    response_.mutable_model()->set_name(model_->version().name);
    response_.mutable_model()->set_version(model_->version().version);
    response_.clear_problems();
    AddProblems(reasons, response_);
  }

  void EmbedSlice(Side side, std::span<const std::string* const> texts,
                  SliceScratch& scratch, float* vectors,
                  std::string* reasons) const {
    scratch.views.clear();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::string& normalized = scratch.normalized[i];
      // A text that is refused becomes empty, with the zero vector.
      if (IsTooLong(*texts[i], max_text_bytes_)) {
        normalized.clear();
        reasons[i] =
            absl::StrFormat("%d bytes, over the limit of %d (--max_text_bytes)",
                            texts[i]->size(), max_text_bytes_);
      } else if (const absl::Status status = NormalizeText(
                     *texts[i], model_->normalizer_version(), normalized);
                 !status.ok()) {
        reasons[i] = std::string(status.message());
      }
      scratch.views.push_back(normalized);
    }
    model_->EmbedTexts(side, scratch.views, scratch.embed, vectors);
  }

  const std::string path_;
  const std::int64_t max_text_bytes_;
  ThreadPool pool_;
  std::shared_ptr<const TwoTowerModel> model_;
  std::vector<SliceScratch> scratches_;  // one per thread
  v1::EmbedTextsStreamResponse response_;
};

}  // namespace

std::unique_ptr<VectorSource> MakeServerSource(SemrankClient& client) {
  return std::make_unique<ServerSource>(client);
}

std::unique_ptr<VectorSource> MakeModelDirectorySource(
    std::string path, std::int64_t max_text_bytes) {
  return std::make_unique<ModelDirectorySource>(std::move(path),
                                                max_text_bytes);
}

}  // namespace semrank
