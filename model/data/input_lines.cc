#include "model/data/input_lines.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"
#include "model/cli/command_line.h"
#include "model/text/normalizer.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

// All readers report bad lines through one object, so the limit of a run holds
// over all its files, and a user sees the first ten lines of whatever file.

// Enough to see what is wrong with a file, few enough to read.
constexpr std::size_t kMaxReported = 10;
constexpr auto kAnyNumber = std::numeric_limits<std::int64_t>::max();

std::string Format(const BadLineLimit& limit) {
  // The form that Parse reads, without the part that is no limit.
  const std::string share = absl::StrFormat("%g%%", 100 * limit.share);
  if (limit.share >= 1) return absl::StrFormat("%d", limit.lines);
  return limit.lines == kAnyNumber
             ? share
             : absl::StrFormat("%d,%s", limit.lines, share);
}

absl::Status Parse(const std::string& text, BadLineLimit& limit) {
  // The part that is not given is no limit: "5%" allows any number of lines.
  BadLineLimit parsed(kAnyNumber);
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    double percent = 100;
    const bool is_good =
        absl::ConsumeSuffix(&part, "%")
            ? absl::SimpleAtod(part, &percent) && percent >= 0 && percent <= 100
            : absl::SimpleAtoi(part, &parsed.lines) && parsed.lines >= 0;
    parsed.share = std::min(parsed.share, percent / 100);
    if (!is_good) {
      return absl::InvalidArgumentError(
          "must be a number of lines, a share such as 5%, or both: 100,5%");
    }
  }
  limit = parsed;
  return absl::OkStatus();
}

void PrintToStderr(std::string_view text) {
  absl::FPrintF(stderr, "%s\n", text);
}

}  // namespace

void AddBadLinesFlag(CommandLine& command_line, BadLineLimit* limit) {
  command_line.Add(FlagSpec{
      .name = "max_bad_lines",
      .help =
          "Lines that may be skipped because they are too long, not UTF-8 "
          "or not in the format, in all files together, and their share of "
          "each file: 100, 5% or 100,5%. More of them end the run; they are "
          "reported and counted.",
      .form = "N,P%",
      .set = [limit](const std::string& text) { return Parse(text, *limit); },
      .get = [limit] { return Format(*limit); }});
}

absl::Status BadLines::Add(std::string_view path, std::int64_t line_number,
                           std::string_view reason, std::int64_t num_lines) {
  count_ += num_lines;
  const std::string where =
      absl::StrFormat("%s:%d: %s", path, line_number, reason);
  // This line is in the error, so it is not reported as well.
  if (count_ > limit_.lines) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s (bad line %d; --max_bad_lines=%d)", where, count_, limit_.lines));
  }
  const Report report = report_ == nullptr ? PrintToStderr : report_;
  if (reported_.size() == kMaxReported ||
      std::ranges::find(reported_, where) != reported_.end()) {
    return absl::OkStatus();
  }
  report(where);
  reported_.push_back(where);
  if (reported_.size() == kMaxReported &&
      std::cmp_greater(limit_.lines, kMaxReported)) {
    report("further bad lines are counted but not printed");
  }
  return absl::OkStatus();
}

absl::Status BadLines::EndFile(std::string_view path, std::int64_t num_lines) {
  // Only the end of a file gives its number of lines. The limit of lines holds
  // from the first line on.
  const std::int64_t num_bad =
      count_ - std::exchange(count_before_file_, count_);
  if (static_cast<double>(num_bad) <=
      limit_.share * static_cast<double>(num_lines)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: %d of its %d lines cannot be used, more than %g %%; is it in the "
      "expected format? (--max_bad_lines=%s)",
      path, num_bad, num_lines, 100 * limit_.share, Format(limit_)));
}

std::string ProblemOfBytes(std::string_view line) {
  // A part of the line could be taken for a valid one.
  if (line.size() >= LineReader::kMaxLineBytes) {
    return absl::StrFormat("longer than %d bytes",
                           LineReader::kMaxLineBytes - 1);
  }
  return line.find('\0') == line.npos ? "" : "has a NUL byte";
}

std::string ProblemOfLine(std::string_view line) {
  std::string problem = ProblemOfBytes(line);
  if (problem.empty() && !IsValidUtf8(line)) problem = "not valid UTF-8";
  return problem;
}

absl::Status ForEachLine(
    const std::string& path, BadLines& bad_lines,
    const std::function<LineProblem(std::string_view line)>& use) {
  SEMRANK_ASSIGN_OR_RETURN(const auto reader, LineReader::Open(path));
  std::string_view line;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader->Next(line));
    if (!more) return bad_lines.EndFile(path, reader->line_number());
    LineProblem problem = ProblemOfLine(line);
    // The caller never sees a line that is cut off or not UTF-8.
    if (problem.reason.empty()) problem = use(line);
    if (problem.reason.empty()) continue;
    if (problem.refuses_file) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s:%d: %s", path, reader->line_number(), problem.reason));
    }
    SEMRANK_RETURN_IF_ERROR(
        bad_lines.Add(path, reader->line_number(), problem.reason));
  }
}

bool IsRereadable(const std::string& path) {
  std::error_code error;
  // /dev/stdin and <(zcat log.gz) are pipes or devices, not regular files.
  return path != "-" && std::filesystem::is_regular_file(path, error);
}

std::int64_t SizeOf(const std::vector<std::string>& paths) {
  std::int64_t bytes = 0;
  for (const std::string& path : paths) {
    std::error_code error;
    // A share of the others alone would be wrong, so one pipe makes the
    // size unknown.
    if (!IsRereadable(path)) return 0;
    bytes += static_cast<std::int64_t>(std::filesystem::file_size(path, error));
    if (error) return 0;
  }
  return bytes;
}

bool IsTrecComment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != line.npos && line[first] == '#';
}

absl::Status ForEachText(
    const std::string& path, int normalizer_version, BadLines& bad_lines,
    const std::function<void(const std::string& normalized)>& use) {
  std::string normalized;
  return ForEachLine(path, bad_lines, [&](std::string_view line) {
    const absl::Status status =
        NormalizeText(line, normalizer_version, normalized);
    if (status.ok()) use(normalized);
    return std::string(status.message());
  });
}

}  // namespace semrank
