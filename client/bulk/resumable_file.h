// A file that is written over hours: it goes on after a kill where the last
// checkpoint was, and has its name only once it is whole.
//
//   Names    FILE.partial until it is whole, FILE.ids.partial for the lines
//            beside; FILE.state says how far they are valid, what the file is,
//            and how far its writer had come.
//   Crash    at any moment leaves FILE as it was or the whole new one. Bytes
//            after the last checkpoint are cut off when it is opened again.
//   Errors   the system's, with the name; FailedPrecondition when what is there
//            is another file, is damaged, or is being written by a process.
//   Threads  one file, one thread.
#ifndef SEMRANK_CLIENT_BULK_RESUMABLE_FILE_H_
#define SEMRANK_CLIENT_BULK_RESUMABLE_FILE_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"

namespace semrank {

// As FILE.state has it.
struct ResumableState {
  // What makes it the same file: an object of strings.
  nlohmann::ordered_json what = nlohmann::ordered_json::object();
  // The writer's own: numbers, none negative, by name.
  nlohmann::ordered_json progress = nlohmann::ordered_json::object();
  std::int64_t num_bytes = 0;
  std::int64_t num_id_bytes = 0;
};

// Nothing if no file was begun there, or not as far as its first checkpoint.
absl::StatusOr<std::optional<ResumableState>> ReadResumableState(
    const std::string& path);

class ResumableFile {
 public:
  // Goes on where `state` was, or begins anew without one. `header` is what the
  // file begins with until it is finished.
  static absl::StatusOr<std::unique_ptr<ResumableFile>> Open(
      const std::string& path, bool with_ids, std::string_view header,
      const nlohmann::ordered_json& what,
      const std::optional<ResumableState>& state);

  // `ids` are dropped unless the file has them beside.
  absl::Status Append(std::string_view rows, std::string_view ids);
  // From here on nothing that was appended is lost.
  absl::Status Checkpoint(const nlohmann::ordered_json& progress);
  // Puts `header`, as long as the first one, in its place and gives the file
  // its name.
  absl::Status Finish(std::string_view header);

 private:
  ResumableFile(std::string path, FileDescriptor rows,
                std::optional<FileDescriptor> ids, ResumableState state)
      : path_(std::move(path)),
        rows_(std::move(rows)),
        ids_(std::move(ids)),
        state_(std::move(state)) {}

  const std::string path_;
  const FileDescriptor rows_;
  const std::optional<FileDescriptor> ids_;
  ResumableState state_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_RESUMABLE_FILE_H_
