#include "server/base/logging.h"

#include <limits.h>
#include <poll.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "model/base/count_text.h"
#include "model/base/file_descriptor.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

std::atomic<std::int64_t> num_dropped_lines = 0;

// How long the first line waits for a reader of a full pipe. Further lines do
// not wait until one was written again.
constexpr int kPatienceMs = 100;

// spdlog's own sink for standard error hides errors, and blocks.
class LineBuffer : public std::streambuf {
 public:
  LineBuffer() : file_(FileDescriptor::Own(STDERR_FILENO, "standard error")) {}

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (!Write({text, static_cast<std::size_t>(size)})) ++num_dropped_lines;
    // The stream would write no more lines after an error.
    return size;
  }

  // A pipe that is ready takes PIPE_BUF bytes without blocking, so a line is
  // written in pieces of that size. (The descriptor is not made non-blocking:
  // it may be shared with the program that started the server.)
  bool Write(std::string_view line) {
    // The end of a line that was cut.
    if (std::exchange(is_cut_, false)) is_cut_ = !WritePiece("\n");
    for (bool is_first = true; !line.empty(); is_first = false) {
      const std::string_view piece = line.substr(0, PIPE_BUF);
      if (is_cut_ || !WritePiece(piece)) {
        is_cut_ |= !is_first;
        return false;
      }
      line.remove_prefix(piece.size());
    }
    return true;
  }

  bool WritePiece(std::string_view piece) {
    pollfd event = {.fd = file_.get(), .events = POLLOUT, .revents = 0};
    const bool is_ready = poll(&event, 1, is_stuck_ ? 0 : kPatienceMs) > 0;
    is_stuck_ = !is_ready;
    return is_ready && file_.Write(piece).ok();
  }

  const FileDescriptor file_;
  bool is_stuck_ = false;
  bool is_cut_ = false;
};

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
  const RequestLog::Details details =
      request.details ? request.details() : RequestLog::Details();
  for (const auto& [name, value] :
       {std::pair("model", &details.model), std::pair("key", &details.key),
        std::pair("peer", &details.peer)}) {
    if (!value->empty()) fields[name] = *value;
  }
  if (details.num_texts > 0) fields["texts"] = details.num_texts;
  if (num_dropped > 0) fields["dropped"] = num_dropped;
  if (reason == RequestLog::Reason::kAdmin) {
    fields["actor"] =
        absl::StrCat(details.key.empty() ? "no key" : "key " + details.key,
                     " at ", details.peer);
  }
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
  // Never destroyed: threads may log until the process ends. The sink has the
  // lock, and writes a line at once.
  static auto* const stream = new std::ostream(new LineBuffer);
  auto logger = std::make_shared<spdlog::logger>(
      "semrank", std::make_shared<spdlog::sinks::ostream_sink_mt>(*stream));
  logger->set_pattern(json ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

std::int64_t NumDroppedLogLines() { return num_dropped_lines; }

void Log(LogLevel level, std::string_view message) {
  LogEvent(level, message, Json::object());
}

void Log(LogLevel level, std::string_view message, LogThrottle& throttle) {
  std::int64_t num_dropped = 0;
  if (!throttle.Allow(absl::Now(), num_dropped)) return;
  Log(level, message);
  if (num_dropped > 0) {
    LogWarning("%s dropped before",
               num_dropped == 1
                   ? "1 such line was"
                   : GroupDigits(num_dropped) + " such lines were");
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
