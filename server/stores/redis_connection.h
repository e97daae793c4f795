// One connection to a Redis server, over hiredis. Every wait has a deadline for
// the whole of a call, however the answer is spread; hiredis itself only limits
// each read.
//
//   Threads  one at a time.
//   Errors   DeadlineExceeded, Unavailable (refused, closed, garbage, still
//            loading), PermissionDenied (user, password, rights),
//            ResourceExhausted (its memory is full). After an error the
//            connection is of no use, except where the server said no.
#ifndef SEMRANK_SERVER_STORES_REDIS_CONNECTION_H_
#define SEMRANK_SERVER_STORES_REDIS_CONNECTION_H_

#include <hiredis/hiredis.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/stores/redis_url.h"

namespace semrank {

struct FreeRedisReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using RedisReply = std::unique_ptr<redisReply, FreeRedisReply>;
// Its name and arguments; any bytes.
using RedisCommand = std::vector<std::string_view>;

inline std::string_view TextOf(const redisReply& reply) {
  return {reply.str, static_cast<std::size_t>(reply.len)};
}

class RedisConnection {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // `address` is url.host as a number, so that no name is looked up here.
  static absl::StatusOr<std::unique_ptr<RedisConnection>> Connect(
      const RedisUrl& url, const std::string& address, Deadline deadline);

  // Sends all commands at once and returns one reply each. The first reply that
  // is an error is returned as one, once all are read.
  absl::StatusOr<std::vector<RedisReply>> Call(
      std::span<const RedisCommand> commands, Deadline deadline);

  // False after an error that leaves it in the middle of something.
  bool usable() const { return usable_; }

 private:
  struct FreeContext {
    void operator()(redisContext* context) const { redisFree(context); }
  };

  explicit RedisConnection(redisContext* context) : context_(context) {}

  absl::Status LogIn(const RedisUrl& url, Deadline deadline);
  absl::Status Send(Deadline deadline);
  absl::StatusOr<RedisReply> Receive(Deadline deadline);
  absl::Status Wait(short events, Deadline deadline);
  absl::Status Broken() const;

  std::unique_ptr<redisContext, FreeContext> context_;
  bool usable_ = true;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_REDIS_CONNECTION_H_
