#include "client/commands/result_flags.h"

#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "model/cli/program.h"

namespace semrank {
namespace {

struct Output {
  OutputFormat format = OutputFormat::kAuto;
  std::string file;
};

bool AbslParseFlag(absl::string_view text, Output* output, std::string* error) {
  const bool is_file = text.find_first_of("./") != absl::string_view::npos;
  output->file = is_file ? std::string(text) : "";
  return is_file || AbslParseFlag(text, &output->format, error);
}

std::string AbslUnparseFlag(const Output& output) {
  return output.file.empty() ? AbslUnparseFlag(output.format) : output.file;
}

}  // namespace
}  // namespace semrank

ABSL_FLAG(semrank::Output, output, {},
          "table (aligned, with titles), tsv (tab-separated, without) or json; "
          "auto = table on a terminal, else tsv. For embed also the file to "
          "write, with a dot or slash in its name: see there.");

ABSL_FLAG(bool, timings, false,
          "Say on standard error how long the call took, stage by stage in "
          "milliseconds, and how many vectors were cached.");

namespace semrank {

void PrintTimingsIfWanted(const CallFacts& facts) {
  if (absl::GetFlag(FLAGS_timings)) {
    absl::FPrintF(stderr, "%s\n", DescribeCall(facts));
  }
}

OutputFormat FormatFromFlags() {
  const OutputFormat format = absl::GetFlag(FLAGS_output).format;
  if (format != OutputFormat::kAuto) return format;
  return StdoutIsTerminal() ? OutputFormat::kTable : OutputFormat::kTsv;
}

std::string OutputFileFromFlags() { return absl::GetFlag(FLAGS_output).file; }

absl::Status CheckOutputIsForm() {
  const std::string file = OutputFileFromFlags();
  if (file.empty()) return absl::OkStatus();
  return FlagError("output", file, "want auto, table, tsv or json");
}

}  // namespace semrank
