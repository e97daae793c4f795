#include "model/events/event_deletion.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <iterator>
#include <set>

#include "absl/functional/function_ref.h"
#include "model/base/file_descriptor.h"
#include "model/base/file_io.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/events/event_files.h"
#include "model/events/event_writer.h"
#include "model/events/keyed_hash.h"

// Records are read several times rather than kept: only the ids of the user's
// impressions, and the names of files, are in memory. The first pass notes the
// ids, the second one the files. Then each of these files is copied without the
// user's records, under a temporary name.
namespace semrank {
namespace {

bool IsEvent(const EventRecord& record) {
  return std::holds_alternative<Event>(record);
}

using UseRecord = std::function<absl::Status(const EventFileReader& reader,
                                             const EventRecord& record)>;

absl::Status ReadAll(const std::string& path, const BadLineLimit& max_bad_lines,
                     const UseRecord& use) {
  SEMRANK_ASSIGN_OR_RETURN(const auto reader,
                           EventFileReader::Open({path}, max_bad_lines));
  EventRecord record;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader->Next(record));
    if (!more) return absl::OkStatus();
    if (Interrupted()) return absl::CancelledError("interrupted");
    SEMRANK_RETURN_IF_ERROR(use(*reader, record));
  }
}

using Files = std::set<std::string>;

// Notes the user's impressions, and finds the files of the user's records:
// those with impressions, and those with events.
absl::StatusOr<std::array<Files, 2>> FindFiles(
    const std::string& folder, const BadLineLimit& max_bad_lines,
    UserRecords& user) {
  std::array<Files, 2> files;
  SEMRANK_RETURN_IF_ERROR(ReadAll(
      folder, max_bad_lines,
      [&](const EventFileReader& /*reader*/, const EventRecord& record) {
        user.Note(record);
        return absl::OkStatus();
      }));
  if (user.empty()) return files;
  SEMRANK_RETURN_IF_ERROR(
      ReadAll(folder, max_bad_lines,
              [&](const EventFileReader& reader, const EventRecord& record) {
                if (!user.Has(record)) return absl::OkStatus();
                files[IsEvent(record)].insert(reader.path());
                return absl::OkStatus();
              }));
  return files;
}

// Gives `path` the owner, group and mode of `file`, which it replaces, where
// the process may: an operator deletes as root what other accounts read.
void RestoreOwner(const std::string& path, const struct stat& file) {
  if (lchown(path.c_str(), file.st_uid, file.st_gid) != 0 ||
      chmod(path.c_str(), file.st_mode & 07777) != 0) {
    // The records of the user are deleted all the same.
  }
}

// Lines that stay are copied as they are, with members that this release does
// not know.
absl::Status RewriteFile(const std::string& path,
                         absl::FunctionRef<bool(const EventRecord&)> is_removed,
                         const BadLineLimit& max_bad_lines,
                         DeletedRecords& deleted) {
  struct stat before = {};
  if (stat(path.c_str(), &before) != 0) {
    return ErrnoStatus(errno, "stat", path);
  }
  SEMRANK_ASSIGN_OR_RETURN(
      FileReplacement file,
      FileReplacement::Create(path, before.st_mode & 0777));
  EventFrameWriter writer(file);
  SEMRANK_RETURN_IF_ERROR(
      ReadAll(path, max_bad_lines,
              [&](const EventFileReader& reader, const EventRecord& record) {
                if (!is_removed(record)) return writer.Add(reader.line());
                deleted.Count(record);
                return absl::OkStatus();
              }));
  SEMRANK_RETURN_IF_ERROR(writer.Finish());
  // zstd refuses a file without a frame, so an empty one is removed.
  if (!writer.is_empty()) {
    SEMRANK_RETURN_IF_ERROR(file.Commit());
    RestoreOwner(path, before);
    return absl::OkStatus();
  }
  // Without the sync, the name could be back after a crash, with its records.
  SEMRANK_RETURN_IF_ERROR(RemoveFile(path));
  return SyncParent(path);
}

}  // namespace

void UserRecords::Note(const EventRecord& record) {
  const auto* impression = std::get_if<Impression>(&record);
  if (impression != nullptr && impression->user == user_hash_) {
    impressions_.insert(impression->id);
  }
}

bool UserRecords::Has(const EventRecord& record) const {
  const auto* event = std::get_if<Event>(&record);
  return impressions_.contains(
      event != nullptr ? event->impression : std::get<Impression>(record).id);
}

absl::StatusOr<DeletedRecords> DeleteUser(const std::string& folder,
                                          std::string_view user,
                                          const BadLineLimit& max_bad_lines) {
  // The lock is held to the end: a server appends to its file by a descriptor,
  // and would write into the file that was replaced.
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor lock, LockEventFolder(folder));
  SEMRANK_ASSIGN_OR_RETURN(const KeyedHash hash, KeyedHash::Open(folder));
  UserRecords records(hash(HashedKind::kUser, user));
  SEMRANK_ASSIGN_OR_RETURN(auto files,
                           FindFiles(folder, max_bad_lines, records));
  // Impressions are removed last, from all files: a call that repeats an
  // interrupted one finds the user's events by them. So a file that has both is
  // written twice.
  DeletedRecords deleted;
  for (const bool of_events : {true, false}) {
    const auto is_removed = [&](const EventRecord& record) {
      return IsEvent(record) == of_events && records.Has(record);
    };
    for (const std::string& path : files[of_events]) {
      SEMRANK_RETURN_IF_ERROR(
          RewriteFile(path, is_removed, max_bad_lines, deleted));
    }
  }
  files[0].merge(files[1]);
  deleted.files = std::ssize(files[0]);
  return deleted;
}

}  // namespace semrank
