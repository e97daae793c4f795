#include "server/events/event_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/events/event_files.h"
#include "model/events/event_frames.h"
#include "model/events/event_writer.h"

namespace semrank {
namespace {

constexpr absl::Duration kMaxSpan = absl::Hours(1);

absl::Time HourOf(absl::Time time) {
  return absl::UnixEpoch() +
         absl::Floor(time - absl::UnixEpoch(), absl::Hours(1));
}

absl::Status MakeFolder(const std::string& folder) {
  // A folder that exists keeps the permissions that an operator gave it.
  std::error_code error;
  if (std::filesystem::create_directories(folder, error)) {
    std::filesystem::permissions(folder, std::filesystem::perms::others_all,
                                 std::filesystem::perm_options::remove, error);
  }
  if (!error) return absl::OkStatus();
  return ErrnoStatus(error.value(), "create", folder);
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventFiles>> EventFiles::Open(
    const Options& options) {
  SEMRANK_RETURN_IF_ERROR(MakeFolder(options.folder));
  SEMRANK_ASSIGN_OR_RETURN(FileDescriptor lock,
                           LockEventFolder(options.folder));
  std::unique_ptr<EventFiles> files(new EventFiles(options, std::move(lock)));
  SEMRANK_RETURN_IF_ERROR(files->FindFiles());
  return files;
}

// Other files of the folder are left alone. The paths are in order, as files_
// has to be.
absl::Status EventFiles::FindFiles() {
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                           ListEventFiles(options_.folder));
  for (const std::string& path : paths) {
    const std::string name = std::filesystem::path(path).filename().string();
    const std::optional<EventFileId> parsed = ParseEventFileName(name);
    if (!parsed.has_value()) continue;
    // An operator may remove files at any time, also during this loop.
    std::error_code gone;
    const std::uintmax_t num_bytes = std::filesystem::file_size(path, gone);
    if (gone) continue;
    files_.push_back({name, absl::FromUnixMillis(parsed->time_ms),
                      static_cast<std::int64_t>(num_bytes)});
    num_bytes_ += files_.back().num_bytes;
    // New names continue after the highest number and the latest time that is
    // there, so they sort in the order of writing even if the clock went back.
    last_number_ = std::max(last_number_, parsed->number);
    last_begun_ = std::max(last_begun_, files_.back().begun);
  }
  return absl::OkStatus();
}

std::string EventFiles::PathOf(const File& file) const {
  return absl::StrFormat("%s/%s", options_.folder, file.name);
}

// A clock that goes back ends no hour; it would begin a file for each frame.
bool EventFiles::IsFull(absl::Time now) const {
  return files_.back().num_bytes >= options_.max_file_bytes ||
         HourOf(now) > HourOf(files_.back().begun);
}

absl::Status EventFiles::Append(const EventLines& lines, absl::Time now) {
  if (current_.has_value() && IsFull(now)) current_.reset();
  if (!current_.has_value()) SEMRANK_RETURN_IF_ERROR(BeginFile(now));
  absl::Status status = WriteFrame(lines.text());
  if (!status.ok()) AbandonWrite();
  return status;
}

absl::Status EventFiles::BeginFile(absl::Time now) {
  const absl::Time begun = std::max(now, last_begun_);
  File file{EventFileName(absl::ToUnixMillis(begun), last_number_ + 1), begun};
  SEMRANK_ASSIGN_OR_RETURN(
      FileDescriptor descriptor,
      // O_EXCL, so that no records are ever overwritten.
      FileDescriptor::Open(PathOf(file), O_WRONLY | O_CREAT | O_EXCL,
                           kEventFileMode));
  ++last_number_;
  last_begun_ = begun;
  files_.push_back(std::move(file));
  current_.emplace(std::move(descriptor));
  // Without this a crash could lose the name of the file, and with it records
  // that were synced.
  const absl::Status status = SyncDirectory(options_.folder);
  if (!status.ok()) AbandonWrite();
  return status;
}

absl::Status EventFiles::WriteFrame(std::string_view lines) {
  frame_.clear();
  AppendEventFrame(lines, frame_);
  SEMRANK_RETURN_IF_ERROR(current_->Write(frame_));
  if (fdatasync(current_->get()) != 0) {
    return ErrnoStatus(errno, "fdatasync", current_->path());
  }
  // Only frames on disk count: AbandonWrite cuts the file down to these.
  const auto num_bytes = static_cast<std::int64_t>(frame_.size());
  files_.back().num_bytes += num_bytes;
  num_bytes_ += num_bytes;
  return absl::OkStatus();
}

// After an error of fdatasync it is not known what the file has, so it is not
// written again. A disk that stays full must not fill up with empty files.
void EventFiles::AbandonWrite() {
  const File& file = files_.back();
  if (file.num_bytes == 0) {
    unlink(PathOf(file).c_str());
    files_.pop_back();
  } else if (ftruncate(current_->get(), file.num_bytes) != 0) {
    // A reader skips the part of a frame at the end of a file.
  }
  current_.reset();
}

absl::Status EventFiles::RemoveOld(absl::Time now) {
  const std::size_t num_kept = current_.has_value() ? 1 : 0;
  while (files_.size() > num_kept) {
    const File& oldest = files_.front();
    // The name has the time of the first record. The last one may be up to
    // kMaxSpan younger.
    if (num_bytes_ <= options_.max_bytes &&
        oldest.begun + kMaxSpan + options_.max_age > now) {
      break;
    }
    // ENOENT: an operator has removed the file, so nothing is left to do.
    if (unlink(PathOf(oldest).c_str()) != 0 && errno != ENOENT) {
      return ErrnoStatus(errno, "remove", PathOf(oldest));
    }
    num_bytes_ -= oldest.num_bytes;
    files_.pop_front();
  }
  return absl::OkStatus();
}

}  // namespace semrank
