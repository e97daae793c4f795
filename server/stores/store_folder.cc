#include "server/stores/store_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "server/stores/store_records.h"

namespace semrank {
namespace {

constexpr const char* kDatabase = "rocksdb";
constexpr std::string_view kUnfinished = "unfinished-";
constexpr const char* kFormatFile = "FORMAT";
// kStoreFormat is the number.
constexpr const char* kFolderFormatLine = "semrank store 1\n";
static_assert(kStoreFormat == 1);
constexpr std::size_t kMaxFormatBytes = 256;

// OK when a store may be made in `path`: nothing is there but what file systems
// put there themselves and what a start that was killed left.
absl::Status CheckNoFilesOfOthers(const std::string& path) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(path, error);
  if (error) return ErrnoStatus(error.value(), "open", path);
  for (const auto& entry : entries) {
    const std::string file = entry.path().filename();
    if (file == "lost+found" || file == kFormatFile ||
        file.starts_with(kUnfinished)) {
      continue;
    }
    return absl::FailedPreconditionError(absl::StrFormat(
        "the folder is no semrank store and holds \"%s\"", file));
  }
  return absl::OkStatus();
}

absl::Status CheckFormat(const std::string& path) {
  const std::string file = path + "/" + kFormatFile;
  SEMRANK_ASSIGN_OR_RETURN(const std::string line,
                           ReadFile(file, kMaxFormatBytes));
  if (line == kFolderFormatLine) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s says \"%s\" and this program knows \"%s\"; nothing was changed", file,
      absl::CHexEscape(line), absl::CHexEscape(kFolderFormatLine)));
}

// The database is made under another name and renamed once it is complete, so a
// start that is killed leaves no half store. The next start ignores what is
// left.
absl::Status Create(
    const std::string& path, const std::string& database,
    const std::function<absl::Status(const std::string&)>& create) {
  std::error_code error;
  std::filesystem::create_directory(path, error);
  if (error) return ErrnoStatus(error.value(), "create", path);
  SEMRANK_RETURN_IF_ERROR(CheckNoFilesOfOthers(path));
  std::string folder = absl::StrFormat("%s/%sXXXXXX", path, kUnfinished);
  if (mkdtemp(folder.data()) == nullptr) {
    return ErrnoStatus(errno, "create a folder in", path);
  }
  SEMRANK_RETURN_IF_ERROR(create(folder));
  // Before the rename: a database never stands there without its format.
  SEMRANK_RETURN_IF_ERROR(
      ReplaceFile(path + "/" + kFormatFile, kFolderFormatLine));
  // Fails when another server was faster; then there is one all the same.
  if (rename(folder.c_str(), database.c_str()) != 0 && errno != ENOTEMPTY &&
      errno != EEXIST) {
    return ErrnoStatus(errno, "rename", folder);
  }
  // Until then a crash of the machine could undo the rename.
  return SyncDirectory(path);
}

}  // namespace

absl::StatusOr<std::string> StoreFolder(
    const std::string& path,
    const std::function<absl::Status(const std::string& folder)>& create) {
  std::string database = path + "/" + kDatabase;
  std::error_code unknown;
  if (!std::filesystem::exists(database, unknown)) {
    SEMRANK_RETURN_IF_ERROR(Create(path, database, create));
  }
  // Also after Create: another server may have been faster.
  SEMRANK_RETURN_IF_ERROR(CheckFormat(path));
  return database;
}

}  // namespace semrank
