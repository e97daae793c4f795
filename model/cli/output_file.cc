#include "model/cli/output_file.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"
#include "model/cli/exit_code.h"

namespace semrank {

absl::Status CheckKeepsInputs(const FlagFile& output,
                              const std::vector<FlagFile>& inputs) {
  for (const FlagFile& input : inputs) {
    const std::string path = input.path == "-" ? "/dev/stdin" : input.path;
    // An error means that one of them does not exist, so they differ.
    std::error_code error;
    if (std::filesystem::is_regular_file(output.path, error) &&
        std::filesystem::equivalent(output.path, path, error)) {
      return UsageError(
          absl::StrFormat("--%s would overwrite %s, the file of --%s",
                          output.flag, output.path, input.flag));
    }
  }
  return absl::OkStatus();
}

}  // namespace semrank
