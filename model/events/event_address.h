// Where records of events are kept, as flags and arguments name it.
#ifndef SEMRANK_MODEL_EVENTS_EVENT_ADDRESS_H_
#define SEMRANK_MODEL_EVENTS_EVENT_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace semrank {

// An entry of a stream of Redis has the line of a record, without its newline,
// as the value of this field. A message of Kafka is such a line.
inline constexpr std::string_view kRedisEventField = "record";

// What a stream's address looks like, for help and errors.
inline constexpr std::string_view kStreamAddressForms =
    "redis://[user:password@]host[:port][/db]/STREAM, rediss://... (TLS) or "
    "kafka:HOST:PORT,HOST:PORT/TOPIC";
inline constexpr std::string_view kKafkaAddressForm =
    "kafka:HOST:PORT,HOST:PORT/TOPIC";

struct EventAddress {
  enum class Kind { kFolder, kRedis, kKafka };

  Kind kind = Kind::kFolder;
  // The folder; the URL of a Redis server (redis_url.h); or the brokers of
  // Kafka, "host:port,host:port".
  std::string place = {};
  // The key of a stream of Redis, or the topic of Kafka.
  std::string stream = {};
};

// Parses kStreamAddressForms. InvalidArgument with the reason, never with the
// text, which may have a password.
absl::StatusOr<EventAddress> ParseStreamAddress(std::string_view text);

// As ParseStreamAddress, but any other text that is not a URL is a folder.
absl::StatusOr<EventAddress> ParseEventAddress(std::string_view text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EVENT_ADDRESS_H_
