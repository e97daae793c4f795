// The change log of a Redis store: a stream, which is read over a connection of
// its own.
//
//   Layout    "semrank:changes" is a stream whose entries have up to 64 keys,
//             each as the value of a field "put" or "delete". MarkEnd adds an
//             entry with a field "mark" to an empty log. Redis keeps about
//             50,000 entries: 3 MiB of single puts, at most about 100 MiB of
//             bulk puts.
//   Position  the id of an entry. The entry must still be there: Redis drops
//             only the oldest, so then all later ones are there too.
//   Names     host names are resolved again after each failure, also after one
//             of the store, whose callers must not wait for that.
#ifndef SEMRANK_SERVER_STORES_REDIS_CHANGE_LOG_H_
#define SEMRANK_SERVER_STORES_REDIS_CHANGE_LOG_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/redis/redis_client.h"
#include "server/stores/document_store.h"

namespace semrank {

// A hash with all documents by the bytes of their keys (store_records.h).
inline constexpr std::string_view kRedisDocumentsKey = "semrank:documents";
inline constexpr std::string_view kRedisChangesKey = "semrank:changes";

// The limits of one page of documents or changes. Redis returns a small hash as
// one page, whatever count is requested.
inline constexpr ReplyLimits kRedisPageLimits = {
    .max_elements = 1'000'000, .max_bytes = std::size_t{1} << 30};

// The commands that log a change of `keys` (DocumentKeyBytes), which they view.
// `operation` is "put" or "delete".
std::vector<RedisCommand> RedisLogCommands(std::string_view operation,
                                           std::span<const std::string> keys);

class RedisChangeLog : public ChangeLog {
 public:
  struct Options {
    RedisUrl url;
    absl::Duration timeout;  // for a round trip that does not wait for changes
    RedisPool* store_pool;   // must outlive the log
    RedisResolver resolve = FirstAddress;
  };
  // Does not connect yet.
  explicit RedisChangeLog(const Options& options);

  absl::StatusOr<std::string> MarkEnd() override;
  absl::StatusOr<Changes> ReadAfter(const std::string& position,
                                    absl::Duration max_wait) override;
  absl::Status FindDocuments(std::span<const DocumentKey> keys,
                             const VisitFound& visit) override;

 private:
  absl::StatusOr<RedisReply> Call(const RedisCommand& command,
                                  absl::Duration time_limit,
                                  const ReplyLimits& limits);
  // Reads the entries after `position`, if there are any.
  absl::StatusOr<Changes> Read(const std::string& position);
  absl::Status Wait(const std::string& position, absl::Duration max_wait);

  const Options options_;
  RedisPool pool_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_REDIS_CHANGE_LOG_H_
