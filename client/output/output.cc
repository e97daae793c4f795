#include "client/output/output.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "client/input/unicode.h"
#include "model/base/file_io.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

struct NamedFormat {
  std::string_view name;
  OutputFormat format;
};

constexpr std::array<NamedFormat, 4> kFormats = {{
    {"auto", OutputFormat::kAuto},
    {"table", OutputFormat::kTable},
    {"tsv", OutputFormat::kTsv},
    {"json", OutputFormat::kJson},
}};

}  // namespace

bool AbslParseFlag(absl::string_view text, OutputFormat* format,
                   std::string* error) {
  for (const NamedFormat& named : kFormats) {
    if (ToStd(text) != named.name) continue;
    *format = named.format;
    return true;
  }
  *error = "want auto, table, tsv or json";
  return false;
}

std::string AbslUnparseFlag(OutputFormat format) {
  for (const NamedFormat& named : kFormats) {
    if (format == named.format) return std::string(named.name);
  }
  return "";
}

bool StdoutIsTerminal() { return isatty(STDOUT_FILENO) == 1; }

absl::Status WriteStdout(std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0;
  return written ? absl::OkStatus()
                 : ErrnoStatus(errno, "write", "standard output");
}

absl::Status WriteTable(const Table& table, OutputFormat format) {
  if (format == OutputFormat::kTable) {
    return WriteStdout(table.ToAlignedText());
  }
  return WriteStdout(table.ToTsv(/*escape_controls=*/StdoutIsTerminal()));
}

std::string ToJsonLine(const nlohmann::ordered_json& object) {
  // The replacing handler never throws on bytes that are not UTF-8.
  const std::string text = object.dump(
      /*indent=*/-1, ' ', /*ensure_ascii=*/false,
      nlohmann::ordered_json::error_handler_t::replace);
  // Outside of strings there is nothing to escape, and inside \u001b is JSON.
  return EscapeControls(text) + "\n";
}

std::string ShortestText(float value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end.ptr);
}

double ShortestDouble(float value) {
  const std::string text = ShortestText(value);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

}  // namespace semrank
