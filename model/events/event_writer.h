// Writes files of events without a server. The program that does so holds the
// lock of their folder.
#ifndef SEMRANK_MODEL_EVENTS_EVENT_WRITER_H_
#define SEMRANK_MODEL_EVENTS_EVENT_WRITER_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"
#include "model/base/file_io.h"
#include "model/events/event.h"

namespace semrank {

// Not every account of the machine may read queries.
inline constexpr mode_t kEventFileMode = 0640;

// The file of the lock of a folder of events.
inline constexpr std::string_view kEventLockFile = "lock";

// Takes the lock of a folder of events, until the result is destroyed, and
// removes what a killed program has left beside the files. FailedPrecondition,
// with the remedy, while a server or another program has the lock.
absl::StatusOr<FileDescriptor> LockEventFolder(const std::string& folder);
// As LockEventFolder, but creates the folder if it is missing.
absl::StatusOr<FileDescriptor> CreateEventFolder(const std::string& folder);

// Writes lines as frames of about a megabyte. Errors are those of the file.
//
//   Memory   one frame of lines.
//   Threads  not thread-safe.
class EventFrameWriter {
 public:
  // `file` outlives the writer.
  explicit EventFrameWriter(const FileReplacement& file) : file_(file) {}

  // Adds a line, which has no line break.
  absl::Status Add(std::string_view line);
  // Writes the last frame. Call it before FileReplacement::Commit.
  absl::Status Finish();
  // Whether no line was added.
  bool is_empty() const { return is_empty_; }

 private:
  const FileReplacement& file_;
  std::string lines_;
  bool is_empty_ = true;
};

// Sorts the records of another source in memory and writes them as files.
//
//   Memory   the lines of all records.
//   Threads  not thread-safe.
class SortedRecords {
 public:
  void Add(const EventRecord& record);

  std::int64_t num_impressions() const { return num_impressions_; }
  std::int64_t num_events() const { return num_events_; }
  bool empty() const { return lines_.empty(); }
  // Bytes of memory that the records need, about.
  std::size_t num_bytes() const { return num_bytes_; }

  // Writes the records in order of time as a file that is named after `time_ms`
  // and `number`, and returns its path. There is at least one record, and the
  // caller holds the folder's lock. AlreadyExists if the file exists.
  absl::StatusOr<std::string> Write(const std::string& folder,
                                    std::int64_t time_ms, std::int64_t number);
  // As Write, but begins a file for each hour, which is named after its first
  // record: a server's retention expects no longer file. Returns the paths.
  // AlreadyExists if the first of them exists. After an error none is there.
  absl::StatusOr<std::vector<std::string>> WriteHours(
      const std::string& folder);

 private:
  struct Line {
    std::int64_t time_ms = 0;
    std::string text = {};
  };

  void Sort();
  static absl::StatusOr<std::string> WriteLines(std::span<const Line> lines,
                                                const std::string& folder,
                                                std::int64_t time_ms,
                                                std::int64_t number);

  std::vector<Line> lines_;
  std::size_t num_bytes_ = 0;
  std::int64_t num_impressions_ = 0;
  std::int64_t num_events_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EVENT_WRITER_H_
