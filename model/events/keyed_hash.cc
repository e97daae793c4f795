#include "model/events/keyed_hash.h"

#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/random_id.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// RFC 2104, section 5, advises to keep at least half of the digest.
constexpr std::size_t kHashBytes = 16;

std::string PathOfKey(const std::string& folder) {
  return absl::StrFormat("%s/%s", folder, KeyedHash::kKeyFile);
}

absl::StatusOr<KeyedHash::Key> ParseKey(const std::string& path,
                                        std::string_view content) {
  // OpenOrCreate ends the file with a newline, as most tools do.
  const absl::string_view hex =
      absl::StripTrailingAsciiWhitespace(ToAbsl(content));
  KeyedHash::Key key;
  if (hex.size() != 2 * key.size() ||
      !std::ranges::all_of(hex, absl::ascii_isxdigit)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: not a key of %d hex digits; restore the file, or remove it and "
        "accept that earlier records can no longer be found by user",
        path, 2 * key.size()));
  }
  const std::string bytes = absl::HexStringToBytes(hex);
  std::ranges::copy(bytes, key.begin());
  return key;
}

}  // namespace

absl::StatusOr<KeyedHash> KeyedHash::Open(const std::string& folder) {
  return OpenFile(PathOfKey(folder));
}

absl::StatusOr<KeyedHash> KeyedHash::OpenFile(const std::string& path) {
  constexpr std::size_t kMaxFileBytes = 1024;
  SEMRANK_ASSIGN_OR_RETURN(const std::string content,
                           ReadFile(path, kMaxFileBytes));
  SEMRANK_ASSIGN_OR_RETURN(const Key key, ParseKey(path, content));
  return KeyedHash(key);
}

absl::StatusOr<KeyedHash> KeyedHash::OpenOrCreate(const std::string& folder) {
  absl::StatusOr<KeyedHash> existing = Open(folder);
  if (!absl::IsNotFound(existing.status())) return existing;
  Key key;
  FillWithRandomBytes(key);
  const std::string hex = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(key.data()), key.size()));
  // The file has its mode before its content, and its name only with all of it:
  // no other account reads the key, and no crash leaves a part of one.
  SEMRANK_ASSIGN_OR_RETURN(
      FileReplacement file,
      FileReplacement::Create(PathOfKey(folder), /*mode=*/0600));
  SEMRANK_RETURN_IF_ERROR(file.Write(hex + "\n"));
  SEMRANK_RETURN_IF_ERROR(file.Commit());
  return KeyedHash(key);
}

KeyedHash::KeyedHash(const Key& key) {
  const std::unique_ptr<EVP_MAC, void (*)(EVP_MAC*)> mac(
      EVP_MAC_fetch(/*libctx=*/nullptr, "HMAC", /*properties=*/nullptr),
      EVP_MAC_free);
  // OpenSSL has HMAC unless its configuration disables it.
  if (mac == nullptr) std::abort();
  keyed_.reset(EVP_MAC_CTX_new(mac.get()), EVP_MAC_CTX_free);
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string("digest", digest, /*bsize=*/0),
      OSSL_PARAM_construct_end()};
  // Fails only when memory is exhausted.
  if (EVP_MAC_init(keyed_.get(), key.data(), key.size(), parameters) != 1) {
    std::abort();
  }
}

std::string KeyedHash::operator()(HashedKind kind,
                                  std::string_view text) const {
  if (text.empty()) return "";
  // The kind is a part of what is hashed, so one name has other hashes in other
  // roles.
  std::string message(1, static_cast<char>(kind));
  message += text;
  unsigned char digest[EVP_MAX_MD_SIZE];
  std::size_t size = 0;
  const std::unique_ptr<EVP_MAC_CTX, void (*)(EVP_MAC_CTX*)> mac(
      EVP_MAC_CTX_dup(keyed_.get()), EVP_MAC_CTX_free);
  // Fails only when memory is exhausted.
  if (mac == nullptr ||
      EVP_MAC_update(mac.get(),
                     reinterpret_cast<const unsigned char*>(message.data()),
                     message.size()) != 1 ||
      EVP_MAC_final(mac.get(), digest, &size, sizeof(digest)) != 1) {
    std::abort();
  }
  return absl::WebSafeBase64Escape(
      absl::string_view(reinterpret_cast<const char*>(digest), kHashBytes));
}

}  // namespace semrank
