// Reads the records of a stream of Redis or of a topic of Kafka.
//
//   Order    that of the stream; in a topic, that of each of its partitions.
//   End      where the stream ended when Begin was called, so that reading ends
//            also while servers write faster than it reads.
//   Threads  not thread-safe. A call blocks its thread, and fails if the server
//            sends nothing for 30 s.
//   Errors   name the stream without its password. Unavailable or
//            DeadlineExceeded if the server cannot be reached or does not
//            respond; PermissionDenied if it refuses the login or a right.
#ifndef SEMRANK_CLIENT_STREAMS_EVENT_STREAM_H_
#define SEMRANK_CLIENT_STREAMS_EVENT_STREAM_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/events/event_address.h"
#include "model/redis/redis_tls.h"

namespace semrank {

// Why Kafka deletes no record on request.
inline constexpr std::string_view kNoKafkaDeletion =
    "no record of Kafka can be deleted: all are removed when the retention of "
    "the topic ends";

class EventStream {
 public:
  struct Options {
    EventAddress address = {};      // kRedis or kKafka
    RedisTlsFiles tls = {};         // used with rediss://
    std::string kafka_config = {};  // file of librdkafka properties; "" = none
  };

  virtual ~EventStream() = default;

  // Connects and notes where the stream ends. Call it once, before Next.
  // `position` is what position() of an earlier reader returned; empty = the
  // beginning. InvalidArgument if it is not the position of such a stream.
  virtual absl::Status Begin(const std::string& position) = 0;

  // Reads the line of the next record, without newline. False at the end. Other
  // programs may write to the stream, too: their entries may have any text, or
  // none.
  virtual absl::StatusOr<bool> Next(std::string& line) = 0;

  // The position of a reader that continues after the last line; one line of
  // text without blanks.
  virtual std::string position() const = 0;

  // Deletes the records after each of which position() was one of `positions`;
  // at least one. A topic of Kafka returns Unimplemented with kNoKafkaDeletion.
  virtual absl::Status Delete(std::span<const std::string> positions) = 0;

  // The address without its password.
  virtual const std::string& name() const = 0;
};

absl::StatusOr<std::unique_ptr<EventStream>> MakeRedisStream(
    const EventStream::Options& options);
absl::StatusOr<std::unique_ptr<EventStream>> MakeKafkaStream(
    const EventStream::Options& options);
// Makes the stream of the address's kind. InvalidArgument for an address or a
// property that cannot be used.
inline absl::StatusOr<std::unique_ptr<EventStream>> OpenEventStream(
    const EventStream::Options& options) {
  return options.address.kind == EventAddress::Kind::kRedis
             ? MakeRedisStream(options)
             : MakeKafkaStream(options);
}

}  // namespace semrank

#endif  // SEMRANK_CLIENT_STREAMS_EVENT_STREAM_H_
