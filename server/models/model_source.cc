#include "server/models/model_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/format/manifest.h"
#include "model/format/model_bundle.h"
#include "model/format/version_directory.h"

namespace semrank {
namespace {

namespace fs = std::filesystem;

// Name, size and time of every file in `folder`. Hashing the contents every few
// seconds would cost too much; the load checks the hashes of the manifest.
std::string StampOf(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // a file that was deleted changes the stamp
    files.push_back(absl::StrFormat(
        "%s %d %d", entry->path().filename().string(),
        static_cast<std::int64_t>(entry->file_size(ignored)),
        static_cast<std::int64_t>(
            entry->last_write_time(ignored).time_since_epoch().count())));
  }
  // The order of a directory's entries is not defined.
  std::ranges::sort(files);
  return absl::StrJoin(files, "\n");
}

// Without a version, the error says what `model_dir` is instead.
absl::StatusOr<std::vector<std::int64_t>> ListServed(
    const std::string& model_dir) {
  // Incomplete ones too, which ModelSlot reports as being written.
  SEMRANK_ASSIGN_OR_RETURN(std::vector<std::int64_t> versions,
                           ListVersionFolders(model_dir));
  if (!versions.empty()) return versions;
  const std::vector<std::string> models = ListModels(model_dir);
  if (models.empty()) return NoVersionError(model_dir);
  std::vector<std::string> choices;
  choices.reserve(models.size());
  for (const std::string& name : models) {
    choices.push_back(name + "=" + (fs::path(model_dir) / name).string());
  }
  return absl::NotFoundError(absl::StrFormat(
      "%s, or serve several with --model_dir=%s",
      NoVersionError(model_dir).message(), absl::StrJoin(choices, ",")));
}

}  // namespace

ModelSource FolderSource(const std::string& model_dir, std::string name,
                         VectorPrecision precision) {
  ModelSource source;
  source.name = name.empty() ? ModelNameOf(model_dir) : std::move(name);
  source.list = [model_dir] { return ListServed(model_dir); };
  // Two lists: loading looks at every version folder, so that operators hear of
  // those without a manifest; the listing of versions shows complete ones only.
  source.list_complete = [model_dir] { return ListVersions(model_dir); };
  source.is_complete = [model_dir](std::int64_t version) {
    std::error_code unknown;
    return fs::exists(fs::path(VersionPath(model_dir, version)) / kManifestFile,
                      unknown);
  };
  source.stamp = [model_dir](std::int64_t version) {
    return StampOf(VersionPath(model_dir, version));
  };
  source.load = [model_dir, name = source.name,
                 precision](std::int64_t version) {
    return LoadModel(model_dir, version, name, precision);
  };
  // The trainer numbers them through and keeps the newest ones only.
  source.num_rejected =
      [rejected =
           (fs::path(model_dir) / "rejected").string()]() -> std::int64_t {
    const auto versions = ListVersionFolders(rejected);
    return versions.ok() && !versions->empty() ? versions->back() : 0;
  };
  return source;
}

}  // namespace semrank
