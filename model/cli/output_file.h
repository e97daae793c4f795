// Keeps a program from writing over a file that it reads.
#ifndef SEMRANK_MODEL_CLI_OUTPUT_FILE_H_
#define SEMRANK_MODEL_CLI_OUTPUT_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace semrank {

// A file that a flag names, or that is written beside it.
struct FlagFile {
  std::string_view flag;
  std::string path;  // "-" = standard input, empty = none
};

// UsageError when `output` is the same file (device and inode, so under any
// name) as one of `inputs`. Call it before anything is written.
absl::Status CheckKeepsInputs(const FlagFile& output,
                              const std::vector<FlagFile>& inputs);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_OUTPUT_FILE_H_
