// Any bytes as a file of events and as records of User Behavior Insights:
// refused, or records that read back as they are written and can be joined.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "model/events/click_join.h"
#include "model/events/event.h"
#include "model/events/event_files.h"
#include "model/events/ubi.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/memory_file.h"

namespace semrank {
namespace {

void CheckRoundTrip(const EventRecord& record) {
  static EventParser parser;
  std::string line;
  std::visit([&](const auto& any) { AppendLine(any, line); }, record);
  FUZZ_CHECK(line.find('\n') == line.size() - 1);
  const absl::StatusOr<EventRecord> again = parser.Parse(line);
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(*again == record);
}

void CheckFile(std::string_view content) {
  static const MemoryFile file;
  file.Write(content);
  const auto reader = EventFileReader::Open({file.path()}, BadLineLimit(1000));
  if (!reader.ok()) return;
  ClickJoin join(ClickJoinOptions{});
  EventRecord record;
  while (true) {
    const absl::StatusOr<bool> found = (*reader)->Next(record);
    if (!found.ok() || !*found) break;
    CheckRoundTrip(record);
    FUZZ_CHECK(join.Add(record).ok());
  }
  FUZZ_CHECK(join.Finish().ok());
  FUZZ_CHECK(join.counts().clicked_lists <= join.counts().lists);
  for (const ClickRow& row : join.rows().Sorted()) {
    FUZZ_CHECK(row.clicks <= row.impressions && row.position >= 1);
  }
}

void CheckUbi(std::string_view content) {
  static UbiParser parser;
  const absl::StatusOr<UbiRecords> records = parser.Parse(content);
  if (!records.ok()) return;
  for (const EventRecord& record : records->records) CheckRoundTrip(record);
}

}  // namespace
}  // namespace semrank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  semrank::CheckFile(content);
  semrank::CheckUbi(content);
  return 0;
}
