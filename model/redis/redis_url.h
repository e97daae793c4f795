// The address of a Redis server as flags and environment variables have it:
// redis://[user:password@]host[:port][/db], or rediss:// over TLS.
#ifndef SEMRANK_MODEL_REDIS_REDIS_URL_H_
#define SEMRANK_MODEL_REDIS_REDIS_URL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/redis/redis_tls.h"

namespace semrank {

struct RedisUrl {
  std::string host;  // a name, IPv4, or IPv6 without its brackets
  int port = 6379;
  std::string user;  // empty = the default one
  std::string password;
  int db = 0;
  bool tls = false;
  RedisTlsFiles tls_files = {};  // no part of the URL
};

// User and password may have %XX for a byte. Returns InvalidArgument with the
// reason, never with the text, which may have a password.
absl::StatusOr<RedisUrl> ParseRedisUrl(std::string_view text);

// The URL for logs and pages: without user and password.
std::string NameOf(const RedisUrl& url);

// `text`, a URL or anything else, without the user and password before the @.
std::string WithoutPassword(const std::string& text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_REDIS_REDIS_URL_H_
