// Connections to a Redis server, over hiredis.
//
//   Errors   DeadlineExceeded; Unavailable (refused, closed, invalid reply,
//            still loading); PermissionDenied (user, password, rights);
//            ResourceExhausted (the server's memory is full).
#ifndef SEMRANK_MODEL_REDIS_REDIS_CLIENT_H_
#define SEMRANK_MODEL_REDIS_REDIS_CLIENT_H_

// hiredis.h includes it as well, but does not say that its functions are C.
extern "C" {
#include <hiredis/sds.h>
}

#include <hiredis/hiredis.h>

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/base/mutex.h"
#include "model/redis/redis_tls.h"
#include "model/redis/redis_url.h"

namespace semrank {

struct FreeRedisReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using RedisReply = std::unique_ptr<redisReply, FreeRedisReply>;
// The name and the arguments of a command; any bytes.
using RedisCommand = std::vector<std::string_view>;

inline std::string_view TextOf(const redisReply& reply) {
  return {reply.str, static_cast<std::size_t>(reply.len)};
}

inline bool IsText(const redisReply& reply) {
  return reply.type == REDIS_REPLY_STRING;
}
inline bool IsArray(const redisReply& reply) {
  return reply.type == REDIS_REPLY_ARRAY;
}
// Unavailable, for a reply of a kind that the command does not have.
absl::Status UnexpectedReply();
// The status for a reply that is an error, with the server's message, which has
// no password.
absl::Status RedisError(const redisReply& reply);

// The limits of a reply, since a server that is not Redis could otherwise fill
// the memory. The elements of an array count as soon as its length was
// received.
struct ReplyLimits {
  std::size_t max_elements = 64;
  std::size_t max_bytes = std::size_t{64} << 10;  // as they are received
};

// One connection. A deadline limits a whole call, however slowly the reply
// arrives; hiredis itself limits only each read. After an error the connection
// is unusable, unless the server replied with the error and is not a read-only
// replica. Not thread-safe.
class RedisConnection {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // `address` is the IP address of url.host: a call must not wait for a name
  // lookup. `tls` null = plain text.
  static absl::StatusOr<std::unique_ptr<RedisConnection>> Connect(
      const RedisUrl& url, const std::string& address, Deadline deadline,
      RedisTls* tls = nullptr);

  // Sends all commands at once and returns one reply for each, within `limits`.
  // Returns the first reply that is an error as a status, after all are read.
  absl::StatusOr<std::vector<RedisReply>> Call(
      std::span<const RedisCommand> commands, Deadline deadline,
      const ReplyLimits& limits = {});

  // False after an error in the middle of a call, and for a read-only replica.
  bool usable() const { return usable_; }
  // Whether a new connection may succeed: the server has closed this one, it
  // broke, or its server has refused a write as a read-only replica.
  bool should_reconnect() const {
    return tls_closed_ || is_replica_ || context_->err == REDIS_ERR_EOF ||
           context_->err == REDIS_ERR_IO;
  }
  const std::string& address() const { return address_; }

 private:
  struct FreeContext {
    void operator()(redisContext* context) const { redisFree(context); }
  };

  RedisConnection(redisContext* context, std::string address);

  absl::Status LogIn(const RedisUrl& url, Deadline deadline);
  absl::Status Send(Deadline deadline);
  absl::Status SendTls(Deadline deadline);
  // Passes received bytes to the reader; waits for at least one.
  absl::Status Read(Deadline deadline);
  absl::Status ReadTls(Deadline deadline);
  // After an operation of the session that returned `result` <= 0: waits until
  // it can continue.
  absl::Status WaitTls(int result, Deadline deadline);
  absl::StatusOr<RedisReply> Receive(Deadline deadline);
  absl::Status Wait(short events, Deadline deadline);
  absl::Status Broken() const;
  // Replaces hiredis' function, to refuse arrays beyond left_. The task's
  // privdata is the connection.
  static void* CreateArray(const redisReadTask* task, int num_elements);

  std::unique_ptr<redisContext, FreeContext> context_;
  const std::string address_;
  TlsSession tls_;  // null = plain text
  bool tls_closed_ = false;
  bool is_replica_ = false;
  redisReplyObjectFunctions functions_;
  void* (*create_array_)(const redisReadTask*, int);
  ReplyLimits left_;
  bool usable_ = true;
};

// Returns an IP address of a host; empty = there is none. Must be thread-safe;
// may block.
using RedisResolver = std::function<std::string(const std::string& host)>;
// The first address that getaddrinfo finds.
std::string FirstAddress(const std::string& host);

// Connections that are opened when they are needed, and kept. Thread-safe.
class RedisPool {
 public:
  using Deadline = RedisConnection::Deadline;
  using ConnectionPtr = std::unique_ptr<RedisConnection>;
  // The deadline of a call that begins now.
  static Deadline DeadlineIn(absl::Duration time_limit) {
    return std::chrono::steady_clock::now() +
           absl::ToChronoNanoseconds(time_limit);
  }

  // `name` stands for the server in errors; empty = NameOf(url).
  RedisPool(const RedisUrl& url, int max_connections, std::string name = "",
            RedisResolver resolve = FirstAddress)
      : url_(url),
        name_(name.empty() ? NameOf(url) : std::move(name)),
        max_connections_(max_connections),
        resolve_(std::move(resolve)),
        tls_(url.tls ? std::make_unique<RedisTls>(url.tls_files) : nullptr) {}

  // Resolves the server's name, which may take as long as the system allows.
  // Must be called before the first call. Keeps the last address if there is no
  // answer. Connections to an earlier address are not used again.
  void LookUpAddress();
  // Calls LookUpAddress if a Call has failed since the last look-up with
  // Unavailable or DeadlineExceeded, because the name may lead to another
  // server. May block as LookUpAddress does. Returns whether one has failed.
  bool LookUpAfterFailure();
  // Prefixes an error with the name; OK stays OK.
  absl::Status Named(const absl::Status& status) const;

  // Runs `commands` on an idle or new connection, or one that becomes free
  // before the deadline. Replaces one that the server has closed, or whose
  // server has become a replica. Errors name the server.
  absl::StatusOr<std::vector<RedisReply>> Call(
      std::span<const RedisCommand> commands, Deadline deadline,
      const ReplyLimits& limits = {});
  // Opens a connection for the caller alone, which does not count towards
  // max_connections. Its calls are not repeated, their errors do not name the
  // server, and LookUpAfterFailure ignores them.
  absl::StatusOr<ConnectionPtr> Connect(Deadline deadline) const;

 private:
  using Replies = absl::StatusOr<std::vector<RedisReply>>;

  Replies TryCall(std::span<const RedisCommand> commands, Deadline deadline,
                  const ReplyLimits& limits);
  // Returns an idle connection; null = the caller may open one.
  absl::StatusOr<ConnectionPtr> Take(Deadline deadline);
  // Ends the use of a connection, or of the place for a new one that has
  // failed.
  void Return(ConnectionPtr connection);
  std::string address() const;

  const RedisUrl url_;
  const std::string name_;
  const int max_connections_;
  const RedisResolver resolve_;
  const std::unique_ptr<RedisTls> tls_;  // null = plain text
  mutable Mutex mutex_;
  CondVar one_is_free_;
  std::string address_ ABSL_GUARDED_BY(mutex_);
  // Since the last look-up: Unavailable or DeadlineExceeded.
  bool has_failed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<ConnectionPtr> idle_ ABSL_GUARDED_BY(mutex_);
  int num_in_use_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_REDIS_REDIS_CLIENT_H_
