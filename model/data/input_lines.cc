#include "model/data/input_lines.h"

#include <cstdio>

#include "absl/strings/str_format.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// Enough to see what is wrong with a file, few enough to read.
constexpr std::int64_t kMaxPrinted = 10;

}  // namespace

absl::Status BadLines::Add(std::string_view path, std::int64_t line_number,
                           std::string_view reason, std::int64_t num_lines) {
  count_ += num_lines;
  const std::string where =
      absl::StrFormat("%s:%d: %s", path, line_number, reason);
  // This line is in the error, so it is not printed as well.
  if (count_ > max_bad_lines_) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s (bad line %d; --max_bad_lines=%d)", where, count_, max_bad_lines_));
  }
  if (num_printed_ == kMaxPrinted) return absl::OkStatus();
  absl::FPrintF(stderr, "%s\n", where);
  if (++num_printed_ == kMaxPrinted && max_bad_lines_ > kMaxPrinted) {
    absl::FPrintF(stderr, "further bad lines are counted but not printed\n");
  }
  return absl::OkStatus();
}

absl::Status ForEachLine(
    const std::string& path, BadLines& bad_lines,
    const std::function<LineProblem(std::string_view line)>& use) {
  SEMRANK_ASSIGN_OR_RETURN(const auto reader, LineReader::Open(path));
  std::string_view line;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader->Next(line));
    if (!more) return absl::OkStatus();
    // LineReader has truncated a longer line: the part that is left could be
    // taken for a valid one.
    const LineProblem problem =
        line.size() >= LineReader::kMaxLineBytes
            ? absl::StrFormat("longer than %d bytes", LineReader::kMaxLineBytes)
            : use(line);
    if (problem.reason.empty()) continue;
    if (problem.refuses_file) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s:%d: %s", path, reader->line_number(), problem.reason));
    }
    SEMRANK_RETURN_IF_ERROR(
        bad_lines.Add(path, reader->line_number(), problem.reason));
  }
}

bool IsTrecComment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != line.npos && line[first] == '#';
}

absl::Status ForEachText(
    const std::string& path, BadLines& bad_lines,
    const std::function<void(const std::string& normalized)>& use) {
  std::string normalized;
  return ForEachLine(path, bad_lines, [&](std::string_view line) {
    const absl::Status status = NormalizeText(line, normalized);
    if (status.ok()) use(normalized);
    return std::string(status.message());
  });
}

}  // namespace semrank
