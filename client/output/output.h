// Forms of results, and their way out.
#ifndef SEMRANK_CLIENT_OUTPUT_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_OUTPUT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/output/table.h"

namespace semrank {

enum class OutputFormat {
  kAuto,   // table on a terminal, else TSV
  kTable,  // aligned columns under titles
  kTsv,    // tab-separated, no titles
  kJson,   // one object, or one a line
};

// As the value of an Abseil flag.
bool AbslParseFlag(absl::string_view text, OutputFormat* format,
                   std::string* error);
std::string AbslUnparseFlag(OutputFormat format);

bool StdoutIsTerminal();

// An error with the system's reason when not all of it could be written.
absl::Status WriteStdout(std::string_view text);

// For kTable and kTsv.
absl::Status WriteTable(const Table& table, OutputFormat format);

// The object on one line, "\n" included, keys in order of insertion, nothing
// in it that could drive a terminal.
std::string ToJsonLine(const nlohmann::ordered_json& object);

// The shortest text that reads back as the same float.
std::string ShortestText(float value);
// The double whose shortest text is that of `value`, so that JSON does not
// print 0.1f as 0.10000000149011612.
double ShortestDouble(float value);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_OUTPUT_H_
