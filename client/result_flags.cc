#include "client/result_flags.h"

#include "absl/flags/flag.h"

ABSL_FLAG(semrank::OutputFormat, output, semrank::OutputFormat::kAuto,
          "table (aligned, with titles), tsv (tab-separated, without) or json; "
          "auto = table on a terminal, else tsv.");

namespace semrank {

OutputFormat FormatFromFlags() {
  const OutputFormat format = absl::GetFlag(FLAGS_output);
  if (format != OutputFormat::kAuto) return format;
  return StdoutIsTerminal() ? OutputFormat::kTable : OutputFormat::kTsv;
}

}  // namespace semrank
