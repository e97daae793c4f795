#include "server/event_options.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/command_line.h"
#include "model/events/event_address.h"
#include "model/redis/redis_url.h"
#include "server/base/logging.h"

namespace semrank {
namespace {

// The address alone chooses the destination, so exactly one of the three gets
// options. Kafka gets neither `max_age` nor `max_bytes`: its brokers remove old
// records by the retention of the topic.
absl::StatusOr<EventDestination> ParseDestination(const EventOptions& options,
                                                  const RedisTlsFiles& tls) {
  if (options.events.empty()) return std::monostate();
  SEMRANK_ASSIGN_OR_RETURN(const EventAddress address,
                           ParseEventAddress(options.events));
  if (address.kind == EventAddress::Kind::kRedis) {
    SEMRANK_ASSIGN_OR_RETURN(RedisUrl url, ParseRedisUrl(address.place));
    url.tls_files = tls;
    return RedisEventSink::Options{.url = std::move(url),
                                   .stream = address.stream,
                                   .max_age = options.max_age,
                                   .max_bytes = options.max_bytes};
  }
  if (address.kind == EventAddress::Kind::kKafka) {
    return KafkaEventSink::Options{.brokers = address.place,
                                   .topic = address.stream,
                                   .properties_file = options.kafka_config};
  }
  return EventFiles::Options{.folder = address.place,
                             .max_age = options.max_age,
                             .max_bytes = options.max_bytes};
}

// A refused login needs an operator, so the server does not start. An
// unreachable Kafka broker or Redis server must not stop rankings: the server
// logs a warning, and event reports fail until the connection is back.
absl::Status CheckSink(const absl::Status& status) {
  if (absl::IsPermissionDenied(status)) return status;
  if (!status.ok()) {
    LogWarning("events cannot be written now: %s", status.message());
  }
  return absl::OkStatus();
}

// Check is not part of the EventSink interface, because EventFiles::Open
// already checks and locks the folder.
absl::StatusOr<std::unique_ptr<EventSink>> OpenSink(
    const RedisEventSink::Options& options) {
  auto sink = std::make_unique<RedisEventSink>(options);
  SEMRANK_RETURN_IF_ERROR(CheckSink(sink->Check()));
  return sink;
}
absl::StatusOr<std::unique_ptr<EventSink>> OpenSink(
    const KafkaEventSink::Options& options) {
  SEMRANK_ASSIGN_OR_RETURN(auto sink, KafkaEventSink::Open(options));
  SEMRANK_RETURN_IF_ERROR(CheckSink(sink->Check()));
  return sink;
}

// The key of a folder comes after its lock: two servers could make two keys.
absl::StatusOr<std::unique_ptr<OpenedEvents>> OpenFolder(
    const EventFiles::Options& options) {
  SEMRANK_ASSIGN_OR_RETURN(auto files, EventFiles::Open(options));
  SEMRANK_ASSIGN_OR_RETURN(const KeyedHash hash,
                           KeyedHash::OpenOrCreate(options.folder));
  return std::make_unique<OpenedEvents>(OpenedEvents{std::move(files), hash});
}

}  // namespace

void AddEventFlags(CommandLine& flags, EventOptions& options) {
  flags.Group("Events");
  flags.Add("events", &options.events,
            absl::StrFormat(
                "Where lists that were shown and clicks on them are kept, from "
                "which semrank-train learns: requests may then have "
                "\"impression\", and ReportEvents takes events. A folder of "
                "this server alone, or a stream of Redis or a topic of Kafka, "
                "of which semrank events import makes a folder: %s. rediss:// "
                "has the files of --store_tls_ca and its like. Set "
                "SEMRANK_EVENTS instead, so that no process list shows a "
                "password.",
                kStreamAddressForms),
            "DIR|ADDRESS");
  // --print_config shows the effective configuration.
  flags.HideSecrets("events", WithoutPassword);
  flags.Add("events_text", &options.text,
            "How the queries of impressions are kept: as text; as keyed hash, "
            "from which nothing can be learned but counts; or not at all. "
            "Users and sessions are keyed hashes in any case.",
            {{"full", EventText::kFull},
             {"hash", EventText::kHash},
             {"none", EventText::kNone}});
  flags.Add("events_max_age", &options.max_age,
            "How long events are kept: files whose records are all older are "
            "removed, and older entries of Redis trimmed. Kafka has the "
            "retention of its topic.",
            {.min = absl::Hours(1), .max = absl::Hours(24 * 3'650)});
  flags.Add("events_max_bytes", &options.max_bytes,
            "Bytes of all files of events, or memory of Redis that the "
            "stream uses; beyond that the oldest are removed. Not for Kafka.",
            {.min = 1 << 20, .max = std::int64_t{1} << 50});
  flags.Group("Events", CommandLine::Level::kAdvanced);
  flags.Add("events_key", &options.key_file,
            "For Redis and Kafka: file with the key of the keyed hashes, 64 "
            "hex digits, the same for all servers (openssl rand -hex 32). A "
            "folder has its own key.",
            "FILE");
  flags.Add("events_kafka_config", &options.kafka_config,
            "For Kafka: file of librdkafka properties, name=value, one a line, "
            "as security.protocol=ssl.",
            "FILE");
}

absl::Status FinishEvents(const RedisTlsFiles& tls, EventOptions& options) {
  // Errors of flags end up in logs and on screens of others, so they show the
  // address without its password.
  const std::string shown = WithoutPassword(options.events);
  auto destination = ParseDestination(options, tls);
  if (!destination.ok()) {
    return FlagError("events", shown, ToStd(destination.status().message()));
  }
  options.destination = *std::move(destination);
  // A folder belongs to one server and makes a key of its own. Several servers
  // write to one stream, and a user must have the same hash from all of them,
  // so the operator supplies the key there. A key beside a folder would be
  // ignored, and the operator would believe that hashes of two servers agree:
  // it is an error.
  const bool is_folder =
      std::holds_alternative<EventFiles::Options>(options.destination);
  const bool is_stream = options.is_on() && !is_folder;
  if (is_stream && options.key_file.empty()) {
    return FlagError("events", shown,
                     "needs --events_key=FILE, which has 64 hex digits: "
                     "openssl rand -hex 32 > FILE");
  }
  if (!is_stream && !options.key_file.empty()) {
    return FlagError("events_key", options.key_file,
                     absl::StrFormat("needs --events=%s; a folder has its "
                                     "own key",
                                     kStreamAddressForms));
  }
  if (!std::holds_alternative<KafkaEventSink::Options>(options.destination) &&
      !options.kafka_config.empty()) {
    return FlagError("events_kafka_config", options.kafka_config,
                     absl::StrFormat("needs --events=%s", kKafkaAddressForm));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<OpenedEvents>> OpenEvents(
    const EventOptions& options) {
  if (!options.is_on()) return nullptr;
  if (const auto* folder =
          std::get_if<EventFiles::Options>(&options.destination)) {
    return OpenFolder(*folder);
  }
  SEMRANK_ASSIGN_OR_RETURN(const KeyedHash hash,
                           KeyedHash::OpenFile(options.key_file));
  // Only the two streams are left. Both read the key before they connect: a
  // missing file is a mistake of the operator that no retry repairs.
  const auto* redis =
      std::get_if<RedisEventSink::Options>(&options.destination);
  SEMRANK_ASSIGN_OR_RETURN(
      auto sink,
      redis != nullptr
          ? OpenSink(*redis)
          : OpenSink(std::get<KafkaEventSink::Options>(options.destination)));
  return std::make_unique<OpenedEvents>(OpenedEvents{std::move(sink), hash});
}

}  // namespace semrank
