// The server's log: spdlog, on standard error.
#ifndef SEMRANK_SERVER_LOGGING_H_
#define SEMRANK_SERVER_LOGGING_H_

#include <spdlog/formatter.h>

#include <memory>

namespace semrank {

// One JSON object a line: {"time": ..., "level": ..., "message": ...}. Whatever
// is in the message stays inside its string.
std::unique_ptr<spdlog::formatter> MakeJsonLogFormatter();

// Once, at start. `json`: as above; otherwise "time level message" for people.
void InitLogging(bool json);

}  // namespace semrank

#endif  // SEMRANK_SERVER_LOGGING_H_
