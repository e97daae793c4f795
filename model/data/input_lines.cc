#include "model/data/input_lines.h"

#include "absl/strings/str_format.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"

namespace semrank {

absl::Status ForEachLine(
    const std::string& path, BadLines& bad_lines,
    const std::function<std::string(std::string_view line)>& use) {
  SEMRANK_ASSIGN_OR_RETURN(const auto reader, LineReader::Open(path));
  std::string_view line;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader->Next(line));
    if (!more) return absl::OkStatus();
    // LineReader has cut a longer line, whose rest would be read as something
    // else.
    const std::string reason =
        line.size() >= LineReader::kMaxLineBytes
            ? absl::StrFormat("longer than %d bytes", LineReader::kMaxLineBytes)
            : use(line);
    if (reason.empty()) continue;
    SEMRANK_RETURN_IF_ERROR(bad_lines.Add(path, reader->line_number(), reason));
  }
}

}  // namespace semrank
