// The version folders of a model directory, and how a new version is created
// (FORMAT.md, "Publishing").
//
//   Threads  the free functions are thread-safe; a StagedVersion is not.
//   Errors   errors of the file system, with the path.
#ifndef SEMRANK_MODEL_FORMAT_VERSION_DIRECTORY_H_
#define SEMRANK_MODEL_FORMAT_VERSION_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace semrank {

inline constexpr std::int64_t kMaxVersion = 999'999'999'999'999'999;

// The version number of a folder named `name`: decimal, without sign or leading
// zero, 1 to kMaxVersion. nullopt for any other name.
std::optional<std::int64_t> ParseVersionName(std::string_view name);

// Returns the numbers of all version folders, complete or not, in ascending
// order. NotFound if `model_dir` does not exist.
absl::StatusOr<std::vector<std::int64_t>> ListVersionFolders(
    const std::string& model_dir);

// The names of the folders in `folder` that hold versions, in order; at most
// ten.
std::vector<std::string> ListModels(const std::string& folder);

// NotFound for a `model_dir` without a complete version, with what it is
// instead: a folder of models, a version of one, or a folder without any.
absl::Status NoVersionError(const std::string& model_dir);

std::string VersionPath(const std::string& model_dir, std::int64_t version);

// The last part of the path: "shop" for models/shop and models/shop/.
std::string ModelNameOf(const std::string& model_dir);

// A temporary folder to write a version into. The destructor removes it with
// its content unless it was published.
class StagedVersion {
 public:
  // Creates `model_dir` if it does not exist.
  static absl::StatusOr<StagedVersion> Create(const std::string& model_dir);

  StagedVersion(StagedVersion&& other) noexcept
      : model_dir_(std::move(other.model_dir_)),
        version_(other.version_),
        path_(std::exchange(other.path_, "")) {}
  StagedVersion& operator=(StagedVersion&&) = delete;
  ~StagedVersion();

  const std::string& path() const { return path_; }

  // Syncs the folder, gives it the next version number and returns that. The
  // files in it must have been synced.
  absl::StatusOr<std::int64_t> Publish();

 private:
  StagedVersion(std::string model_dir, std::int64_t version, std::string path)
      : model_dir_(std::move(model_dir)),
        version_(version),
        path_(std::move(path)) {}

  std::string model_dir_;
  std::int64_t version_;  // the number to try first
  std::string path_;      // empty once published or moved from
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_VERSION_DIRECTORY_H_
