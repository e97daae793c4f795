// The models of --model_dir and --model_version.
#ifndef SEMRANK_SERVER_SERVED_FOLDERS_H_
#define SEMRANK_SERVER_SERVED_FOLDERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace semrank {

struct ServedFolder {
  std::string name;  // by which requests choose the model
  std::string path;
  std::int64_t version = 0;  // pinned; 0 = the highest complete one
};

// `model_dir` is PATH or NAME=PATH,...; `model_version` is N or NAME=N,...
// FlagError naming the flag.
absl::StatusOr<std::vector<ServedFolder>> ParseServedFolders(
    const std::string& model_dir, const std::string& model_version);

}  // namespace semrank

#endif  // SEMRANK_SERVER_SERVED_FOLDERS_H_
