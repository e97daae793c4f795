#include "server/models/model_self_test.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Normalised; the empty one has no features and must give the zero vector.
constexpr std::array<std::string_view, 4> kSelfTestTexts = {
    "", "a", "semantic ranking", "letter trigrams of a somewhat longer title"};
// Lengths come from float32 sums over at most a few thousand numbers.
constexpr double kLengthTolerance = 1e-3;

// SSI's vectors have any length.
absl::Status CheckVector(std::span<const float> vector, bool any_length) {
  double length_squared = 0;
  for (const float value : vector) {
    if (!std::isfinite(value)) {
      return absl::DataLossError("self-test: a vector holds NaN or infinity");
    }
    length_squared += double{value} * value;
  }
  const double length = std::sqrt(length_squared);
  if (!any_length && length != 0 && std::abs(length - 1) > kLengthTolerance) {
    return absl::DataLossError(
        absl::StrFormat("self-test: a vector has length %g, not 1", length));
  }
  return absl::OkStatus();
}

absl::Status SelfTestSide(const TwoTowerModel& model, Side side) {
  const std::size_t dim = model.embedding_dim();
  const bool any_length = model.config().tower() == v1::TOWER_KIND_SSI;
  EmbedScratch scratch;
  std::vector<float> batch(kSelfTestTexts.size() * dim);
  std::vector<float> alone(dim);
  model.EmbedTexts(side, kSelfTestTexts, scratch, batch.data());
  for (std::size_t i = 0; i < kSelfTestTexts.size(); ++i) {
    const std::span<const float> row(batch.data() + i * dim, dim);
    SEMRANK_RETURN_IF_ERROR(CheckVector(row, any_length));
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

}  // namespace semrank
