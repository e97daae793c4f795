// Reads the records of events: of the folders of one or more servers, and of
// single files. EVENTS.md describes the files.
//
//   Order    the files of a folder in order of their names, which is that of
//            time. Several folders are merged by the time of their records,
//            because a click may be reported to another server than the one
//            that ranked.
//   Frames   a file is read by whole Zstandard frames. A last frame that is cut
//            off, as a crash or a server that is writing leaves it, is counted
//            and no error. After a damaged frame the rest of its file is
//            skipped; that counts as one bad line.
//   Lines    those that are not records are bad (model/data/input_lines.h); the
//            limit holds for each folder. Plain JSON lines and gzip can be
//            read, too.
//   Memory   for each folder one frame, or 64 MiB of a larger one, of which
//            lines are then returned before its checksum is known. A longer
//            line counts as a damaged frame.
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_EVENT_FILES_H_
#define SEMRANK_MODEL_EVENTS_EVENT_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/events/event.h"

namespace semrank {

inline constexpr std::string_view kEventFilePrefix = "events-";
inline constexpr std::string_view kEventFileSuffix = ".jsonl.zst";

// What the name of a file of events has. Files of one time have several
// numbers.
struct EventFileId {
  std::int64_t time_ms = 0;  // since 1970, when the file was begun
  std::int64_t number = 0;
};
// "events-20261126T052122.123Z-000001.jsonl.zst".
std::string EventFileName(std::int64_t time_ms, std::int64_t number);
// Nothing for another name.
std::optional<EventFileId> ParseEventFileName(std::string_view name);
// The paths of the files of events in a folder, in order. The error of the file
// system if it cannot be listed.
absl::StatusOr<std::vector<std::string>> ListEventFiles(
    const std::string& folder);

struct EventFileCounts {
  std::int64_t files = 0;
  std::int64_t records = 0;
  std::int64_t cut_files = 0;      // whose last frame is not whole
  std::int64_t damaged_files = 0;  // of which a part was skipped
  std::int64_t bad_lines = 0;      // no records; damaged files included

  friend bool operator==(const EventFileCounts&,
                         const EventFileCounts&) = default;
};

class EventFileReader {
 public:
  // `paths` are folders and files. NotFound for one that does not exist and for
  // a folder without files of events; both name it.
  static absl::StatusOr<std::unique_ptr<EventFileReader>> Open(
      const std::vector<std::string>& paths, const BadLineLimit& max_bad_lines);
  ~EventFileReader();

  // False at the end. InvalidArgument once there are too many bad lines;
  // otherwise the system's error, with the file's name.
  absl::StatusOr<bool> Next(EventRecord& record);

  // The line of the last record, without line break and valid until the next
  // call, and the file that has it.
  std::string_view line() const;
  const std::string& path() const;

  // All that are read.
  const std::vector<std::string>& files() const { return files_; }
  // Share of the files' bytes that was read.
  double fraction_read() const;
  const EventFileCounts& counts() const { return counts_; }

 private:
  class Stream;
  EventFileReader() = default;

  EventFileCounts counts_;
  std::vector<std::string> files_;
  std::vector<std::unique_ptr<Stream>> streams_;  // one for each folder
  Stream* current_ = nullptr;                     // that of the last record
};

// Calls use(record) for all records of `paths`, and shows the progress on
// standard error. Ends with the first error, which is Cancelled if the process
// is interrupted.
absl::Status ForEachEvent(const std::vector<std::string>& paths,
                          const BadLineLimit& max_bad_lines,
                          const std::function<absl::Status(EventRecord&)>& use,
                          EventFileCounts& counts);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EVENT_FILES_H_
