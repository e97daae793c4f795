// Which models are served, and how they are followed.
#ifndef SEMRANK_SERVER_MODEL_OPTIONS_H_
#define SEMRANK_SERVER_MODEL_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace semrank {

struct ServedFolder {
  std::string name;  // as requests say it
  std::string path;
  std::int64_t version = 0;  // pinned; 0 = the highest complete one
};

struct ModelOptions {
  std::string model_dir;  // as given
  std::string model_version;
  // At least one, with different names; the first is the default.
  std::vector<ServedFolder> folders;
  absl::Duration poll_interval;  // 0 = only when asked to
  bool wait_for_model = false;
  bool enable_admin_rpcs = false;
};

// `model_dir` is PATH or NAME=PATH,...; `model_version` is N or NAME=N,...
// FlagError naming the flag.
absl::StatusOr<std::vector<ServedFolder>> ParseServedFolders(
    const std::string& model_dir, const std::string& model_version);

absl::StatusOr<ModelOptions> ModelOptionsFromFlags();

// "name=value" a line, as --flagfile takes it.
std::string DescribeModelOptions(const ModelOptions& options);

}  // namespace semrank

#endif  // SEMRANK_SERVER_MODEL_OPTIONS_H_
