// Writes a ResumableFile in a thread of its own, so that the disk works while
// the next vectors are computed.
//
//   Order    of the calls.
//   Memory   kMaxWaiting appended pieces at most wait; then Append waits.
//   Errors   of the file: the next call returns the first one, and what was
//            appended after it is not written.
//   Threads  not thread-safe: one caller beside the writing thread.
#ifndef SEMRANK_CLIENT_BULK_BACKGROUND_WRITER_H_
#define SEMRANK_CLIENT_BULK_BACKGROUND_WRITER_H_

#include <cstddef>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "client/bulk/resumable_file.h"
#include "client/bulk/row_parts.h"
#include "model/base/mutex.h"

namespace semrank {

class BackgroundWriter {
 public:
  static constexpr std::size_t kMaxWaiting = 8;

  struct Piece {
    RowParts rows;
    std::string ids;  // ignored unless the file has ids
  };

  // Until Finish has returned, or the writer is destroyed, nothing else may use
  // the file.
  explicit BackgroundWriter(ResumableFile& file);
  // Writes what was appended.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Leaves an empty piece in place of `piece`, with the memory of one that was
  // written.
  absl::Status Append(Piece& piece);
  // As ResumableFile::Checkpoint, for everything appended so far.
  absl::Status Checkpoint(const nlohmann::ordered_json& progress);
  // Returns when everything is written.
  absl::Status Finish();

 private:
  struct Task {
    Piece piece = {};
    std::optional<nlohmann::ordered_json> checkpoint = {};  // in place of it
  };

  absl::Status Enqueue(Task task);
  void WriteTasks();
  absl::Status Write(const Task& task);

  ResumableFile& file_;
  Mutex mutex_;
  CondVar task_or_stop_;  // the thread waits for it
  CondVar task_done_;     // the caller waits for it
  // The first one is being written.
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::vector<Piece> spare_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_BACKGROUND_WRITER_H_
