// 128-bit fingerprints of texts (XXH3), keyed with a secret, so that nobody
// who does not know it can make two texts that collide.
//
//   Value    the same for the same text and secret in every process, machine
//            and release; golden values are tested.
//   Threads  a Fingerprinter is const after construction.
#ifndef SEMRANK_MODEL_BASE_FINGERPRINT_H_
#define SEMRANK_MODEL_BASE_FINGERPRINT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct XXH3_state_s;  // of xxhash.h

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

// XXH3-128 without a secret, of bytes that come piece by piece: the value is
// BytesFingerprint's of all of them in a row.
class BytesFingerprinter {
 public:
  BytesFingerprinter();
  void Add(std::string_view bytes);
  Fingerprint Digest() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

// XXH3-128 without a secret, the same in every process and release: tells
// whether bytes are still the same, not whether somebody forged them.
Fingerprint BytesFingerprint(std::string_view bytes);
// That of a file's bytes, formatted. Errors as FileDescriptor's.
absl::StatusOr<std::string> FileFingerprint(const std::string& path);
// 32 hex digits.
std::string FormatFingerprint(Fingerprint fingerprint);

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_FINGERPRINT_H_
