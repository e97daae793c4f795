// What a folder of events has on disk.
#ifndef SEMRANK_TESTS_SUPPORT_EVENT_FOLDER_H_
#define SEMRANK_TESTS_SUPPORT_EVENT_FOLDER_H_

#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "model/events/event.h"
#include "model/events/event_files.h"

namespace semrank {

inline std::string BytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The lines of the whole frames; `rest`, if not null, gets the bytes after
// them.
inline std::vector<std::string> LinesOf(std::string_view bytes,
                                        std::size_t* rest = nullptr) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t size =
        ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
    if (ZSTD_isError(size) != 0) break;
    std::string frame(ZSTD_getFrameContentSize(bytes.data(), size), '\0');
    if (ZSTD_isError(ZSTD_decompress(frame.data(), frame.size(), bytes.data(),
                                     size)) != 0) {
      break;
    }
    text += frame;
    bytes.remove_prefix(size);
  }
  if (rest != nullptr) *rest = bytes.size();
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

// All records of a folder.
inline std::vector<EventRecord> RecordsOf(const std::string& folder) {
  std::vector<EventRecord> records;
  const auto files = ListEventFiles(folder);
  if (!files.ok() || files->empty()) return records;
  const auto reader = EventFileReader::Open({folder}, BadLineLimit(0)).value();
  EventRecord record;
  while (reader->Next(record).value()) records.push_back(record);
  return records;
}
template <typename Record>
std::vector<Record> RecordsOf(const std::string& folder) {
  std::vector<Record> records;
  for (EventRecord& record : RecordsOf(folder)) {
    if (auto* const found = std::get_if<Record>(&record)) {
      records.push_back(std::move(*found));
    }
  }
  return records;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_EVENT_FOLDER_H_
