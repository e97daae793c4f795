#include "model/events/ubi_import.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/file_descriptor.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/events/event_files.h"
#include "model/events/event_writer.h"
#include "model/events/keyed_hash.h"
#include "model/events/ubi.h"

namespace semrank {
namespace {

namespace fs = std::filesystem;

// Records as lines, with their times.
class SortedLines {
 public:
  SortedLines(const KeyedHash& hash, ImportedRecords& counts)
      : hash_(hash), counts_(counts) {}

  // Returns why the record cannot be used.
  std::string Add(EventRecord& record) {
    Line line;
    if (auto* impression = std::get_if<Impression>(&record)) {
      impression->session = hash_(HashedKind::kSession, impression->session);
      impression->user = hash_(HashedKind::kUser, impression->user);
      line.time_ms = impression->time_ms;
      AppendLine(*impression, line.text);
    } else {
      line.time_ms = std::get<Event>(record).time_ms;
      AppendLine(std::get<Event>(record), line.text);
    }
    if (line.time_ms == 0) return "has no timestamp";
    ++(std::holds_alternative<Event>(record) ? counts_.events
                                             : counts_.impressions);
    line.text.pop_back();  // the line break
    num_bytes_ += line.text.capacity() + sizeof(line);
    lines_.push_back(std::move(line));
    return "";
  }

  struct Line {
    std::int64_t time_ms = 0;
    std::string text;
  };
  const std::vector<Line>& Sort() {
    std::ranges::stable_sort(lines_, {}, &Line::time_ms);
    return lines_;
  }
  std::size_t num_bytes() const { return num_bytes_; }

 private:
  const KeyedHash& hash_;
  ImportedRecords& counts_;
  std::vector<Line> lines_;
  std::size_t num_bytes_ = 0;
};

absl::Status ReadUbiFile(const std::string& path,
                         const UbiImportOptions& options, BadLines& bad_lines,
                         SortedLines& lines, ImportedRecords& counts) {
  UbiParser parser;
  bool is_full = false;
  SEMRANK_RETURN_IF_ERROR(
      ForEachLine(path, bad_lines, [&](std::string_view line) -> LineProblem {
        if (line.empty() || is_full) return {};
        absl::StatusOr<UbiRecords> parsed = parser.Parse(line);
        if (!parsed.ok()) return std::string(parsed.status().message());
        counts.ignored += parsed->num_ignored;
        for (EventRecord& record : parsed->records) {
          std::string problem = lines.Add(record);
          if (!problem.empty()) return problem;
        }
        is_full = lines.num_bytes() > options.max_bytes;
        return {};
      }));
  if (!is_full) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "%s: the records need more than %s bytes of memory; import fewer days at "
      "a time",
      path, GroupDigits(static_cast<std::int64_t>(options.max_bytes))));
}

absl::Status WriteLines(const std::vector<SortedLines::Line>& lines,
                        const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "%s: exists, so these records were imported before; remove it to "
        "import them again",
        path));
  }
  SEMRANK_ASSIGN_OR_RETURN(FileReplacement file,
                           FileReplacement::Create(path, kEventFileMode));
  EventFrameWriter writer(file);
  for (const SortedLines::Line& line : lines) {
    SEMRANK_RETURN_IF_ERROR(writer.Add(line.text));
  }
  SEMRANK_RETURN_IF_ERROR(writer.Finish());
  return file.Commit();
}

}  // namespace

absl::StatusOr<ImportedRecords> ImportUbi(const UbiImportOptions& options) {
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) return ErrnoStatus(error.value(), "create", options.folder);
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor lock,
                           LockEventFolder(options.folder));
  SEMRANK_ASSIGN_OR_RETURN(const KeyedHash hash,
                           KeyedHash::OpenOrCreate(options.folder));
  ImportedRecords counts;
  SortedLines lines(hash, counts);
  BadLines bad_lines(options.max_bad_lines);
  for (const std::string& path : options.paths) {
    SEMRANK_RETURN_IF_ERROR(
        ReadUbiFile(path, options, bad_lines, lines, counts));
  }
  counts.bad_lines = bad_lines.count();
  const std::vector<SortedLines::Line>& sorted = lines.Sort();
  if (sorted.empty()) return counts;
  counts.file = absl::StrFormat("%s/%s", options.folder,
                                EventFileName(sorted.front().time_ms, 0));
  SEMRANK_RETURN_IF_ERROR(WriteLines(sorted, counts.file));
  return counts;
}

}  // namespace semrank
