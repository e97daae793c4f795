#include "model/train/tensor_fingerprint.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/fingerprint.h"

namespace semrank {
namespace {

// Against accidents; nobody here wants two texts to collide.
Fingerprinter FixedFingerprinter() {
  Fingerprinter::Secret secret;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    secret[i] = static_cast<unsigned char>(i * 167 + 13);
  }
  return Fingerprinter(secret);
}

}  // namespace

std::uint64_t TextFingerprint(std::string_view text) {
  return FixedFingerprinter()(text).lo;
}

std::uint64_t TensorsFingerprint(std::span<const TensorView> tensors) {
  std::string parts;
  for (const TensorView& tensor : tensors) {
    std::size_t size = sizeof(float);
    for (const auto length : tensor.shape) size *= length;
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.data),
                                 size);
    absl::StrAppendFormat(&parts, "%s %s %x\n", tensor.name,
                          absl::StrJoin(tensor.shape, ","),
                          TextFingerprint(bytes));
  }
  return TextFingerprint(parts);
}

}  // namespace semrank
