// Makes lines of the records of a commit, as they are kept.
//
//   Privacy  users and sessions become keyed hashes, and the query what
//            EventText says.
//   Size     a record beyond the limit of the sink has no line. It is counted
//            and logged.
//   Threads  not thread-safe, except num_too_large.
#ifndef SEMRANK_SERVER_EVENTS_RECORD_WRITER_H_
#define SEMRANK_SERVER_EVENTS_RECORD_WRITER_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/events/event.h"
#include "model/events/keyed_hash.h"
#include "server/base/log_throttle.h"
#include "server/events/event_sink.h"

namespace semrank {

// How queries are kept.
enum class EventText { kFull, kHash, kNone };

// What one call reports. Impressions have ids, and users, sessions and queries
// as the caller named them.
struct EventReport {
  std::vector<Event> events = {};
  std::vector<Impression> impressions = {};
};

class RecordWriter {
 public:
  // `sink` outlives the writer.
  RecordWriter(const EventSink& sink, const KeyedHash& hash, EventText text)
      : sink_(sink), hash_(hash), text_(text) {}

  // Adds a line. Records, whose names it hashes, must outlive the lines. False
  // if the record is too large.
  bool Add(Impression& impression);
  // Adds the lines of a report. INVALID_ARGUMENT, without any line, if a record
  // is too large.
  absl::Status Add(EventReport& report);
  // Removes all lines.
  void Clear() { lines_.Truncate(0); }

  const EventLines& lines() const { return lines_; }
  std::int64_t num_too_large() const { return num_too_large_; }

 private:
  template <typename Record>
  bool AddLine(const Record& record, std::string_view impression);
  absl::Status TooLarge(std::string_view field) const;

  const EventSink& sink_;
  const KeyedHash hash_;
  const EventText text_;
  EventLines lines_;
  std::string line_;  // of the last record
  LogThrottle errors_{/*max_lines_per_second=*/1};
  std::atomic<std::int64_t> num_too_large_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_RECORD_WRITER_H_
