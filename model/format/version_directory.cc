#include "model/format/version_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/format/manifest.h"

namespace semrank {
namespace {

namespace fs = std::filesystem;

// The number of names to try, which other writers or crashed ones may
// have used.
constexpr int kMaxTries = 1000;

absl::StatusOr<std::int64_t> NextVersion(const std::string& model_dir) {
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<std::int64_t> versions,
                           ListVersionFolders(model_dir));
  // Incomplete folders count too: their numbers are taken.
  const std::int64_t next = versions.empty() ? 1 : versions.back() + 1;
  if (next <= kMaxVersion) return next;
  return absl::ResourceExhaustedError(
      absl::StrFormat("%s: no version above %d", model_dir, kMaxVersion));
}

// The name is not a number, so readers ignore the folder.
std::string TemporaryPath(const std::string& model_dir, std::int64_t version,
                          int tries) {
  std::string path =
      absl::StrFormat("%s.tmp-%d", VersionPath(model_dir, version), getpid());
  if (tries > 0) path += absl::StrFormat("-%d", tries);
  return path;
}

// Returns 0 or an errno: EEXIST if `to` exists, even as an empty folder, which
// plain rename(2) would replace.
int RenameWithoutReplacing(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                RENAME_NOREPLACE) == 0) {
    return 0;
  }
  // Some network file systems lack the flag. Published versions are never
  // empty, so a plain rename cannot replace one.
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (rename(from.c_str(), to.c_str()) == 0) return 0;
  return errno == ENOTEMPTY ? EEXIST : errno;
}

}  // namespace

std::optional<std::int64_t> ParseVersionName(std::string_view name) {
  // Any number of 18 digits fits into an int64. Leading zeros are refused, so
  // that a version has one name.
  constexpr std::size_t kMaxDigits = 18;
  const bool digits = std::all_of(name.begin(), name.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (name.empty() || name.size() > kMaxDigits || !digits || name[0] == '0') {
    return std::nullopt;
  }
  std::int64_t version = 0;
  std::from_chars(name.data(), name.data() + name.size(), version);
  return version;
}

absl::StatusOr<std::vector<std::int64_t>> ListVersionFolders(
    const std::string& model_dir) {
  std::vector<std::int64_t> versions;
  std::error_code error;
  fs::directory_iterator entry(model_dir, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const auto version = ParseVersionName(entry->path().filename().string());
    std::error_code not_a_folder;
    // A file, or an entry that is being deleted, is neither a version nor
    // an error.
    if (version && entry->is_directory(not_a_folder)) {
      versions.push_back(*version);
    }
  }
  if (error) return ErrnoStatus(error.value(), "list", model_dir);
  // readdir returns names in no particular order.
  std::sort(versions.begin(), versions.end());
  return versions;
}

std::vector<std::string> ListModels(const std::string& folder) {
  constexpr std::size_t kMaxModels = 10;
  std::vector<std::string> models;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const auto versions = ListVersionFolders(entry->path().string());
    if (versions.ok() && !versions->empty()) {
      models.push_back(entry->path().filename().string());
    }
  }
  std::sort(models.begin(), models.end());
  models.resize(std::min(models.size(), kMaxModels));
  return models;
}

absl::Status NoVersionError(const std::string& model_dir) {
  // Users often give the folder above the model directory, or a version in it.
  // The message says which folder would be right.
  const std::vector<std::string> models = ListModels(model_dir);
  if (!models.empty()) {
    return absl::NotFoundError(
        absl::StrFormat("%s holds %s: choose one, such as %s", model_dir,
                        absl::StrJoin(models, ", "),
                        (fs::path(model_dir) / models.front()).string()));
  }
  const std::string version = ModelNameOf(model_dir);
  std::error_code unknown;
  if (ParseVersionName(version).has_value() &&
      fs::exists(fs::path(model_dir) / kConfigFile, unknown)) {
    fs::path path = fs::path(model_dir).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    const std::string parent = path.parent_path().string();
    return absl::NotFoundError(absl::StrFormat(
        "%s is version %s of %s: give %s", model_dir, version,
        parent.empty() ? "." : parent, parent.empty() ? "." : parent));
  }
  return absl::NotFoundError(
      absl::StrFormat("%s holds no complete version of a model", model_dir));
}

std::string VersionPath(const std::string& model_dir, std::int64_t version) {
  return (fs::path(model_dir) / std::to_string(version)).string();
}

std::string ModelNameOf(const std::string& model_dir) {
  std::error_code error;
  fs::path path = fs::absolute(model_dir, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

absl::StatusOr<StagedVersion> StagedVersion::Create(
    const std::string& model_dir) {
  std::error_code error;
  fs::create_directories(model_dir, error);
  if (error) return ErrnoStatus(error.value(), "create folder", model_dir);
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t version, NextVersion(model_dir));
  for (int tries = 0;; ++tries) {
    std::string path = TemporaryPath(model_dir, version, tries);
    if (mkdir(path.c_str(), 0777) == 0) {
      return StagedVersion(model_dir, version, std::move(path));
    }
    // The name contains the process id, but a killed process of the same id may
    // have left its folder.
    if (errno != EEXIST || tries == kMaxTries) {
      return ErrnoStatus(errno, "create folder", path);
    }
  }
}

StagedVersion::~StagedVersion() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

absl::StatusOr<std::int64_t> StagedVersion::Publish() {
  // Names in the folder must be durable before the folder gets its final name.
  SEMRANK_RETURN_IF_ERROR(SyncDirectory(path_));
  for (int tries = 0;; ++tries) {
    const std::string target = VersionPath(model_dir_, version_);
    const int error = RenameWithoutReplacing(path_, target);
    if (error == 0) break;
    if (error != EEXIST || tries == kMaxTries || version_ == kMaxVersion) {
      return ErrnoStatus(error, "rename to", target);
    }
    ++version_;  // another writer has just taken it
  }
  path_.clear();
  SEMRANK_RETURN_IF_ERROR(SyncDirectory(model_dir_));
  return version_;
}

}  // namespace semrank
