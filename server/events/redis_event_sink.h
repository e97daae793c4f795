// Keeps records of events in a stream of Redis, an entry each
// (kRedisEventField), which others may read, too.
//
//   Promise  a record is kept when Redis has answered XADD; whether it survives
//            a crash of Redis is a matter of its appendfsync. After an error
//            the records that were answered before stay, so that a repeated
//            report may be kept twice.
//   Old      once a minute the stream is trimmed, by age and by the memory that
//            it takes, in whole nodes of about a hundred entries. The age is
//            that by the clock of Redis, which made the ids. Needs Redis 6.2
//            or later.
//   Names    host names are resolved again when Redis does not answer.
//   Threads  as EventSink.
//   Errors   those of RedisPool (redis_client.h), with the address but without
//            its password.
#ifndef SEMRANK_SERVER_EVENTS_REDIS_EVENT_SINK_H_
#define SEMRANK_SERVER_EVENTS_REDIS_EVENT_SINK_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/redis/redis_client.h"
#include "model/redis/redis_url.h"
#include "server/events/event_sink.h"

namespace semrank {

class RedisEventSink final : public EventSink {
 public:
  struct Options {
    RedisUrl url = {};
    std::string stream = {};
    absl::Duration max_age = absl::Hours(24 * 90);
    std::int64_t max_bytes = std::int64_t{10} << 30;  // of Redis' memory
    absl::Duration timeout = absl::Seconds(2);        // of a round trip
    // After it, RemoveOld leaves the rest to the next call.
    absl::Duration max_trim_time = absl::Seconds(1);
  };

  // Resolves the host name, which may take as long as the system allows. Does
  // not connect yet.
  explicit RedisEventSink(const Options& options);

  // Whether the stream can be used. PermissionDenied for a login that Redis
  // refuses.
  absl::Status Check();

  absl::Status Append(const EventLines& lines, absl::Time now) override;
  absl::Status RemoveOld(absl::Time now) override;
  const std::string& name() const override { return name_; }
  // Memory of the stream, as Redis estimated it when it was last trimmed.
  std::int64_t num_bytes() const override { return num_bytes_; }

 private:
  absl::StatusOr<std::vector<RedisReply>> Call(
      std::span<const RedisCommand> commands);
  absl::StatusOr<std::int64_t> CallForNumber(const RedisCommand& command);
  absl::StatusOr<absl::Time> RedisTime();
  // Return false if old entries may be left when the time is over.
  absl::StatusOr<bool> Trim(std::string_view strategy, std::int64_t threshold,
                            RedisPool::Deadline until);
  absl::StatusOr<bool> TrimByBytes(RedisPool::Deadline until);

  const Options options_;
  const std::string name_;
  RedisPool pool_;
  bool is_away_ = false;  // Redis could not execute the last call
  RedisPool::Deadline next_trim_;
  std::atomic<std::int64_t> num_bytes_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_REDIS_EVENT_SINK_H_
