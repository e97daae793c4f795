// A file that takes hours to write. After a crash it continues from the last
// checkpoint, and it gets its name only when it is complete.
//
//   Names    FILE.partial while incomplete, and FILE.ids.partial for its ids;
//            FILE.state holds how many of their bytes are valid, the identity
//            of the file, and the progress of its writer.
//   Crash    a crash at any moment leaves FILE as it was or complete. What was
//            written after the last checkpoint is truncated when the file is
//            opened again.
//   Errors   those of the system, with the name; FailedPrecondition if the
//            partial file has another identity, is damaged, or is locked by
//            another process.
//   Threads  not thread-safe.
#ifndef SEMRANK_CLIENT_BULK_RESUMABLE_FILE_H_
#define SEMRANK_CLIENT_BULK_RESUMABLE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/bulk/row_parts.h"
#include "model/base/file_descriptor.h"

namespace semrank {

// The content of FILE.state.
struct ResumableState {
  // An object of strings that must not change between runs.
  nlohmann::ordered_json identity = nlohmann::ordered_json::object();
  // The writer's own counts: non-negative integers.
  nlohmann::ordered_json progress = nlohmann::ordered_json::object();
  std::int64_t num_bytes = 0;
  std::int64_t num_id_bytes = 0;
};

// `path` and all names that its ResumableFile may write to.
std::vector<std::string> ResumableFileNames(const std::string& path);

// Nothing if no run reached its first checkpoint.
absl::StatusOr<std::optional<ResumableState>> ReadResumableState(
    const std::string& path);

// The same in a file of any name, for work that writes no file of its own.
absl::StatusOr<std::optional<ResumableState>> ReadStateFile(
    const std::string& name);
absl::Status WriteStateFile(const std::string& name,
                            const ResumableState& state);
// FailedPrecondition, naming what differs, if the state is that of other work.
absl::Status CheckStateFile(const std::string& name,
                            const ResumableState& state,
                            const nlohmann::ordered_json& identity);

class ResumableFile {
 public:
  // Continues from `state`, or starts over without one. A new file starts with
  // `header`.
  static absl::StatusOr<std::unique_ptr<ResumableFile>> Open(
      const std::string& path, bool with_ids, std::string_view header,
      const nlohmann::ordered_json& identity,
      const std::optional<ResumableState>& state);
  // Removes the partial files that no run could continue, as there was no
  // checkpoint.
  ~ResumableFile();
  ResumableFile(const ResumableFile&) = delete;
  ResumableFile& operator=(const ResumableFile&) = delete;

  // `ids` are ignored unless the file was opened with_ids.
  absl::Status Append(std::string_view rows, std::string_view ids);
  // Makes everything appended so far survive a crash.
  absl::Status Checkpoint(const nlohmann::ordered_json& progress);
  // Replaces the header by one of the same size and renames the file.
  absl::Status Finish(std::string_view header);

 private:
  ResumableFile(std::string path, FileDescriptor rows,
                std::optional<FileDescriptor> ids, ResumableState state,
                bool has_checkpoint)
      : path_(std::move(path)),
        rows_(std::move(rows)),
        ids_(std::move(ids)),
        state_(std::move(state)),
        has_checkpoint_(has_checkpoint) {}

  const std::string path_;
  const FileDescriptor rows_;
  const std::optional<FileDescriptor> ids_;
  ResumableState state_;
  bool has_checkpoint_ = false;  // or is finished
};

// Writes a ResumableFile in another thread, so that the disk works while the
// next vectors are computed.
//
//   Order    pieces and checkpoints are written in the order of the calls.
//   Memory   at most 2 * kMaxWaiting appended pieces, half of which are being
//            written; Append blocks beyond.
//   Errors   the next call returns the file's first error, and nothing that was
//            appended after it is written.
//   Threads  not thread-safe: one caller beside the writing thread.
class BackgroundWriter {
 public:
  static constexpr std::size_t kMaxWaiting = 5;

  struct Piece {
    RowParts rows;
    std::string ids;  // ignored unless the file has ids
  };

  // Until Finish has returned, or the writer is destroyed, nothing else may use
  // the file.
  explicit BackgroundWriter(ResumableFile& file) : file_(file) {}
  // Writes what was appended: after an error elsewhere it is kept for the next
  // run.
  ~BackgroundWriter() { Finish().IgnoreError(); }
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Replaces `piece` by an empty one, which has the memory of one that was
  // written.
  absl::Status Append(Piece& piece);
  // As ResumableFile::Checkpoint, for everything appended so far.
  absl::Status Checkpoint(const nlohmann::ordered_json& progress);
  // Returns when everything is written.
  absl::Status Finish();

 private:
  struct Task {
    Piece piece = {};
    std::optional<nlohmann::ordered_json> checkpoint = {};  // instead
  };

  absl::Status Enqueue(Task task);
  // Starts to write what waits, when what was started before is written.
  absl::Status Start();
  absl::Status WaitForWriting();
  absl::Status Write(const Task& task);

  ResumableFile& file_;
  std::vector<Task> waiting_;
  std::vector<Task> writing_;  // belongs to the writing thread while it runs
  std::future<absl::Status> written_;
  std::vector<Piece> spare_;
  absl::Status status_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_RESUMABLE_FILE_H_
