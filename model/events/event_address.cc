#include "model/events/event_address.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

constexpr std::string_view kKafkaPrefix = "kafka:";

bool IsUrl(std::string_view text) {
  return text.find("://") != std::string_view::npos;
}

// A number would be that of a database, as in redis://host/0, and the stream
// would be missing.
bool IsStreamName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, absl::ascii_isgraph) &&
         !std::ranges::all_of(name, absl::ascii_isdigit);
}

// Kafka's rule for the names of topics.
bool IsTopicName(std::string_view name) {
  constexpr std::size_t kMaxBytes = 249;
  return !name.empty() && name.size() <= kMaxBytes &&
         std::ranges::all_of(name, [](char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

EventAddress SplitAt(std::size_t slash, EventAddress::Kind kind,
                     std::string_view text) {
  return {.kind = kind,
          .place = std::string(text.substr(0, slash)),
          .stream = std::string(text.substr(slash + 1))};
}

// Splits URL/STREAM at the last slash. ParseRedisUrl checks the URL before it
// is used.
absl::StatusOr<EventAddress> ParseRedis(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  // User and password, which may have slashes, end with the last @.
  const std::size_t at = text.rfind('@');
  const std::size_t begin =
      at == std::string_view::npos ? text.find("://") + 3 : at;
  if (slash < begin || !IsStreamName(text.substr(slash + 1))) {
    return absl::InvalidArgumentError(
        "must end with the name of a stream, /STREAM, which is not a number");
  }
  return SplitAt(slash, EventAddress::Kind::kRedis, text);
}

absl::StatusOr<EventAddress> ParseKafka(std::string_view text) {
  text.remove_prefix(kKafkaPrefix.size());
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos ||
      !IsTopicName(text.substr(slash + 1))) {
    return absl::InvalidArgumentError(
        absl::StrCat("must be ", ToAbsl(kKafkaAddressForm),
                     ", with a topic of letters, digits, . _ and -"));
  }
  return SplitAt(slash, EventAddress::Kind::kKafka, text);
}

// `others` are the forms of addresses, beside those of streams, that the error
// names.
absl::StatusOr<EventAddress> ParseStream(std::string_view text,
                                         absl::string_view others) {
  if (text.starts_with("redis://") || text.starts_with("rediss://")) {
    return ParseRedis(text);
  }
  if (text.starts_with(kKafkaPrefix) && !IsUrl(text)) return ParseKafka(text);
  return absl::InvalidArgumentError(
      absl::StrCat("must be ", others, ToAbsl(kStreamAddressForms)));
}

}  // namespace

absl::StatusOr<EventAddress> ParseStreamAddress(std::string_view text) {
  return ParseStream(text, /*others=*/"");
}

// A URL of another scheme would become a folder of a strange name.
absl::StatusOr<EventAddress> ParseEventAddress(std::string_view text) {
  const bool is_stream = text.starts_with(kKafkaPrefix) || IsUrl(text);
  if (is_stream) return ParseStream(text, "a folder, ");
  return EventAddress{.place = std::string(text)};
}

}  // namespace semrank
