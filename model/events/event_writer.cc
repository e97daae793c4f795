#include "model/events/event_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/events/event_files.h"
#include "model/events/event_frames.h"

namespace semrank {
namespace {

// Whether this is a name that FileReplacement gives to the temporary copy of a
// file of events.
bool IsTemporary(std::string_view name) {
  constexpr std::string_view kTemporaryMark = ".tmp-";
  const std::size_t end = name.find(kEventFileSuffix);
  return name.starts_with(kEventFilePrefix) && end != std::string_view::npos &&
         name.substr(end + kEventFileSuffix.size()).starts_with(kTemporaryMark);
}

// A program that was killed while it replaced a file leaves a copy. Neither a
// user's deletion nor the retention would find the records in it. The caller
// holds the lock, so no program writes the copy any more.
absl::Status RemoveTemporaries(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    if (IsTemporary(entry->path().filename().string())) {
      SEMRANK_RETURN_IF_ERROR(RemoveFile(entry->path().string()));
    }
  }
  return error ? ErrnoStatus(error.value(), "list", folder) : absl::OkStatus();
}

}  // namespace

// flock, since the system releases it when the process ends, however it ends.
// The file stays: were it removed, a program could lock a file that others no
// longer find.
absl::StatusOr<FileDescriptor> LockEventFolder(const std::string& folder) {
  SEMRANK_ASSIGN_OR_RETURN(
      FileDescriptor lock,
      FileDescriptor::Open(absl::StrFormat("%s/%s", folder, kEventLockFile),
                           O_RDWR | O_CREAT | O_NOFOLLOW, kEventFileMode));
  // A program that root runs must not leave a lock that the server of the
  // folder's owner cannot open.
  struct stat owner = {};
  if (geteuid() == 0 && stat(folder.c_str(), &owner) == 0 &&
      fchown(lock.get(), owner.st_uid, owner.st_gid) != 0) {
    // Root of a container, or of an NFS client, may be unable to. It can lock
    // the folder all the same.
  }
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
    SEMRANK_RETURN_IF_ERROR(RemoveTemporaries(folder));
    return lock;
  }
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: a server (--events) or another program writes there; stop it first",
      folder));
}

absl::StatusOr<FileDescriptor> CreateEventFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return ErrnoStatus(error.value(), "create", folder);
  return LockEventFolder(folder);
}

// A frame has whole lines, so a reader of whole frames never sees half a line.
absl::Status EventFrameWriter::Add(std::string_view line) {
  // A reader keeps one frame in memory. Small frames compress less.
  constexpr std::size_t kFrameBytes = std::size_t{1} << 20;
  is_empty_ = false;
  lines_ += line;
  lines_ += '\n';
  return lines_.size() < kFrameBytes ? absl::OkStatus() : Finish();
}

absl::Status EventFrameWriter::Finish() {
  if (lines_.empty()) return absl::OkStatus();
  std::string frame;
  AppendEventFrame(lines_, frame);
  lines_.clear();
  return file_.Write(frame);
}

void SortedRecords::Add(const EventRecord& record) {
  Line line{.time_ms = TimeOf(record)};
  std::visit([&](const auto& it) { AppendLine(it, line.text); }, record);
  ++(std::holds_alternative<Event>(record) ? num_events_ : num_impressions_);
  line.text.pop_back();  // the line break, which EventFrameWriter adds
  num_bytes_ += line.text.capacity() + sizeof(line);
  lines_.push_back(std::move(line));
}

absl::StatusOr<std::string> SortedRecords::Write(const std::string& folder,
                                                 std::int64_t time_ms,
                                                 std::int64_t number) {
  Sort();
  return WriteLines(lines_, folder, time_ms, number);
}

absl::StatusOr<std::vector<std::string>> SortedRecords::WriteHours(
    const std::string& folder) {
  constexpr std::int64_t kHourMs = 3'600'000;
  Sort();
  std::vector<std::string> paths;
  absl::Status status;
  for (std::span<const Line> rest = lines_; status.ok() && !rest.empty();) {
    const std::int64_t begin_ms = rest.front().time_ms;
    const auto end =
        std::ranges::lower_bound(rest, begin_ms + kHourMs, {}, &Line::time_ms);
    const auto hour = rest.first(end - rest.begin());
    // The file of another import may begin in the same millisecond. If it is
    // the first one, the same records were imported before.
    for (std::int64_t number = 0;; ++number) {
      auto path = WriteLines(hour, folder, begin_ms, number);
      status = path.status();
      if (path.ok()) paths.push_back(*std::move(path));
      if (paths.empty() || !absl::IsAlreadyExists(status)) break;
    }
    rest = rest.subspan(hour.size());
  }
  if (status.ok()) return paths;
  // Otherwise the first file would refuse the import that is repeated.
  for (const std::string& path : paths) RemoveFile(path).IgnoreError();
  return status;
}

// A list and its click may have the same millisecond; they keep the order in
// which they were added.
void SortedRecords::Sort() {
  std::ranges::stable_sort(lines_, {}, &Line::time_ms);
}

absl::StatusOr<std::string> SortedRecords::WriteLines(
    std::span<const Line> lines, const std::string& folder,
    std::int64_t time_ms, std::int64_t number) {
  std::string path =
      absl::StrFormat("%s/%s", folder, EventFileName(time_ms, number));
  // FileReplacement would replace the file. The caller has the folder's lock,
  // so no other program creates it in between.
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "%s: exists, so these records were imported before; remove it to "
        "import them again",
        path));
  }
  SEMRANK_ASSIGN_OR_RETURN(FileReplacement file,
                           FileReplacement::Create(path, kEventFileMode));
  EventFrameWriter writer(file);
  for (const Line& line : lines) {
    SEMRANK_RETURN_IF_ERROR(writer.Add(line.text));
  }
  SEMRANK_RETURN_IF_ERROR(writer.Finish());
  SEMRANK_RETURN_IF_ERROR(file.Commit());
  return path;
}

}  // namespace semrank
