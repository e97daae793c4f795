#include "server/core/model_store.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "server/core/errors.h"

namespace semrank {
namespace {

// Normalised; the empty one has no features and must give the zero vector.
constexpr std::array<std::string_view, 4> kSelfTestTexts = {
    "", "a", "semantic ranking", "letter trigrams of a somewhat longer title"};
// Lengths come from float32 sums over at most a few thousand numbers.
constexpr double kLengthTolerance = 1e-3;

absl::Status CheckVector(std::span<const float> vector) {
  double length_squared = 0;
  for (const float value : vector) {
    if (!std::isfinite(value)) {
      return absl::DataLossError("self-test: a vector holds NaN or infinity");
    }
    length_squared += double{value} * value;
  }
  const double length = std::sqrt(length_squared);
  if (length != 0 && std::abs(length - 1) > kLengthTolerance) {
    return absl::DataLossError(
        absl::StrFormat("self-test: a vector has length %g, not 1", length));
  }
  return absl::OkStatus();
}

absl::Status SelfTestSide(const TwoTowerModel& model, Side side) {
  const std::size_t dim = model.embedding_dim();
  EmbedScratch scratch;
  std::vector<float> batch(kSelfTestTexts.size() * dim);
  std::vector<float> alone(dim);
  model.EmbedTexts(side, kSelfTestTexts, scratch, batch.data());
  for (std::size_t i = 0; i < kSelfTestTexts.size(); ++i) {
    const std::span<const float> row(batch.data() + i * dim, dim);
    SEMRANK_RETURN_IF_ERROR(CheckVector(row));
    model.EmbedTexts(side, std::span(kSelfTestTexts).subspan(i, 1), scratch,
                     alone.data());
    if (!std::ranges::equal(alone, row)) {
      return absl::DataLossError(
          "self-test: a text has another vector alone than in a batch");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SelfTest(const TwoTowerModel& model) {
  SEMRANK_RETURN_IF_ERROR(SelfTestSide(model, Side::kQuery));
  return SelfTestSide(model, Side::kDocument);
}

ModelStore::ModelStore(Loader loader, Metrics* metrics)
    : loader_(std::move(loader)), metrics_(metrics) {}

absl::Status ModelStore::Load(std::int64_t version) {
  absl::StatusOr<std::shared_ptr<const TwoTowerModel>> model = loader_(version);
  absl::Status status = model.status();
  if (status.ok()) status = SelfTest(**model);
  metrics_->CountModelLoad(status.ok());
  SEMRANK_RETURN_IF_ERROR(status);

  auto served = std::make_shared<ServedModel>();
  served->model = *std::move(model);
  served->load_time = absl::Now();
  served->pinned = version != 0;
  const ModelVersion& loaded = served->model->version();
  metrics_->SetModel(loaded, served->model->embedding_dim(), served->load_time);
  MutexLock lock(mutex_);
  served->number = NumberOf(loaded.identity);
  current_ = std::move(served);
  return absl::OkStatus();
}

ServedModelPtr ModelStore::current() const {
  MutexLock lock(mutex_);
  return current_;
}

absl::StatusOr<ServedModelPtr> ModelStore::Find(std::string_view name,
                                                std::int64_t version) const {
  if (version < 0) {
    return FieldError("INVALID_FIELD", "model.version",
                      absl::StrFormat("%d is negative", version),
                      {{"value", std::to_string(version)}});
  }
  ServedModelPtr model = current();
  if (model == nullptr) {
    return MakeError(absl::StatusCode::kUnavailable, "NO_MODEL",
                     "no model is loaded");
  }
  const ModelVersion& current = model->model->version();
  if ((!name.empty() && name != current.name) ||
      (version != 0 && version != current.version)) {
    // The name asked for is the caller's own text: not repeated.
    return MakeError(
        absl::StatusCode::kNotFound, "MODEL_NOT_FOUND",
        absl::StrFormat("no such model is served; the current one is %s "
                        "version %d",
                        current.name, current.version),
        {{"field", "model"}, {"version", std::to_string(version)}});
  }
  return model;
}

std::uint32_t ModelStore::NumberOf(const std::string& identity) {
  const auto known = std::ranges::find(identities_, identity);
  const auto number = static_cast<std::uint32_t>(known - identities_.begin());
  if (known == identities_.end()) identities_.push_back(identity);
  return number;
}

}  // namespace semrank
