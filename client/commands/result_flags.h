// How results are printed: flags of the commands that have some.
#ifndef SEMRANK_CLIENT_COMMANDS_RESULT_FLAGS_H_
#define SEMRANK_CLIENT_COMMANDS_RESULT_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "client/output/call_report.h"
#include "client/output/output.h"

namespace semrank {

// --output; never kAuto.
OutputFormat FormatFromFlags();

// Prints them on standard error if --timings is set.
void PrintTimingsIfWanted(const CallFacts& facts);

// --output where it names a file, as it may for commands that write some, else
// empty. A name has a dot or a slash in it, so a form that is misspelled is
// none.
std::string OutputFileFromFlags();
// FlagError if --output names a file.
absl::Status CheckOutputIsForm();

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_RESULT_FLAGS_H_
