#include "model/base/fingerprint.h"

#include <errno.h>
#include <sys/random.h>
#include <xxhash.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace semrank {

static_assert(Fingerprinter::kSecretBytes >= XXH3_SECRET_SIZE_MIN);

Fingerprinter::Secret Fingerprinter::RandomSecret() {
  Secret secret;
  std::size_t filled = 0;
  while (filled < secret.size()) {
    const ssize_t count =
        getrandom(secret.data() + filled, secret.size() - filled, 0);
    if (count >= 0) {
      filled += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      // A guessable secret would be worse than no process.
      std::perror("getrandom");
      std::abort();
    }
  }
  return secret;
}

Fingerprint Fingerprinter::operator()(std::string_view text) const {
  const XXH128_hash_t hash = XXH3_128bits_withSecret(
      text.data(), text.size(), secret_.data(), secret_.size());
  return {.hi = hash.high64, .lo = hash.low64};
}

}  // namespace semrank
