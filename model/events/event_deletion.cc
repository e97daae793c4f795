#include "model/events/event_deletion.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "model/base/file_descriptor.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/events/event_files.h"
#include "model/events/event_writer.h"
#include "model/events/keyed_hash.h"

namespace semrank {
namespace {

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
    SEMRANK_RETURN_IF_ERROR(use(*reader, record));
  }
}

// Finds the user's records; returns the files that have some.
absl::StatusOr<std::set<std::string>> FindFiles(
    const std::string& folder, const BadLineLimit& max_bad_lines,
    UserRecords& user) {
  std::set<std::string> files;
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
                if (user.Has(record)) files.insert(reader.path());
                return absl::OkStatus();
              }));
  return files;
}

absl::Status RewriteFile(const std::string& path, const UserRecords& removed,
                         const BadLineLimit& max_bad_lines,
                         DeletedRecords& deleted) {
  SEMRANK_ASSIGN_OR_RETURN(FileReplacement file,
                           FileReplacement::Create(path, kEventFileMode));
  EventFrameWriter writer(file);
  SEMRANK_RETURN_IF_ERROR(
      ReadAll(path, max_bad_lines,
              [&](const EventFileReader& reader, const EventRecord& record) {
                if (!removed.Has(record)) return writer.Add(reader.line());
                deleted.Count(record);
                return absl::OkStatus();
              }));
  SEMRANK_RETURN_IF_ERROR(writer.Finish());
  ++deleted.files;
  if (!writer.is_empty()) return file.Commit();
  if (unlink(path.c_str()) != 0) return ErrnoStatus(errno, "remove", path);
  return SyncDirectory(std::filesystem::path(path).parent_path().string());
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
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor lock, LockEventFolder(folder));
  SEMRANK_ASSIGN_OR_RETURN(const KeyedHash hash, KeyedHash::Open(folder));
  UserRecords records(hash(HashedKind::kUser, user));
  SEMRANK_ASSIGN_OR_RETURN(const std::set<std::string> files,
                           FindFiles(folder, max_bad_lines, records));
  DeletedRecords deleted;
  for (const std::string& path : files) {
    SEMRANK_RETURN_IF_ERROR(RewriteFile(path, records, max_bad_lines, deleted));
  }
  return deleted;
}

}  // namespace semrank
