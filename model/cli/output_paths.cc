#include "model/cli/output_paths.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"
#include "model/base/file_descriptor.h"
#include "model/cli/exit_code.h"

namespace semrank {

namespace fs = std::filesystem;

absl::Status CheckKeepsInputs(const FlagFile& output,
                              const std::vector<FlagFile>& inputs) {
  for (const FlagFile& input : inputs) {
    const std::string path = input.path == "-" ? "/dev/stdin" : input.path;
    // Two outputs may both be missing yet. Otherwise an error means that one of
    // the two does not exist, so they differ.
    std::error_code error;
    const bool is_same = fs::exists(output.path, error)
                             ? fs::is_regular_file(output.path, error) &&
                                   fs::equivalent(output.path, path, error)
                             : !path.empty() && output.path == path;
    if (is_same) {
      return UsageError(
          absl::StrFormat("--%s would overwrite %s, the file of --%s",
                          output.flag, output.path, input.flag));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<OutputFolder> OutputFolder::Create(const std::string& path) {
  OutputFolder folder;
  std::error_code error;
  // Without a slash at its end, which would be an innermost folder of its own.
  fs::path missing = fs::path(path).lexically_normal();
  if (!missing.has_filename()) missing = missing.parent_path();
  while (!missing.empty() && !fs::exists(missing, error)) {
    folder.created_.push_back(missing.string());
    missing = missing.parent_path();
  }
  fs::create_directories(path, error);
  if (error) return ErrnoStatus(error.value(), "create folder", path);
  return folder;
}

OutputFolder::~OutputFolder() {
  // The innermost folder is first. If it cannot be removed, its parents are not
  // empty either.
  for (const std::string& folder : created_) {
    if (rmdir(folder.c_str()) != 0) return;
  }
}

void OutputFolder::RemoveIfAlone(
    std::initializer_list<std::string_view> names) const {
  if (created_.empty()) return;
  std::error_code error;
  std::vector<fs::path> files;
  fs::directory_iterator entry(created_.front(), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (std::ranges::count(names, name) == 0) return;
    files.push_back(entry->path());
  }
  // A file that was not listed may be of use.
  if (error) return;
  for (const fs::path& file : files) fs::remove(file, error);
}

}  // namespace semrank
