#include "model/events/event_address.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"

namespace semrank {
namespace {

constexpr std::string_view kKafkaPrefix = "kafka:";

bool IsStreamName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, absl::ascii_isgraph) &&
         !std::ranges::all_of(name, absl::ascii_isdigit);
}

// As Kafka has it.
bool IsTopicName(std::string_view name) {
  constexpr std::size_t kMaxBytes = 249;
  return !name.empty() && name.size() <= kMaxBytes &&
         std::ranges::all_of(name, [](char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

absl::StatusOr<EventAddress> ParseRedis(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  // User and password, which may have slashes, end with the last @.
  const std::size_t at = text.rfind('@');
  const std::size_t begin =
      at == std::string_view::npos ? text.find("://") + 3 : at;
  if (slash < begin || !IsStreamName(text.substr(slash + 1))) {
    return absl::InvalidArgumentError(
        "must end with the name of a stream, which is no number: "
        "redis://HOST:PORT/STREAM");
  }
  return EventAddress{.kind = EventAddress::Kind::kRedis,
                      .place = std::string(text.substr(0, slash)),
                      .stream = std::string(text.substr(slash + 1))};
}

absl::StatusOr<EventAddress> ParseKafka(std::string_view text) {
  text.remove_prefix(kKafkaPrefix.size());
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos ||
      !IsTopicName(text.substr(slash + 1))) {
    return absl::InvalidArgumentError(
        "must be kafka:HOST:PORT,HOST:PORT/TOPIC, with a topic of letters, "
        "digits, . _ and -");
  }
  return EventAddress{.kind = EventAddress::Kind::kKafka,
                      .place = std::string(text.substr(0, slash)),
                      .stream = std::string(text.substr(slash + 1))};
}

}  // namespace

absl::StatusOr<EventAddress> ParseEventAddress(std::string_view text) {
  if (text.starts_with("redis://") || text.starts_with("rediss://")) {
    return ParseRedis(text);
  }
  const bool is_url = text.find("://") != std::string_view::npos;
  if (text.starts_with(kKafkaPrefix) && !is_url) return ParseKafka(text);
  // A URL would become a folder of a strange name.
  if (is_url) {
    return absl::InvalidArgumentError(
        "must be a folder, redis://HOST:PORT/STREAM, rediss://HOST:PORT/STREAM "
        "or kafka:BROKERS/TOPIC");
  }
  return EventAddress{.place = std::string(text)};
}

}  // namespace semrank
