// The folder of --events, as its one writer sees it.
//
//   Files    events-TIME-NUMBER.jsonl.zst, whose names sort by the time at
//            which they were begun (UTC), even if the clock goes back. A
//            process begins a new file with its first record; later ones follow
//            when the file is large or the hour has ended.
//   Frames   each Append adds one Zstandard frame with a checksum, so that
//            after a crash a record is whole or absent.
//   Lock     an flock(2) on FOLDER/lock, which the kernel releases even after a
//            kill.
//   Threads  as EventSink.
#ifndef SEMRANK_SERVER_EVENTS_EVENT_FILES_H_
#define SEMRANK_SERVER_EVENTS_EVENT_FILES_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/base/file_descriptor.h"
#include "server/events/event_sink.h"

namespace semrank {

class EventFiles final : public EventSink {
 public:
  struct Options {
    std::string folder = {};
    // Files whose records are all older are removed.
    absl::Duration max_age = absl::Hours(24 * 90);
    // The oldest files are removed while all of them have more bytes.
    std::int64_t max_bytes = std::int64_t{10} << 30;
    std::int64_t max_file_bytes = std::int64_t{64} << 20;
  };

  // Creates the folder if it is missing and takes its lock. FailedPrecondition
  // when another process has it; otherwise the error of the file system.
  static absl::StatusOr<std::unique_ptr<EventFiles>> Open(
      const Options& options);

  // Adds the lines as one frame and returns when they are on disk. After an
  // error none of them is, and the next Append begins a new file.
  absl::Status Append(const EventLines& lines, absl::Time now) override;

  // Removes what is too old or too much, but not the file that is being
  // written. Ends with the first file that cannot be removed.
  absl::Status RemoveOld(absl::Time now) override;

  const std::string& name() const override { return options_.folder; }
  std::int64_t num_bytes() const override { return num_bytes_; }

 private:
  struct File {
    std::string name;
    absl::Time begun;
    std::int64_t num_bytes = 0;
  };
  EventFiles(Options options, FileDescriptor lock)
      : options_(std::move(options)), lock_(std::move(lock)) {}

  absl::Status FindFiles();
  absl::Status BeginFile(absl::Time now);
  absl::Status WriteFrame(std::string_view lines);
  // Removes what an unsuccessful write has left and closes the file.
  void AbandonWrite();
  std::string PathOf(const File& file) const;
  bool IsFull(absl::Time now) const;

  const Options options_;
  const FileDescriptor lock_;
  std::deque<File> files_;  // oldest first
  // The last of files_; nullopt = the next Append begins one.
  std::optional<FileDescriptor> current_;
  std::int64_t last_number_ = 0;
  absl::Time last_begun_ = absl::InfinitePast();
  std::string frame_;
  std::atomic<std::int64_t> num_bytes_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_EVENTS_EVENT_FILES_H_
