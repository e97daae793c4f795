// Where EventLog keeps the records: a folder (EventFiles), a stream of Redis
// or a topic of Kafka.
//
//   Threads  not thread-safe, except name and the numbers.
#ifndef SEMRANK_SERVER_EVENTS_EVENT_SINK_H_
#define SEMRANK_SERVER_EVENTS_EVENT_SINK_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace semrank {

class EventSink {
 public:
  virtual ~EventSink() = default;

  // Adds whole lines, each with its newline, and returns when they are kept.
  // Drops and counts lines that are larger than the sink can ever keep.
  // After an error a part of them may be kept nevertheless. Errors name the
  // sink or its file. May block for seconds, or for as long as a disk hangs;
  // EventLog bounds what its callers wait.
  virtual absl::Status Append(std::string_view lines, absl::Time now) = 0;

  // Removes what is too old or too much, where that is not left to the sink.
  virtual absl::Status RemoveOld(absl::Time now) = 0;

  // The folder, or the address without its password.
  virtual const std::string& name() const = 0;
  // Bytes of all records that are kept; 0 if the sink does not say.
  virtual std::int64_t num_bytes() const = 0;
  // Lines that were dropped because of their size.
  virtual std::int64_t num_too_large() const { return 0; }
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_EVENT_SINK_H_
