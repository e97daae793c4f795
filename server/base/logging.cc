#include "server/base/logging.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/time/clock.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

// Lines are written by spdlog in two ways. Ordinary messages are one string,
// which JsonMessage quotes. Events (slow request, access, admin call, bug) have
// fields of their own; they go through a second logger whose messages are
// members of the JSON object already. Both loggers share a sink, so lines never
// interleave.

// JsonMessage distinguishes the two by the name of the logger.
constexpr char kMembersLogger[] = "semrank members";

// Replaces bytes that are not UTF-8.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Formats a message as the member "message" of an object, or as the members
// that it already consists of.
class JsonMessage final : public spdlog::custom_flag_formatter {
 public:
  // The pattern calls it %*. spdlog's %v does not escape the payload, so a
  // quote in it would break the JSON of the line.
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    std::string members(message.payload.begin(), message.payload.end());
    if (message.logger_name != kMembersLogger) {
      members = "\"message\":" + Dump(members);
    }
    out.append(members.data(), members.data() + members.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

std::unique_ptr<spdlog::formatter> MakeJsonFormatter() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<JsonMessage>('*').set_pattern(
      R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%*})");
  return formatter;
}

// LogLevel repeats spdlog's numbers, so that our header needs none of spdlog's.
static_assert(int{SPDLOG_LEVEL_INFO} == static_cast<int>(LogLevel::kInfo) &&
              int{SPDLOG_LEVEL_CRITICAL} ==
                  static_cast<int>(LogLevel::kCritical));

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  return static_cast<spdlog::level::level_enum>(level);
}

// Strings are not quoted, so fields that may contain blanks come last.
std::string PlainLine(std::string_view message, const Json& fields) {
  std::string line(message);
  for (const auto& [name, value] : fields.items()) {
    line += " " + name + "=" +
            (value.is_string() ? value.get<std::string>() : Dump(value));
  }
  return line;
}

// A line break in an error message could forge a line of the log.
std::string OneLine(std::string text) {
  std::ranges::replace_if(text, absl::ascii_iscntrl, ' ');
  return text;
}

// Values that may contain blanks come last: PlainLine does not quote them.
Json RequestFields(RequestLog::Reason reason,
                   const RequestLog::Outcome& request,
                   std::int64_t num_dropped) {
  Json fields = {{"method", request.method},
                 {"code", absl::StatusCodeToString(request.status.code())}};
  const bool is_bug = reason == RequestLog::Reason::kBug;
  if (!is_bug) {
    fields["milliseconds"] =
        std::round(absl::ToDoubleMicroseconds(request.time)) / 1'000;
  }
  fields["request_id"] = request.identity.request_id;
  if (!request.identity.traceparent.empty()) {
    fields["traceparent"] = request.identity.traceparent;
  }
  if (request.number.has_value()) fields["request_number"] = *request.number;
  if (num_dropped > 0) fields["dropped"] = num_dropped;
  if (reason == RequestLog::Reason::kAdmin) fields["actor"] = request.actor;
  if (is_bug) {
    fields["error"] = OneLine(std::string(request.status.message()));
  }
  return fields;
}

// The pattern writes the braces of the object.
std::string AsMembers(std::string_view message, const Json& fields) {
  Json object = {{"message", message}};
  object.update(fields);
  const std::string whole = Dump(object);
  return whole.substr(1, whole.size() - 2);
}

// Logs a line with values of its own: "message name=value ...", or members of
// the JSON object. `fields` is an object; its strings have no line breaks.
void LogEvent(LogLevel level, std::string_view message, const Json& fields) {
  // InitLogging registers this logger only for JSON.
  const std::shared_ptr<spdlog::logger> members = spdlog::get(kMembersLogger);
  if (members != nullptr) {
    members->log(SpdlogLevel(level), AsMembers(message, fields));
  } else {
    Log(level, PlainLine(message, fields));
  }
}

}  // namespace

void InitLogging(bool json) {
  const auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("semrank", sink);
  spdlog::drop(kMembersLogger);
  if (json) {
    const auto members = std::make_shared<spdlog::logger>(kMembersLogger, sink);
    members->flush_on(spdlog::level::info);
    spdlog::register_logger(members);
    sink->set_formatter(MakeJsonFormatter());
  } else {
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  }
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void Log(LogLevel level, std::string_view message) {
  spdlog::log(SpdlogLevel(level), message);
}

void Log(LogLevel level, std::string_view message, LogThrottle& throttle) {
  std::int64_t num_dropped = 0;
  if (!throttle.Allow(absl::Now(), num_dropped)) return;
  Log(level, message);
  if (num_dropped > 0) {
    LogWarning("%d such lines were dropped before", num_dropped);
  }
}

void LogRequest(RequestLog::Reason reason, const RequestLog::Outcome& request,
                std::int64_t num_dropped) {
  const Json fields = RequestFields(reason, request, num_dropped);
  switch (reason) {
    case RequestLog::Reason::kSlow:
      return LogEvent(LogLevel::kWarning, "slow request", fields);
    case RequestLog::Reason::kBug:
      return LogEvent(LogLevel::kError, "bug", fields);
    case RequestLog::Reason::kAccess:
      return LogEvent(LogLevel::kInfo, "request", fields);
    case RequestLog::Reason::kAdmin:
      return LogEvent(LogLevel::kInfo, "admin call", fields);
  }
}

}  // namespace semrank
