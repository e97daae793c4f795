// The records of a stream of Redis or of a topic of Kafka, in their order.
//
//   End      where the stream ended when Begin was called, so that reading ends
//            also while servers write faster than it reads.
//   Threads  not thread-safe.
#ifndef SEMRANK_CLIENT_STREAMS_EVENT_STREAM_H_
#define SEMRANK_CLIENT_STREAMS_EVENT_STREAM_H_

#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/events/event_address.h"
#include "model/redis/redis_tls.h"

namespace semrank {

class EventStream {
 public:
  struct Options {
    EventAddress address = {};      // no folder
    RedisTlsFiles tls = {};         // of rediss://
    std::string kafka_config = {};  // file of librdkafka properties
  };

  virtual ~EventStream() = default;

  // Connects. Call it once, before Next. `position` is what position() of an
  // earlier reader returned; empty = the beginning. InvalidArgument if it is
  // none; otherwise the error of the connection.
  virtual absl::Status Begin(const std::string& position) = 0;

  // Reads the line of the next record, without newline; an entry of others, who
  // write to the stream, may be empty or any text. False at the end. Errors
  // name the stream.
  virtual absl::StatusOr<bool> Next(std::string& line) = 0;

  // Where a reader begins that is to read what follows the last line; one line
  // of text.
  virtual std::string position() const = 0;

  // Deletes the records after each of which position() was one of `positions`.
  // Fails with Unimplemented for a topic of Kafka, which keeps all records
  // until its retention ends.
  virtual absl::Status Delete(std::span<const std::string> positions) = 0;

  // The address without its password.
  virtual const std::string& name() const = 0;
};

// Makes the stream of the address's kind. InvalidArgument for an address or a
// property that cannot be used.
absl::StatusOr<std::unique_ptr<EventStream>> OpenStream(
    const EventStream::Options& options);
absl::StatusOr<std::unique_ptr<EventStream>> MakeRedisStream(
    const EventStream::Options& options);
absl::StatusOr<std::unique_ptr<EventStream>> MakeKafkaStream(
    const EventStream::Options& options);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_STREAMS_EVENT_STREAM_H_
