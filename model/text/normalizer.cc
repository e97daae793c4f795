#include "model/text/normalizer.h"

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/text/normalizer_v1.h"
#include "model/text/normalizer_v2.h"

namespace semrank {

absl::Status NormalizeText(std::string_view text, int version,
                           std::string& normalized) {
  if (version == 2)
    return NormalizeTextV2(text, WordForm::kFeatures, normalized);
  if (version == 1) return NormalizeTextV1(text, normalized);
  normalized.clear();
  return absl::InternalError(
      absl::StrFormat("normalizer version %d is unknown", version));
}

absl::StatusOr<std::string> NormalizeText(std::string_view text, int version) {
  std::string normalized;
  SEMRANK_RETURN_IF_ERROR(NormalizeText(text, version, normalized));
  return normalized;
}

absl::Status NormalizeName(std::string_view text, std::string& normalized) {
  return NormalizeTextV2(text, WordForm::kName, normalized);
}

absl::StatusOr<std::string> NormalizeName(std::string_view text) {
  std::string normalized;
  SEMRANK_RETURN_IF_ERROR(NormalizeName(text, normalized));
  return normalized;
}

}  // namespace semrank
