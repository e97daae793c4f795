#include "model/events/event_files.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "model/base/file_descriptor.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/data/input_progress.h"
#include "model/events/event_clock.h"
#include "model/events/event_frames.h"

// A Stream is the records of one folder, file after file, with one record read
// ahead. The reader always returns the earliest of the records that its streams
// have read ahead, as a merge of sorted lists does. A folder need not be
// sorted by time: its records keep the order of its files.
namespace semrank {
namespace {

namespace fs = std::filesystem;

bool IsEventFile(std::string_view name) {
  return name.starts_with(kEventFilePrefix) && name.ends_with(kEventFileSuffix);
}

// The folder to which a file belongs, whose files are one stream.
using FilesByFolder = std::map<std::string, std::vector<std::string>>;

absl::Status AddPath(const std::string& path, FilesByFolder& files) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (!fs::exists(path, error)) return ErrnoStatus(ENOENT, "open", path);
    files[fs::path(path).parent_path().string()].push_back(path);
    return absl::OkStatus();
  }
  SEMRANK_ASSIGN_OR_RETURN(const auto listed, ListEventFiles(path));
  if (listed.empty()) {
    return absl::NotFoundError(absl::StrFormat(
        "%s: has no files of events (%s*%s); is it the folder of "
        "semrank-server --events?",
        path, kEventFilePrefix, kEventFileSuffix));
  }
  // "events" and "events/" are one folder, also beside a single file of it.
  auto& folder = files[(fs::path(path) / "").parent_path().string()];
  folder.insert(folder.end(), listed.begin(), listed.end());
  return absl::OkStatus();
}

// By name, not by path: the names say the time. A file that was given twice is
// read once.
void SortByName(std::vector<std::string>& files) {
  std::ranges::sort(files, {}, [](const std::string& path) {
    return std::pair(fs::path(path).filename(), path);
  });
  // std::ranges::unique does not compile with clang 14.
  files.erase(std::unique(files.begin(), files.end()), files.end());
}

// "20261126T052122.123Z". E4 and E3 are for years of four digits and for
// milliseconds.
constexpr char kFileTimeFormat[] = "%E4Y%m%dT%H%M%E3SZ";
constexpr std::size_t kFileTimeBytes = 20;

}  // namespace

std::string EventFileName(std::int64_t time_ms, std::int64_t number) {
  return absl::StrFormat(
      "%s%s-%06d%s", kEventFilePrefix,
      absl::FormatTime(kFileTimeFormat, absl::FromUnixMillis(time_ms),
                       absl::UTCTimeZone()),
      number, kEventFileSuffix);
}

std::optional<EventFileId> ParseEventFileName(std::string_view name) {
  absl::string_view rest = ToAbsl(name);
  if (!absl::ConsumePrefix(&rest, ToAbsl(kEventFilePrefix)) ||
      !absl::ConsumeSuffix(&rest, ToAbsl(kEventFileSuffix))) {
    return std::nullopt;
  }
  // The time has no dash.
  const std::vector<absl::string_view> parts = absl::StrSplit(rest, '-');
  EventFileId id;
  absl::Time time;
  std::string error;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[1], &id.number) ||
      parts[0].size() != kFileTimeBytes ||
      !absl::ParseTime(kFileTimeFormat, parts[0], &time, &error)) {
    return std::nullopt;
  }
  id.time_ms = absl::ToUnixMillis(time);
  return id;
}

absl::StatusOr<std::vector<std::string>> ListEventFiles(
    const std::string& folder) {
  // increment(error) and not ++, which throws.
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (IsEventFile(entry->path().filename().string())) {
      files.push_back(entry->path().string());
    }
  }
  if (error) return ErrnoStatus(error.value(), "list", folder);
  std::ranges::sort(files);
  return files;
}

// The files of one folder, one after another, with the next record read ahead.
class EventFileReader::Stream {
 public:
  Stream(std::vector<std::string> paths, EventFileCounts& counts,
         const BadLineLimit& max_bad_lines)
      : paths_(std::move(paths)), counts_(counts), bad_lines_(max_bad_lines) {}

  // Reads `record`, or has ended.
  absl::Status ReadAhead() {
    while (true) {
      if (file_ == nullptr) {
        has_ended_ = next_path_ == paths_.size();
        if (has_ended_) return absl::OkStatus();
        SEMRANK_RETURN_IF_ERROR(OpenNext());
        if (file_ == nullptr) continue;
      }
      // line_ points into the buffer of file_ until the next call.
      SEMRANK_ASSIGN_OR_RETURN(const auto result, file_->Next(line_));
      if (result != FrameLines::Result::kLine) {
        SEMRANK_RETURN_IF_ERROR(EndFile(result));
        continue;
      }
      absl::StatusOr<EventRecord> parsed = parser_.Parse(line_);
      if (parsed.ok()) {
        record_ = *std::move(parsed);
        SetTime();
        return absl::OkStatus();
      }
      ++counts_.bad_lines;
      SEMRANK_RETURN_IF_ERROR(bad_lines_.Add(path(), file_->line_number(),
                                             ToStd(parsed.status().message())));
    }
  }

  bool has_ended() const { return has_ended_; }
  EventRecord& record() { return record_; }
  std::string_view line() const { return line_; }
  const std::string& path() const { return paths_[next_path_ - 1]; }
  std::int64_t time_ms() const { return time_ms_; }
  double num_bytes_read() const {
    return static_cast<double>(num_bytes_before_) +
           (file_ == nullptr
                ? 0
                : file_->fraction_read() * static_cast<double>(file_bytes_));
  }

 private:
  // A merge waits with a folder until the others have come to its next record.
  // A time far in the future would make it wait for their end, and the clicks
  // in it come too late for their lists. So the time counts as at most ten
  // minutes after the folder's clock.
  void SetTime() {
    constexpr std::int64_t kMaxAheadMs = 600'000;
    const std::int64_t time_ms = TimeOf(record_);
    clock_.Add(time_ms);
    time_ms_ = std::min(time_ms, clock_.now_ms() + kMaxAheadMs);
  }

  // Leaves `file_` null for a file that the server's retention has removed
  // since the folder was listed.
  absl::Status OpenNext() {
    ++next_path_;
    auto file = FrameLines::Open(path());
    if (absl::IsNotFound(file.status())) return absl::OkStatus();
    if (!file.ok()) return file.status();
    file_ = *std::move(file);
    std::error_code error;
    file_bytes_ = static_cast<std::int64_t>(fs::file_size(path(), error));
    ++counts_.files;
    return absl::OkStatus();
  }

  // A truncated file is counted but is not an error: its server is still
  // writing or has crashed. A damaged file counts as a bad line.
  absl::Status EndFile(FrameLines::Result result) {
    using Result = FrameLines::Result;
    if (result == Result::kCut) ++counts_.cut_files;
    if (result == Result::kDamaged) {
      ++counts_.damaged_files;
      ++counts_.bad_lines;
      SEMRANK_RETURN_IF_ERROR(bad_lines_.Add(
          path(), file_->line_number() + 1,
          absl::StrFormat("the rest of the file cannot be read: %s",
                          file_->problem())));
    }
    // At least one, so that a file that is damaged from its start is counted,
    // but not refused for its share of bad lines.
    const std::int64_t num_lines =
        file_->line_number() + (result == Result::kDamaged ? 2 : 0);
    file_.reset();
    num_bytes_before_ += file_bytes_;
    return bad_lines_.EndFile(path(), num_lines);
  }

  const std::vector<std::string> paths_;
  EventFileCounts& counts_;
  BadLines bad_lines_;
  std::size_t next_path_ = 0;
  bool has_ended_ = false;
  std::unique_ptr<FrameLines> file_;
  std::int64_t file_bytes_ = 0;
  std::int64_t num_bytes_before_ = 0;
  EventParser parser_;
  EventClock clock_;
  EventRecord record_;
  std::int64_t time_ms_ = 0;
  std::string_view line_;
};

EventFileReader::~EventFileReader() = default;

absl::StatusOr<std::unique_ptr<EventFileReader>> EventFileReader::Open(
    const std::vector<std::string>& paths, const BadLineLimit& max_bad_lines) {
  FilesByFolder files;
  for (const std::string& path : paths) {
    SEMRANK_RETURN_IF_ERROR(AddPath(path, files));
  }
  std::unique_ptr<EventFileReader> reader(new EventFileReader());
  for (auto& [folder, names] : files) {
    SortByName(names);
    reader->files_.insert(reader->files_.end(), names.begin(), names.end());
    reader->streams_.push_back(std::make_unique<Stream>(
        std::move(names), reader->counts_, max_bad_lines));
    SEMRANK_RETURN_IF_ERROR(reader->streams_.back()->ReadAhead());
  }
  return reader;
}

absl::StatusOr<bool> EventFileReader::Next(EventRecord& record) {
  // Not before: line() is that of the record which the last call returned.
  if (current_ != nullptr) SEMRANK_RETURN_IF_ERROR(current_->ReadAhead());
  // Folders are few, as servers are, so that a heap would gain nothing. The
  // first folder wins a tie, hence the order is the same in every run.
  current_ = nullptr;
  for (const auto& stream : streams_) {
    if (stream->has_ended()) continue;
    if (current_ == nullptr || stream->time_ms() < current_->time_ms()) {
      current_ = stream.get();
    }
  }
  if (current_ == nullptr) return false;
  record = std::move(current_->record());
  ++counts_.records;
  return true;
}

std::string_view EventFileReader::line() const { return current_->line(); }
const std::string& EventFileReader::path() const { return current_->path(); }

double EventFileReader::fraction_read() const {
  double num_read = 0;
  for (const auto& stream : streams_) num_read += stream->num_bytes_read();
  // A server may write while its files are read: they grow.
  const auto num_bytes = static_cast<double>(SizeOf(files_));
  return num_bytes == 0 ? 0 : std::min(1.0, num_read / num_bytes);
}

absl::Status ForEachEvent(const std::vector<std::string>& paths,
                          const BadLineLimit& max_bad_lines,
                          const std::function<absl::Status(EventRecord&)>& use,
                          EventFileCounts& counts) {
  constexpr std::int64_t kRecordsPerUpdate = 1'024;
  SEMRANK_ASSIGN_OR_RETURN(const auto reader,
                           EventFileReader::Open(paths, max_bad_lines));
  InputProgress progress("reading events", reader->files(), "record");
  progress.Start();
  EventRecord record;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader->Next(record));
    if (!more) break;
    SEMRANK_RETURN_IF_ERROR(use(record));
    if (reader->counts().records % kRecordsPerUpdate != 0) continue;
    if (Interrupted()) return absl::CancelledError("interrupted while reading");
    progress.UpdateTo(reader->fraction_read(), reader->counts().records);
  }
  counts = reader->counts();
  progress.Finish(counts.records);
  return absl::OkStatus();
}

}  // namespace semrank
