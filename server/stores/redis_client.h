// Calls of one Redis server, over hiredis.
//
//   Errors   DeadlineExceeded, Unavailable (refused, closed, garbage, still
//            loading), PermissionDenied (user, password, rights),
//            ResourceExhausted (its memory is full).
#ifndef SEMRANK_SERVER_STORES_REDIS_CLIENT_H_
#define SEMRANK_SERVER_STORES_REDIS_CLIENT_H_

#include <hiredis/hiredis.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"
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

inline bool IsText(const redisReply& reply) {
  return reply.type == REDIS_REPLY_STRING;
}
inline bool IsArray(const redisReply& reply) {
  return reply.type == REDIS_REPLY_ARRAY;
}
// Unavailable: a reply of another kind than the command's.
absl::Status UnexpectedReply();
// Of a reply that is an error. The server's own words; they hold no password.
absl::Status RedisError(const redisReply& reply);

// What a reply may hold at most: a server that is not what it seems could fill
// the memory otherwise. Arrays count their elements, also those that never
// come.
struct ReplyLimits {
  std::size_t max_elements = 64;
  std::size_t max_bytes = std::size_t{64} << 10;  // as they are received
};

// One connection. Every wait has a deadline for the whole of a call, however
// the answer is spread; hiredis itself limits each read only. One thread at a
// time. After an error it is unusable, except where the server replied with
// one.
class RedisConnection {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // `address` is url.host as a number, so that no name is looked up here.
  static absl::StatusOr<std::unique_ptr<RedisConnection>> Connect(
      const RedisUrl& url, const std::string& address, Deadline deadline);

  // Sends all commands at once and returns one reply each, within `limits`. The
  // first reply that is an error is returned as one, once all are read.
  absl::StatusOr<std::vector<RedisReply>> Call(
      std::span<const RedisCommand> commands, Deadline deadline,
      const ReplyLimits& limits = {});

  // False after an error that leaves it in the middle of something.
  bool usable() const { return usable_; }
  // The server has closed it, or it broke.
  bool closed() const {
    return context_->err == REDIS_ERR_EOF || context_->err == REDIS_ERR_IO;
  }

 private:
  struct FreeContext {
    void operator()(redisContext* context) const { redisFree(context); }
  };

  explicit RedisConnection(redisContext* context);

  absl::Status LogIn(const RedisUrl& url, Deadline deadline);
  absl::Status Send(Deadline deadline);
  absl::StatusOr<RedisReply> Receive(Deadline deadline);
  absl::Status Wait(short events, Deadline deadline);
  absl::Status Broken() const;
  // hiredis' own, but for arrays beyond what is left_. The task's privdata is
  // the connection.
  static void* CreateArray(const redisReadTask* task, int num_elements);

  std::unique_ptr<redisContext, FreeContext> context_;
  redisReplyObjectFunctions functions_;
  void* (*create_array_)(const redisReadTask*, int);
  ReplyLimits left_;
  bool usable_ = true;
};

// Connections that are made when they are needed, and kept.
//
//   Threads  every method, from any thread.
class RedisPool {
 public:
  using Deadline = RedisConnection::Deadline;

  RedisPool(const RedisUrl& url, int max_connections)
      : url_(url), max_connections_(max_connections) {}

  // Looks the server's name up, which may take as long as the system lets it;
  // before that nothing is connected. A name without an answer keeps the last.
  void LookUpAddress();

  // Runs `commands` on a connection that is idle, new, or becomes free before
  // the deadline. One that the server has closed is replaced.
  absl::StatusOr<std::vector<RedisReply>> Call(
      std::span<const RedisCommand> commands, Deadline deadline,
      const ReplyLimits& limits);

 private:
  using ConnectionPtr = std::unique_ptr<RedisConnection>;

  // Null = the caller may make one.
  absl::StatusOr<ConnectionPtr> Take(Deadline deadline);
  void GiveBack(ConnectionPtr connection);
  // Those that are idle have most likely met the same end.
  void ForgetIdle();
  std::string address() const;

  const RedisUrl url_;
  const int max_connections_;
  mutable Mutex mutex_;
  CondVar one_is_free_;
  std::string address_ ABSL_GUARDED_BY(mutex_);
  std::vector<ConnectionPtr> idle_ ABSL_GUARDED_BY(mutex_);
  int num_in_use_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_REDIS_CLIENT_H_
