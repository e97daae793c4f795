// Sorts the records of another source in memory and writes them as a file of a
// folder of events.
//
//   Memory   the lines of all records.
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_SORTED_RECORDS_H_
#define SEMRANK_MODEL_EVENTS_SORTED_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/events/event.h"

namespace semrank {

class SortedRecords {
 public:
  void Add(const EventRecord& record);

  std::int64_t num_impressions() const { return num_impressions_; }
  std::int64_t num_events() const { return num_events_; }
  bool empty() const { return lines_.empty(); }
  // The least time of a record; there is at least one.
  std::int64_t first_time_ms() const { return first_time_ms_; }
  // Bytes of memory that the records need, about.
  std::size_t num_bytes() const { return num_bytes_; }

  // Writes the records in order of time as a file that is named after `time_ms`
  // and `number`, and returns its path. There is at least one record, and the
  // caller holds the folder's lock. AlreadyExists if the file exists.
  absl::StatusOr<std::string> Write(const std::string& folder,
                                    std::int64_t time_ms, std::int64_t number);

 private:
  struct Line {
    std::int64_t time_ms = 0;
    std::string text;
  };

  std::vector<Line> lines_;
  std::int64_t first_time_ms_ = std::numeric_limits<std::int64_t>::max();
  std::size_t num_bytes_ = 0;
  std::int64_t num_impressions_ = 0;
  std::int64_t num_events_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_SORTED_RECORDS_H_
