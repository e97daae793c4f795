// Where EventLog keeps the records: a folder (EventFiles), a stream of Redis
// or a topic of Kafka.
//
//   Threads  not thread-safe, except name and the numbers.
#ifndef SEMRANK_SERVER_EVENTS_EVENT_SINK_H_
#define SEMRANK_SERVER_EVENTS_EVENT_SINK_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace semrank {

// The lines of records, one after another.
class EventLines {
 public:
  // `line` ends with its newline. `impression` is the id of the list to which
  // the record belongs, and outlives the lines.
  void Add(std::string_view line, std::string_view impression) {
    text_ += line;
    lines_.push_back({text_.size(), impression});
  }
  // Removes all lines but the first `size`.
  void Truncate(std::size_t size) {
    lines_.resize(size);
    text_.resize(BeginOf(size));
  }

  std::size_t size() const { return lines_.size(); }
  bool empty() const { return lines_.empty(); }
  // All lines, each with its newline.
  std::string_view text() const { return text_; }
  // A line without its newline.
  std::string_view line(std::size_t i) const {
    return std::string_view(text_).substr(BeginOf(i),
                                          lines_[i].end - 1 - BeginOf(i));
  }
  std::string_view impression(std::size_t i) const {
    return lines_[i].impression;
  }

 private:
  struct Line {
    std::size_t end = 0;
    std::string_view impression = {};
  };
  std::size_t BeginOf(std::size_t i) const {
    return i == 0 ? 0 : lines_[i - 1].end;
  }

  std::string text_;
  std::vector<Line> lines_;
};

class EventSink {
 public:
  virtual ~EventSink() = default;

  // Adds lines and returns when they are kept. After an error a part of them
  // may be kept nevertheless. Errors name the sink or its file. May block for
  // seconds, or for as long as a disk hangs; EventLog bounds what its callers
  // wait.
  virtual absl::Status Append(const EventLines& lines, absl::Time now) = 0;
  // The most that a line may have; Append fails for a larger one.
  virtual std::size_t max_line_bytes() const {
    return std::numeric_limits<std::size_t>::max();
  }

  // Removes what is too old or too much, where that is not left to the sink.
  virtual absl::Status RemoveOld(absl::Time now) = 0;

  // The folder, or the address without its password.
  virtual const std::string& name() const = 0;
  // Bytes of all records that are kept; 0 if the sink does not say.
  virtual std::int64_t num_bytes() const = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_EVENT_SINK_H_
