#include "model/events/event_deletion.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "model/base/file_descriptor.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/events/event_files.h"
#include "model/events/event_writer.h"
#include "model/events/keyed_hash.h"

namespace semrank {
namespace {

// The ids of a user's impressions, and the files that have records of them.
struct UserRecords {
  absl::flat_hash_set<std::string> impressions;
  std::set<std::string> files;

  bool Has(const EventRecord& record) const {
    const auto* event = std::get_if<Event>(&record);
    return impressions.contains(
        event != nullptr ? event->impression : std::get<Impression>(record).id);
  }
};

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

// In two passes, since an event may stand in an earlier file than its
// impression.
absl::StatusOr<UserRecords> FindRecords(const std::string& folder,
                                        const std::string& user_hash,
                                        const BadLineLimit& max_bad_lines) {
  UserRecords found;
  SEMRANK_RETURN_IF_ERROR(ReadAll(
      folder, max_bad_lines,
      [&](const EventFileReader& /*reader*/, const EventRecord& record) {
        const auto* impression = std::get_if<Impression>(&record);
        if (impression != nullptr && impression->user == user_hash) {
          found.impressions.insert(impression->id);
        }
        return absl::OkStatus();
      }));
  if (found.impressions.empty()) return found;
  SEMRANK_RETURN_IF_ERROR(
      ReadAll(folder, max_bad_lines,
              [&](const EventFileReader& reader, const EventRecord& record) {
                if (found.Has(record)) found.files.insert(reader.path());
                return absl::OkStatus();
              }));
  return found;
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
                ++(std::holds_alternative<Event>(record) ? deleted.events
                                                         : deleted.impressions);
                return absl::OkStatus();
              }));
  SEMRANK_RETURN_IF_ERROR(writer.Finish());
  ++deleted.files;
  if (!writer.is_empty()) return file.Commit();
  if (unlink(path.c_str()) != 0) return ErrnoStatus(errno, "remove", path);
  return SyncDirectory(std::filesystem::path(path).parent_path().string());
}

}  // namespace

absl::StatusOr<DeletedRecords> DeleteUser(const std::string& folder,
                                          std::string_view user,
                                          const BadLineLimit& max_bad_lines) {
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor lock, LockEventFolder(folder));
  SEMRANK_ASSIGN_OR_RETURN(const KeyedHash hash, KeyedHash::Open(folder));
  SEMRANK_ASSIGN_OR_RETURN(
      const UserRecords found,
      FindRecords(folder, hash(HashedKind::kUser, user), max_bad_lines));
  DeletedRecords deleted;
  for (const std::string& path : found.files) {
    SEMRANK_RETURN_IF_ERROR(RewriteFile(path, found, max_bad_lines, deleted));
  }
  return deleted;
}

}  // namespace semrank
