#include "model/base/fingerprint.h"

#include <fcntl.h>
#include <xxhash.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_descriptor.h"
#include "model/base/random_id.h"
#include "model/base/status_macros.h"

namespace semrank {

namespace {

Fingerprint FromXxHash(const XXH128_hash_t& hash) {
  return {.hi = hash.high64, .lo = hash.low64};
}

}  // namespace

static_assert(Fingerprinter::kSecretBytes >= XXH3_SECRET_SIZE_MIN);

Fingerprinter::Secret Fingerprinter::RandomSecret() {
  Secret secret;
  FillWithRandomBytes(secret);
  return secret;
}

Fingerprint Fingerprinter::operator()(std::string_view text) const {
  return FromXxHash(XXH3_128bits_withSecret(text.data(), text.size(),
                                            secret_.data(), secret_.size()));
}

absl::StatusOr<std::string> FileFingerprint(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor file,
                           FileDescriptor::Open(path, O_RDONLY));
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(
      XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  // A file may be larger than memory, so it is hashed in blocks.
  std::vector<char> buffer(std::size_t{1} << 20);
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const std::size_t count,
                             file.Read(buffer.data(), buffer.size()));
    if (count == 0) break;
    XXH3_128bits_update(state.get(), buffer.data(), count);
  }
  return FormatFingerprint(FromXxHash(XXH3_128bits_digest(state.get())));
}

Fingerprint BytesFingerprint(std::string_view bytes) {
  return FromXxHash(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string FormatFingerprint(Fingerprint fingerprint) {
  return absl::StrFormat("%016x%016x", fingerprint.hi, fingerprint.lo);
}

}  // namespace semrank
