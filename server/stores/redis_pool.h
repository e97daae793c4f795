// Connections to one Redis server, made when they are needed and kept.
//
//   Threads  every method, from any thread.
#ifndef SEMRANK_SERVER_STORES_REDIS_POOL_H_
#define SEMRANK_SERVER_STORES_REDIS_POOL_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/mutex.h"
#include "server/stores/redis_connection.h"

namespace semrank {

class RedisPool {
 public:
  using Deadline = RedisConnection::Deadline;

  RedisPool(const RedisUrl& url, int max_connections)
      : url_(url), max_connections_(max_connections) {}

  // Looks the server's name up, which may take as long as the system lets it;
  // before that nothing is connected. A name without an answer keeps the last.
  void LookUpAddress();

  // Runs `commands` on a connection that is idle, new, or becomes free before
  // the deadline. One that the server has closed meanwhile is replaced.
  absl::StatusOr<std::vector<RedisReply>> Call(
      std::span<const RedisCommand> commands, Deadline deadline);

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

#endif  // SEMRANK_SERVER_STORES_REDIS_POOL_H_
