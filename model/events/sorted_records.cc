#include "model/events/sorted_records.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/events/event_files.h"
#include "model/events/event_writer.h"

namespace semrank {

void SortedRecords::Add(const EventRecord& record) {
  Line line;
  if (const auto* impression = std::get_if<Impression>(&record)) {
    line.time_ms = impression->time_ms;
    AppendLine(*impression, line.text);
    ++num_impressions_;
  } else {
    line.time_ms = std::get<Event>(record).time_ms;
    AppendLine(std::get<Event>(record), line.text);
    ++num_events_;
  }
  line.text.pop_back();  // the line break, which EventFrameWriter adds
  first_time_ms_ = std::min(first_time_ms_, line.time_ms);
  num_bytes_ += line.text.capacity() + sizeof(line);
  lines_.push_back(std::move(line));
}

absl::StatusOr<std::string> SortedRecords::Write(const std::string& folder,
                                                 std::int64_t time_ms,
                                                 std::int64_t number) {
  // A list and its click may have the same millisecond; they keep the order in
  // which they were added.
  std::ranges::stable_sort(lines_, {}, &Line::time_ms);
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
  for (const Line& line : lines_) {
    SEMRANK_RETURN_IF_ERROR(writer.Add(line.text));
  }
  SEMRANK_RETURN_IF_ERROR(writer.Finish());
  SEMRANK_RETURN_IF_ERROR(file.Commit());
  return path;
}

}  // namespace semrank
