// The server's log: spdlog, on standard error.
//
//   Threads  InitLogging before any other thread; the rest from any thread.
#ifndef SEMRANK_SERVER_BASE_LOGGING_H_
#define SEMRANK_SERVER_BASE_LOGGING_H_

#include <spdlog/common.h>
#include <spdlog/formatter.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "server/base/request_log.h"

namespace semrank {

// One JSON object a line: {"time": ..., "level": ..., "message": ...} and an
// event's fields. Whatever is in the message stays inside its string.
std::unique_ptr<spdlog::formatter> MakeJsonLogFormatter();

// Once, at start. `json`: as above; otherwise "time level message" for people.
void InitLogging(bool json);

// A line with values of its own: "message name=value ..." for people, members
// of the object as JSON. `fields` is an object; its strings have no line
// breaks.
void LogEvent(spdlog::level::level_enum level, std::string_view message,
              const nlohmann::ordered_json& fields);

// Log a request that took long, one of the access log, a call of an
// administrator, and a request that failed by a bug of ours.
void LogSlowRequest(const RequestLog::Outcome& slow, std::int64_t num_dropped);
void LogAccess(const RequestLog::Outcome& request, std::int64_t num_dropped);
void LogAdminCall(const RequestLog::Outcome& call, std::int64_t num_dropped);
void LogBug(const RequestLog::Outcome& failed, std::int64_t num_dropped);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_LOGGING_H_
