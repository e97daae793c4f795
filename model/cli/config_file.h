// The files of --config: `name = value` lines and [sections], TOML as CLI11
// reads it. A # that begins a line or follows a blank, outside quotes, begins a
// comment.
#ifndef SEMRANK_MODEL_CLI_CONFIG_FILE_H_
#define SEMRANK_MODEL_CLI_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace semrank {

struct ConfigLine {
  std::string section;  // "a.b" of [a.b]; empty = before any section
  std::string name;     // without dashes; empty = where a section begins, ends
  std::vector<std::string> values;
};

// In the order of the file. UsageError with the path when it cannot be read;
// files above 1 MiB are none.
absl::StatusOr<std::vector<ConfigLine>> ReadConfigFile(const std::string& path);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_CONFIG_FILE_H_
