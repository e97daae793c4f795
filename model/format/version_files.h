// The files of one version folder, checked against its manifest as they are
// opened.
//
//   Threads  const after opening.
//   Errors   NotFound: the folder has no manifest. DataLoss: a file that is
//            missing, of the wrong size or checksum, or malformed.
//            FailedPrecondition: a newer format.
#ifndef SEMRANK_MODEL_FORMAT_VERSION_FILES_H_
#define SEMRANK_MODEL_FORMAT_VERSION_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/file_io.h"
#include "model/format/manifest.h"

namespace semrank {

// Puts the path before the message. What a parser calls an invalid argument is
// a damaged file here: DataLoss.
absl::Status InFile(const std::string& path, const absl::Status& status);

template <typename T>
absl::StatusOr<T> InFile(const std::string& path, absl::StatusOr<T> result) {
  if (result.ok()) return result;
  return InFile(path, result.status());
}

class VersionFiles {
 public:
  static absl::StatusOr<VersionFiles> Open(const std::string& folder);

  // Of the manifest itself.
  const std::string& identity() const { return identity_; }
  std::string Path(std::string_view name) const;
  // As the manifest says; empty for a name that it does not list.
  std::string ListedSha256(const std::string& name) const;

  // DataLoss unless the manifest lists exactly these.
  absl::Status CheckNames(const std::vector<std::string>& expected) const;

  // Content of a listed file, mapped, its size and checksum verified.
  absl::StatusOr<std::shared_ptr<const MappedFile>> Map(
      const char* name, std::uint64_t max_bytes) const;

 private:
  std::string folder_;
  std::string identity_;
  Manifest manifest_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_VERSION_FILES_H_
