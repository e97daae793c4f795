#include "server/base/logging.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/time/clock.h"
#include "server/base/log_stream.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

// InitLogging sets it before other threads start.
bool lines_are_json = false;

// Replaces bytes that are not UTF-8.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
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

// A message cannot leave its string: the line is one JSON object, serialised as
// a whole. spdlog's own pattern would not escape it.
std::string JsonLine(spdlog::level::level_enum level, std::string_view message,
                     const Json& fields) {
  const spdlog::string_view_t name = spdlog::level::to_string_view(level);
  Json object = {{"time", absl::FormatTime("%Y-%m-%dT%H:%M:%E3S%Ez",
                                           absl::Now(), absl::LocalTimeZone())},
                 {"level", std::string(name.data(), name.size())},
                 {"message", message}};
  object.update(fields);
  return Dump(object);
}

// Logs a line with values of its own: "message name=value ...", or members of
// the JSON object. `fields` is an object; its strings have no line breaks.
void LogEvent(LogLevel level, std::string_view message, const Json& fields) {
  const spdlog::level::level_enum number = SpdlogLevel(level);
  const std::string line = lines_are_json ? JsonLine(number, message, fields)
                                          : PlainLine(message, fields);
  spdlog::log(number, std::string_view(line));
}

}  // namespace

void InitLogging(bool json) {
  lines_are_json = json;
  auto logger = std::make_shared<spdlog::logger>(
      "semrank", std::make_shared<spdlog::sinks::ostream_sink_mt>(LogStream()));
  logger->set_pattern(json ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void Log(LogLevel level, std::string_view message) {
  LogEvent(level, message, Json::object());
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
