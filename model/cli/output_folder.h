// A folder that a program creates for its results. A program that fails before
// it has any leaves no empty folder.
#ifndef SEMRANK_MODEL_CLI_OUTPUT_FOLDER_H_
#define SEMRANK_MODEL_CLI_OUTPUT_FOLDER_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace semrank {

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

#endif  // SEMRANK_MODEL_CLI_OUTPUT_FOLDER_H_
