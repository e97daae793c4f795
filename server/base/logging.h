// The server's log, on standard error. A line that cannot be written, because
// the disk is full or the program that reads the log has ended or does not
// read, is dropped: requests never wait for a log.
//
//   JSON     one object a line: {"time": ..., "level": ..., "message": ...} and
//            an event's fields. No text can leave its string; bytes that are
//            not UTF-8 are replaced.
//   Threads  InitLogging is called before other threads start; the rest is
//            thread-safe.
#ifndef SEMRANK_SERVER_BASE_LOGGING_H_
#define SEMRANK_SERVER_BASE_LOGGING_H_

#include <cstdint>
#include <string_view>

#include "absl/strings/str_format.h"
#include "server/base/log_throttle.h"
#include "server/base/request_log.h"

namespace semrank {

// `json` chooses the format above; otherwise a line is "time level message".
void InitLogging(bool json);

enum class LogLevel { kInfo = 2, kWarning, kError, kCritical };

void Log(LogLevel level, std::string_view message);
// Drops the message if `throttle` does not allow it; a later line has the
// number of dropped ones.
void Log(LogLevel level, std::string_view message, LogThrottle& throttle);

// The number of lines that could not be written so far.
std::int64_t NumDroppedLogLines();

// LogInfo("warmed up with %d titles", num_titles) formats as absl::StrFormat.
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

// Writes one line of a request log.
void LogRequest(RequestLog::Reason reason, const RequestLog::Outcome& request,
                std::int64_t num_dropped);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_LOGGING_H_
