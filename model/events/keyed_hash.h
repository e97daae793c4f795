// Keyed hash of the names that must not be stored: users, sessions and, if the
// operator wishes, queries. It is the first half of HMAC-SHA256 (RFC 2104) as
// 22 characters of base64url. Without the key it can neither be inverted nor
// checked against a list of names.
//
//   Key      FOLDER/key: 32 random bytes as 64 hex digits, mode 0600. Once
//            it is lost, no user's records can be found again.
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_KEYED_HASH_H_
#define SEMRANK_MODEL_EVENTS_KEYED_HASH_H_

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct evp_mac_ctx_st;  // EVP_MAC_CTX of OpenSSL

namespace semrank {

// One text has different hashes for different kinds, so that a session's hash
// never says which user it is.
enum class HashedKind : char { kUser = 'u', kSession = 's', kQuery = 'q' };

class KeyedHash {
 public:
  static constexpr std::size_t kKeyBytes = 32;
  static constexpr std::size_t kHashChars = 22;
  static constexpr std::string_view kKeyFile = "key";
  using Key = std::array<unsigned char, kKeyBytes>;

  // Reads the key of a folder of events. NotFound if it has none,
  // FailedPrecondition if the file is not a key; both name the file.
  static absl::StatusOr<KeyedHash> Open(const std::string& folder);
  // As Open, but reads the key from `path`.
  static absl::StatusOr<KeyedHash> OpenFile(const std::string& path);
  // As Open, but makes the key if there is none. The caller holds the folder's
  // lock: two processes could make two keys.
  static absl::StatusOr<KeyedHash> OpenOrCreate(const std::string& folder);

  explicit KeyedHash(const Key& key);

  // The empty text, which means "not named", stays empty.
  std::string operator()(HashedKind kind, std::string_view text) const;

 private:
  // Has hashed the key, and is copied for each text: HMAC() of OpenSSL 3 looks
  // up its algorithms in each call, which takes longer than the hash.
  std::shared_ptr<evp_mac_ctx_st> keyed_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_KEYED_HASH_H_
