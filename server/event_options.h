// The flags of --events: where lists that were shown and clicks are kept.
#ifndef SEMRANK_SERVER_EVENT_OPTIONS_H_
#define SEMRANK_SERVER_EVENT_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/events/keyed_hash.h"
#include "model/redis/redis_tls.h"
#include "server/events/event_files.h"
#include "server/events/event_sink.h"
#include "server/events/kafka_event_sink.h"
#include "server/events/record_writer.h"
#include "server/events/redis_event_sink.h"

namespace semrank {

class CommandLine;

// Where records are kept; monostate = nowhere.
using EventDestination =
    std::variant<std::monostate, EventFiles::Options, RedisEventSink::Options,
                 KafkaEventSink::Options>;

struct EventOptions {
  // A folder, redis://..., rediss://... or kafka:...; empty = impressions and
  // events are refused.
  std::string events = {};
  EventText text = EventText::kFull;
  absl::Duration max_age = EventFiles::Options().max_age;
  std::int64_t max_bytes = EventFiles::Options().max_bytes;
  // For Redis and Kafka; a folder has its own key.
  std::string key_file = {};
  std::string kafka_config = {};  // properties of librdkafka
  // FinishEvents sets it from the flags.
  EventDestination destination = {};

  bool is_on() const {
    return !std::holds_alternative<std::monostate>(destination);
  }
};

void AddEventFlags(CommandLine& flags, EventOptions& options);

// Checks the flags and sets the destination that `events` names; `tls` are the
// files for rediss://. An error is a FlagError.
absl::Status FinishEvents(const RedisTlsFiles& tls, EventOptions& options);

struct OpenedEvents {
  std::unique_ptr<EventSink> sink;
  KeyedHash hash;
};

// Null if events are off. Fails with the error of the folder or of a file, or
// when Redis or Kafka refuses the login. One that cannot be reached is only
// logged: it may come back, and rankings do not need it.
absl::StatusOr<std::unique_ptr<OpenedEvents>> OpenEvents(
    const EventOptions& options);

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENT_OPTIONS_H_
