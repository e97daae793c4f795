// The change log of a Redis store: a stream, over a connection of its own.
//
//   Layout    "semrank:changes" is a stream whose entries have up to 64 keys,
//             each as the value of a field "put" or "delete"; "mark" is an
//             entry of MarkEnd. Redis keeps about 50,000 entries, which is 3
//             MiB of single puts and at most about 100 MiB of bulk.
//   Position  the id of an entry. The entry must still be there, since Redis
//             drops only the oldest: if it is, so is all that follows.
//   Names     are resolved after each failure.
#ifndef SEMRANK_SERVER_STORES_REDIS_CHANGE_LOG_H_
#define SEMRANK_SERVER_STORES_REDIS_CHANGE_LOG_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/stores/change_log.h"
#include "server/stores/redis_client.h"

namespace semrank {

// The hash of all documents, by the bytes of their keys (store_records.h).
inline constexpr std::string_view kRedisDocumentsKey = "semrank:documents";
inline constexpr std::string_view kRedisChangesKey = "semrank:changes";

// What one page of documents, or of changes, may hold: a hash that is not yet
// large comes as one page, whatever count is asked for.
inline constexpr ReplyLimits kRedisPageLimits = {
    .max_elements = 1'000'000, .max_bytes = std::size_t{1} << 30};

// The commands that log the change of `keys`, bytes of keys, which the commands
// view. `operation` is "put" or "delete".
std::vector<RedisCommand> RedisLogCommands(std::string_view operation,
                                           std::span<const std::string> keys);

class RedisChangeLog : public ChangeLog {
 public:
  struct Options {
    RedisUrl url;
    std::string name;        // for errors
    absl::Duration timeout;  // of a round trip that does not wait for changes
  };
  // Connects to nothing yet.
  explicit RedisChangeLog(const Options& options);

  absl::StatusOr<std::string> MarkEnd() override;
  absl::StatusOr<Changes> ReadAfter(const std::string& position,
                                    absl::Duration max_wait) override;
  absl::Status FindDocuments(
      std::span<const DocumentKey> keys,
      const std::function<void(std::size_t, const StoredDocument*)>& visit)
      override;

 private:
  absl::StatusOr<RedisReply> Call(const RedisCommand& command,
                                  absl::Duration time_limit,
                                  const ReplyLimits& limits);
  // The entries after `position`; none = there are none yet.
  absl::StatusOr<Changes> Read(const std::string& position);
  absl::Status Wait(const std::string& position, absl::Duration max_wait);
  absl::Status Named(const absl::Status& status) const;

  const Options options_;
  RedisPool pool_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_REDIS_CHANGE_LOG_H_
