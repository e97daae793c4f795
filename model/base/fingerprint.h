// 128-bit fingerprints of texts (XXH3), keyed with a secret: without knowing
// it, two texts cannot be crafted to collide.
//
//   Value    the same for the same text and secret in every process, machine
//            and release; golden values are tested.
//   Threads  a Fingerprinter is thread-safe.
#ifndef SEMRANK_MODEL_BASE_FINGERPRINT_H_
#define SEMRANK_MODEL_BASE_FINGERPRINT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace semrank {

struct Fingerprint {
  std::uint64_t hi = 0;
  std::uint64_t lo = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

class Fingerprinter {
 public:
  static constexpr int kSecretBytes = 192;
  using Secret = std::array<unsigned char, kSecretBytes>;

  // A secret from the system's random source.
  static Secret RandomSecret();

  explicit Fingerprinter(const Secret& secret) : secret_(secret) {}
  Fingerprint operator()(std::string_view text) const;

 private:
  Secret secret_;
};

// XXH3-128 without a secret, the same in every process and release: detects
// accidental changes of bytes, not malicious ones.
Fingerprint BytesFingerprint(std::string_view bytes);
// The formatted BytesFingerprint of a file. Errors as FileDescriptor's.
absl::StatusOr<std::string> FileFingerprint(const std::string& path);
// 32 hex digits.
std::string FormatFingerprint(Fingerprint fingerprint);

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_FINGERPRINT_H_
