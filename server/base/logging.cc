#include "server/base/logging.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/ascii.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

// Lines are written by spdlog in two ways. Ordinary messages are one string,
// which JsonMessage quotes. Events (slow request, access, admin call, bug) have
// fields of their own; they go through a second logger whose messages are
// members of the JSON object already. Both loggers share a sink, so lines never
// interleave.

// The name tells JsonMessage which of the two a message is.
constexpr char kMembersLogger[] = "semrank members";

// Bytes that are no UTF-8 are replaced.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The message as a member of an object, or the members that it is.
class JsonMessage final : public spdlog::custom_flag_formatter {
 public:
  // Stands for %* in the pattern. %v would write the payload without escaping
  // it, and a quote in it would break the line's JSON.
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

// Strings are not quoted, so fields that may contain blanks come last.
std::string ForPeople(std::string_view message, const Json& fields) {
  std::string line(message);
  for (const auto& [name, value] : fields.items()) {
    line += " " + name + "=" +
            (value.is_string() ? value.get<std::string>() : Dump(value));
  }
  return line;
}

// Whose request it was.
void AddIdentity(const RequestLog::Outcome& outcome, std::int64_t num_dropped,
                 Json& fields) {
  fields["request_id"] = outcome.identity.request_id;
  if (!outcome.identity.traceparent.empty()) {
    fields["traceparent"] = outcome.identity.traceparent;
  }
  if (outcome.number.has_value()) fields["request_number"] = *outcome.number;
  if (num_dropped > 0) fields["dropped"] = num_dropped;
}

Json RequestFields(const RequestLog::Outcome& outcome,
                   std::int64_t num_dropped) {
  Json fields = {
      {"method", outcome.method},
      {"code", absl::StatusCodeToString(outcome.status.code())},
      {"milliseconds",
       std::round(absl::ToDoubleMicroseconds(outcome.time)) / 1'000}};
  AddIdentity(outcome, num_dropped, fields);
  return fields;
}

// A line break in an error message would let it forge a further line of the
// log.
std::string OneLine(std::string text) {
  std::ranges::replace_if(text, absl::ascii_iscntrl, ' ');
  return text;
}

// The object without its braces, since the pattern writes the outer ones.
std::string AsMembers(std::string_view message, const Json& fields) {
  Json object = {{"message", message}};
  object.update(fields);
  const std::string whole = Dump(object);
  return whole.substr(1, whole.size() - 2);
}

}  // namespace

std::unique_ptr<spdlog::formatter> MakeJsonLogFormatter() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<JsonMessage>('*').set_pattern(
      R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%*})");
  return formatter;
}

void InitLogging(bool json) {
  const auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("semrank", sink);
  if (json) {
    const auto members = std::make_shared<spdlog::logger>(kMembersLogger, sink);
    members->flush_on(spdlog::level::info);
    spdlog::register_logger(members);
    sink->set_formatter(MakeJsonLogFormatter());
  } else {
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  }
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void LogEvent(spdlog::level::level_enum level, std::string_view message,
              const Json& fields) {
  // Registered only for JSON, so its presence is the choice of the format.
  const std::shared_ptr<spdlog::logger> members = spdlog::get(kMembersLogger);
  if (members != nullptr) {
    members->log(level, "{}", AsMembers(message, fields));
  } else {
    spdlog::log(level, "{}", ForPeople(message, fields));
  }
}

void LogSlowRequest(const RequestLog::Outcome& slow, std::int64_t num_dropped) {
  LogEvent(spdlog::level::warn, "slow request",
           RequestFields(slow, num_dropped));
}

void LogAccess(const RequestLog::Outcome& request, std::int64_t num_dropped) {
  LogEvent(spdlog::level::info, "request", RequestFields(request, num_dropped));
}

void LogAdminCall(const RequestLog::Outcome& call, std::int64_t num_dropped) {
  Json fields = RequestFields(call, num_dropped);
  // Last: it contains blanks.
  fields["actor"] = call.actor;
  LogEvent(spdlog::level::info, "admin call", fields);
}

void LogBug(const RequestLog::Outcome& failed, std::int64_t num_dropped) {
  Json fields = {{"method", failed.method},
                 {"code", absl::StatusCodeToString(failed.status.code())}};
  AddIdentity(failed, num_dropped, fields);
  // Last: for people it is the rest of the line.
  fields["error"] = OneLine(std::string(failed.status.message()));
  LogEvent(spdlog::level::err, "bug", fields);
}

}  // namespace semrank
