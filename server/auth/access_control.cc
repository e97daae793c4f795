#include "server/auth/access_control.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "server/base/file_stamp.h"

namespace semrank {
namespace {

constexpr std::size_t kMaxKeyFileBytes = std::size_t{1} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<AccessControl>> AccessControl::FromFile(
    const std::string& path) {
  std::unique_ptr<AccessControl> access(new AccessControl(path));
  SEMRANK_RETURN_IF_ERROR(access->Refresh().status());
  return access;
}

std::shared_ptr<const ApiKeys> AccessControl::keys() const {
  MutexLock lock(mutex_);
  return keys_;
}

absl::Status AccessControl::Check(std::string_view authorization,
                                  Role required) const {
  return keys()->Check(authorization, required);
}

absl::StatusOr<bool> AccessControl::Refresh() {
  const std::string stamp = FileStamp(path_);
  if (std::exchange(stamp_, stamp) == stamp) return false;
  SEMRANK_ASSIGN_OR_RETURN(const std::string content,
                           ReadFile(path_, kMaxKeyFileBytes));
  absl::StatusOr<ApiKeys> keys = ApiKeys::Parse(content);
  if (!keys.ok()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %s", path_, keys.status().message()));
  }
  auto shared = std::make_shared<const ApiKeys>(*std::move(keys));
  MutexLock lock(mutex_);
  keys_ = std::move(shared);
  return true;
}

}  // namespace semrank
