// Where a program writes its results: not over a file that it reads, and
// without an empty folder if it fails.
#ifndef SEMRANK_MODEL_CLI_OUTPUT_PATHS_H_
#define SEMRANK_MODEL_CLI_OUTPUT_PATHS_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

// A file that a flag names, or that is written beside it.
struct FlagFile {
  std::string_view flag;
  std::string path;  // "-" = standard input, empty = none
};

// UsageError when `output` is the same file (device and inode, so under any
// name; a missing one by its path) as one of `inputs`, which may be outputs.
// Call it before anything is written.
absl::Status CheckKeepsInputs(const FlagFile& output,
                              const std::vector<FlagFile>& inputs);

// A folder that a program creates for its results. A program that fails before
// it has any leaves no empty folder.
class OutputFolder {
 public:
  // Creates `path` and its parents where they are missing. Fails as
  // ErrnoStatus does.
  static absl::StatusOr<OutputFolder> Create(const std::string& path);
  // Removes the folders that Create has made and that are empty.
  ~OutputFolder();
  OutputFolder(OutputFolder&&) = default;
  OutputFolder& operator=(OutputFolder&&) = delete;

  // Removes the files `names` if Create has made the folder and it has no
  // others: files that are of no use without results, such as a lock.
  void RemoveIfAlone(std::initializer_list<std::string_view> names) const;

 private:
  OutputFolder() = default;

  std::vector<std::string> created_;  // the innermost is first
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_OUTPUT_PATHS_H_
