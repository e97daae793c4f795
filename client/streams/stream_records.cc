#include "client/streams/stream_records.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "model/base/file_descriptor.h"
#include "model/base/file_io.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/events/event.h"
#include "model/events/event_files.h"
#include "model/events/event_writer.h"

// An import is a loop over the new records, which ends a file whenever the
// memory is full. Only EndFile changes the folder, in an order that a crash
// cannot turn into a loss: first the file, then the position.
namespace semrank {
namespace {

// Records of one call of EventStream::Delete.
constexpr std::size_t kMaxDeletedPerCall = 1'000;

// Passes the records from where the stream begins to its end. Entries that are
// not records are bad lines.
absl::Status ForEachRecord(
    EventStream& stream, BadLines& bad_lines,
    const std::function<absl::Status(const EventRecord&)>& use) {
  EventParser parser;
  std::string line;
  for (std::int64_t number = 1;; ++number) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, stream.Next(line));
    if (!more) return bad_lines.EndFile(stream.name(), number - 1);
    if (Interrupted()) return absl::CancelledError("interrupted");
    // Ctrl-C loses the records of the file that was not written yet; the next
    // import reads them again.
    const absl::StatusOr<EventRecord> record = parser.Parse(line);
    SEMRANK_RETURN_IF_ERROR(
        record.ok() ? use(*record)
                    : bad_lines.Add(stream.name(), number,
                                    ToStd(record.status().message())));
  }
}

// Positions by the name of their stream, in a file of lines "name position".
// Brokers in a name may have blanks between them; a position has none.
class Positions {
 public:
  static absl::StatusOr<Positions> Read(const std::string& folder) {
    constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
    Positions positions(absl::StrFormat("%s/%s", folder, kPositionsFile));
    const absl::StatusOr<std::string> content =
        ReadFile(positions.path_, kMaxFileBytes);
    if (absl::IsNotFound(content.status())) return positions;
    SEMRANK_RETURN_IF_ERROR(content.status());
    for (const absl::string_view line :
         absl::StrSplit(*content, '\n', absl::SkipEmpty())) {
      // A line without a blank is not ours; its stream is read from the start.
      const std::size_t blank = line.rfind(' ');
      if (blank == absl::string_view::npos) continue;
      positions.by_name_.emplace(line.substr(0, blank), line.substr(blank + 1));
    }
    return positions;
  }

  const std::string& path() const { return path_; }
  std::string Find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? "" : found->second;
  }
  absl::Status Set(const std::string& name, const std::string& position) {
    by_name_[name] = position;
    std::string content;
    for (const auto& [known, value] : by_name_) {
      absl::StrAppendFormat(&content, "%s %s\n", known, value);
    }
    return ReplaceFile(path_, content);
  }

 private:
  explicit Positions(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::map<std::string, std::string> by_name_;
};

// The file follows those of earlier imports, whatever times its records have.
absl::Status WriteFile(const std::string& folder, SortedRecords& records) {
  const std::int64_t now_ms = absl::ToUnixMillis(absl::Now());
  // Several files may be written within the same millisecond.
  for (std::int64_t number = 1;; ++number) {
    const absl::Status status = records.Write(folder, now_ms, number).status();
    if (!absl::IsAlreadyExists(status)) return status;
  }
}

class StreamImport {
 public:
  StreamImport(const StreamImportOptions& options, Positions positions,
               EventStream& stream)
      : options_(options),
        positions_(std::move(positions)),
        stream_(stream),
        bad_lines_(options.max_bad_lines) {}

  absl::StatusOr<StreamedRecords> Run() {
    SEMRANK_RETURN_IF_ERROR(Begin());
    SEMRANK_RETURN_IF_ERROR(
        ForEachRecord(stream_, bad_lines_, [this](const EventRecord& record) {
          records_.Add(record);
          return records_.num_bytes() > options_.max_bytes ? EndFile()
                                                           : absl::OkStatus();
        }));
    SEMRANK_RETURN_IF_ERROR(EndFile());
    SEMRANK_RETURN_IF_ERROR(RemoveOldFiles());
    counts_.bad_lines = bad_lines_.count();
    return counts_;
  }

 private:
  // The stream cannot know that its position came from a file; a user who
  // edited that file needs its name.
  absl::Status Begin() {
    const absl::Status status = stream_.Begin(positions_.Find(stream_.name()));
    if (!absl::IsInvalidArgument(status)) return status;
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %s", positions_.path(), status.message()));
  }

  absl::Status EndFile() {
    if (!records_.empty()) {
      SEMRANK_RETURN_IF_ERROR(WriteFile(options_.folder, records_));
      counts_.impressions += records_.num_impressions();
      counts_.events += records_.num_events();
      ++counts_.files;
      records_ = {};
    }
    // The position moves also without records: bad lines are not read again.
    return positions_.Set(stream_.name(), stream_.position());
  }

  // Files count by the time in their names, as for the server's retention: a
  // copy or a restored backup has other times in the file system.
  absl::Status RemoveOldFiles() {
    if (options_.max_age == absl::ZeroDuration()) return absl::OkStatus();
    const std::int64_t begin_ms =
        absl::ToUnixMillis(absl::Now() - options_.max_age);
    SEMRANK_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                             ListEventFiles(options_.folder));
    for (const std::filesystem::path path : paths) {
      const auto id = ParseEventFileName(path.filename().string());
      if (!id.has_value() || id->time_ms >= begin_ms) continue;
      SEMRANK_RETURN_IF_ERROR(RemoveFile(path.string()));
      ++counts_.removed_files;
    }
    return absl::OkStatus();
  }

  const StreamImportOptions& options_;
  Positions positions_;
  EventStream& stream_;
  BadLines bad_lines_;
  SortedRecords records_;
  StreamedRecords counts_;
};

// As ForEachRecord, from the first record of the stream.
absl::Status ForEachRecordOf(
    EventStream& stream, const BadLineLimit& max_bad_lines,
    const std::function<absl::Status(const EventRecord&)>& use) {
  SEMRANK_RETURN_IF_ERROR(stream.Begin(/*position=*/""));
  BadLines bad_lines(max_bad_lines);
  return ForEachRecord(stream, bad_lines, use);
}

absl::Status DeleteAll(EventStream& stream,
                       std::vector<std::string>& positions) {
  for (std::span<const std::string> rest = positions; !rest.empty();) {
    const auto batch = rest.first(std::min(rest.size(), kMaxDeletedPerCall));
    SEMRANK_RETURN_IF_ERROR(stream.Delete(batch));
    rest = rest.subspan(batch.size());
  }
  positions.clear();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StreamedRecords> ImportStream(
    const StreamImportOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor lock,
                           CreateEventFolder(options.folder));
  SEMRANK_ASSIGN_OR_RETURN(Positions positions,
                           Positions::Read(options.folder));
  SEMRANK_ASSIGN_OR_RETURN(const auto stream, OpenEventStream(options.stream));
  return StreamImport(options, std::move(positions), *stream).Run();
}

absl::StatusOr<DeletedRecords> DeleteUserOfStream(
    const EventStream::Options& stream, const std::string& user_hash,
    const BadLineLimit& max_bad_lines) {
  // Two readers are needed, since an event may precede its impression: the
  // first one finds the ids of the user's impressions, the second one all
  // records of the user.
  UserRecords user(user_hash);
  SEMRANK_ASSIGN_OR_RETURN(const auto first, OpenEventStream(stream));
  SEMRANK_RETURN_IF_ERROR(
      ForEachRecordOf(*first, max_bad_lines, [&](const EventRecord& record) {
        user.Note(record);
        return absl::OkStatus();
      }));
  DeletedRecords deleted;
  if (user.empty()) return deleted;
  SEMRANK_ASSIGN_OR_RETURN(const auto second, OpenEventStream(stream));
  // Impressions are deleted last: a call that repeats an interrupted one finds
  // the user's events by them. Their positions stay in memory until then;
  // events are deleted in batches.
  std::vector<std::string> impressions;
  std::vector<std::string> events;
  SEMRANK_RETURN_IF_ERROR(
      ForEachRecordOf(*second, max_bad_lines, [&](const EventRecord& record) {
        if (!user.Has(record)) return absl::OkStatus();
        deleted.Count(record);
        const bool is_event = std::holds_alternative<Event>(record);
        (is_event ? events : impressions).push_back(second->position());
        return events.size() < kMaxDeletedPerCall ? absl::OkStatus()
                                                  : DeleteAll(*second, events);
      }));
  SEMRANK_RETURN_IF_ERROR(DeleteAll(*second, events));
  SEMRANK_RETURN_IF_ERROR(DeleteAll(*second, impressions));
  return deleted;
}

}  // namespace semrank
