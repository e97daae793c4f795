#include "model/format/sha256.h"

#include <openssl/evp.h>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace semrank {

absl::StatusOr<std::string> Sha256Hex(std::string_view content) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(content.data(), content.size(), digest, &size, EVP_sha256(),
                 /*impl=*/nullptr) != 1) {
    return absl::InternalError("OpenSSL could not compute a SHA-256");
  }
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), size));
}

}  // namespace semrank
