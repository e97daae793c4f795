#include "model/format/version_files.h"

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/sha256.h"

namespace semrank {

absl::Status InFile(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  const absl::StatusCode code = absl::IsInvalidArgument(status)
                                    ? absl::StatusCode::kDataLoss
                                    : status.code();
  return absl::Status(
      code, absl::StrFormat("%s: %s", path, std::string(status.message())));
}

std::string VersionFiles::Path(std::string_view name) const {
  return absl::StrFormat("%s/%s", folder_, name);
}

std::string VersionFiles::ListedSha256(const std::string& name) const {
  const auto facts = manifest_.find(name);
  return facts == manifest_.end() ? "" : facts->second.sha256;
}

absl::StatusOr<VersionFiles> VersionFiles::Open(const std::string& folder) {
  VersionFiles files;
  files.folder_ = folder;
  const std::string path = files.Path(kManifestFile);
  absl::StatusOr<std::string> content = ReadFile(path, kMaxManifestBytes);
  if (absl::IsResourceExhausted(content.status())) {
    return absl::DataLossError(content.status().message());
  }
  if (!content.ok()) return content.status();
  SEMRANK_ASSIGN_OR_RETURN(files.manifest_,
                           InFile(path, ParseManifest(*content)));
  SEMRANK_ASSIGN_OR_RETURN(files.identity_, Sha256Hex(*content));
  return files;
}

absl::Status VersionFiles::CheckNames(
    const std::vector<std::string>& expected) const {
  bool equal = manifest_.size() == expected.size();
  for (const std::string& name : expected) {
    equal = equal && manifest_.contains(name);
  }
  if (equal) return absl::OkStatus();
  return absl::DataLossError(absl::StrFormat(
      "%s: lists %d files that are not the %d that %s calls for",
      Path(kManifestFile), manifest_.size(), expected.size(), kConfigFile));
}

absl::StatusOr<std::shared_ptr<const MappedFile>> VersionFiles::Map(
    const char* name, std::uint64_t max_bytes) const {
  const std::string path = Path(name);
  const auto facts = manifest_.find(name);
  if (facts == manifest_.end()) {
    return absl::DataLossError(
        absl::StrFormat("%s does not list %s", Path(kManifestFile), name));
  }
  if (facts->second.bytes > max_bytes) {
    return absl::DataLossError(
        absl::StrFormat("%s: %d bytes; at most %d are possible", path,
                        facts->second.bytes, max_bytes));
  }
  absl::StatusOr<std::shared_ptr<const MappedFile>> file =
      MappedFile::Open(path);
  if (absl::IsNotFound(file.status()) ||
      absl::IsFailedPrecondition(file.status())) {
    return absl::DataLossError(file.status().message());
  }
  if (!file.ok()) return file.status();
  SEMRANK_RETURN_IF_ERROR(
      InFile(path, CheckContent((*file)->content(), facts->second)));
  return file;
}

}  // namespace semrank
