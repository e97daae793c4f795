// The stream of the log, which is standard error. A line that cannot be
// written, because the disk is full or the program that reads the log has
// ended, is dropped.
#ifndef SEMRANK_SERVER_BASE_LOG_STREAM_H_
#define SEMRANK_SERVER_BASE_LOG_STREAM_H_

#include <cstdint>
#include <ostream>

namespace semrank {

// Each write of this stream is one line. Not thread-safe: spdlog's sink has the
// lock.
std::ostream& LogStream();

// The number of lines that could not be written so far. Thread-safe.
std::int64_t NumDroppedLogLines();

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_LOG_STREAM_H_
