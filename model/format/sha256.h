// SHA-256 (FIPS 180-4) in the form that manifests have.
#ifndef SEMRANK_MODEL_FORMAT_SHA256_H_
#define SEMRANK_MODEL_FORMAT_SHA256_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace semrank {

// 64 lower-case hex digits. Fails only if OpenSSL does (Internal).
absl::StatusOr<std::string> Sha256Hex(std::string_view content);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_SHA256_H_
