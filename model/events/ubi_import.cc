#include "model/events/ubi_import.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/file_descriptor.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/events/event_writer.h"
#include "model/events/keyed_hash.h"
#include "model/events/ubi.h"

namespace semrank {
namespace {

// Hashes the names of a record and adds it.
void Add(EventRecord& record, const KeyedHash& hash, SortedRecords& records) {
  if (auto* impression = std::get_if<Impression>(&record)) {
    impression->session = hash(HashedKind::kSession, impression->session);
    impression->user = hash(HashedKind::kUser, impression->user);
  }
  records.Add(record);
}

// The join attaches clicks by time, so a record without one is useless.
bool HasTime(const EventRecord& record) { return TimeOf(record) != 0; }

// Both files may have records of both kinds: a record says itself what it is.
absl::Status ReadUbiFile(const std::string& path,
                         const UbiImportOptions& options, const KeyedHash& hash,
                         BadLines& bad_lines, SortedRecords& records,
                         ImportedRecords& counts) {
  UbiParser parser;
  bool is_full = false;
  SEMRANK_RETURN_IF_ERROR(
      ForEachLine(path, bad_lines, [&](std::string_view line) -> LineProblem {
        // ForEachLine cannot be ended early; the remaining lines are skipped.
        if (line.empty() || is_full || Interrupted()) return {};
        absl::StatusOr<UbiRecords> parsed = parser.Parse(line);
        if (!parsed.ok()) return std::string(parsed.status().message());
        // A line is used as a whole or not at all, as by UbiParser.
        if (!std::ranges::all_of(parsed->records, HasTime)) {
          return std::string("has no timestamp");
        }
        counts.ignored += parsed->num_ignored;
        for (EventRecord& record : parsed->records) Add(record, hash, records);
        is_full = records.num_bytes() > options.max_bytes;
        return {};
      }));
  if (Interrupted()) return absl::CancelledError("interrupted");
  if (!is_full) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "%s: the records need more than %s bytes of memory; import fewer days at "
      "a time",
      path, GroupDigits(static_cast<std::int64_t>(options.max_bytes))));
}

}  // namespace

absl::StatusOr<ImportedRecords> ImportUbi(const UbiImportOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor lock,
                           CreateEventFolder(options.folder));
  SEMRANK_ASSIGN_OR_RETURN(const KeyedHash hash,
                           KeyedHash::OpenOrCreate(options.folder));
  ImportedRecords counts;
  SortedRecords records;
  BadLines bad_lines(options.max_bad_lines);
  for (const std::string& path : options.paths) {
    SEMRANK_RETURN_IF_ERROR(
        ReadUbiFile(path, options, hash, bad_lines, records, counts));
  }
  counts.bad_lines = bad_lines.count();
  counts.impressions = records.num_impressions();
  counts.events = records.num_events();
  if (records.empty()) return counts;
  // The names depend on the records alone. A second import of one export finds
  // the file of the first, and fails instead of counting all clicks twice.
  SEMRANK_ASSIGN_OR_RETURN(counts.files, records.WriteHours(options.folder));
  return counts;
}

}  // namespace semrank
