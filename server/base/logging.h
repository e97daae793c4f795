// The server's log, on standard error.
//
//   JSON     one object a line: {"time": ..., "level": ..., "message": ...} and
//            an event's fields. Whatever is in a message stays in its string;
//            bytes that are not UTF-8 are replaced.
//   Threads  InitLogging before any other thread; the rest from any thread.
#ifndef SEMRANK_SERVER_BASE_LOGGING_H_
#define SEMRANK_SERVER_BASE_LOGGING_H_

#include <cstdint>
#include <string_view>

#include "absl/strings/str_format.h"
#include "server/base/log_throttle.h"
#include "server/base/request_log.h"

namespace semrank {

// `json`: as above; otherwise "time level message" for people.
void InitLogging(bool json);

enum class LogLevel { kInfo = 2, kWarning, kError, kCritical };

void Log(LogLevel level, std::string_view message);
// Drops the message if `throttle` says so, and says later how many it dropped.
void Log(LogLevel level, std::string_view message, LogThrottle& throttle);

// LogInfo("warmed up with %d titles", num_titles), as absl::StrFormat.
template <typename... Args>
void LogInfo(const absl::FormatSpec<Args...>& format, const Args&... args) {
  Log(LogLevel::kInfo, absl::StrFormat(format, args...));
}
template <typename... Args>
void LogWarning(const absl::FormatSpec<Args...>& format, const Args&... args) {
  Log(LogLevel::kWarning, absl::StrFormat(format, args...));
}
template <typename... Args>
void LogError(const absl::FormatSpec<Args...>& format, const Args&... args) {
  Log(LogLevel::kError, absl::StrFormat(format, args...));
}

// One line of a request log.
void LogRequest(RequestLog::Reason reason, const RequestLog::Outcome& request,
                std::int64_t num_dropped);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_LOGGING_H_
