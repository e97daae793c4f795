#include "client/lib/server_limits.h"

#include "client/lib/client_status.h"
#include "model/base/status_macros.h"

namespace semrank {

// gRPC rejects a message over its own size limit before a handler runs, so that
// error carries no ErrorInfo.
bool MayBeTooLarge(const absl::Status& status) {
  const auto info = GetErrorInfo(status);
  if (!info.has_value()) return absl::IsResourceExhausted(status);
  return info->reason() == "TOO_MANY_TEXTS" ||
         info->reason() == "MESSAGE_TOO_LARGE";
}

ServerLimits::ServerLimits(const Connection* connection)
    : connection_(*connection),
      model_(v1::ModelService::NewStub(connection->channel())) {}

std::optional<MessageLimits> ServerLimits::known() const {
  const MutexLock lock(mutex_);
  return limits_;
}

absl::StatusOr<MessageLimits> ServerLimits::Get(absl::Time deadline) {
  const std::optional<MessageLimits> limits = known();
  if (limits.has_value()) return *limits;
  return Fetch(deadline);
}

// Not under the mutex: two threads may both fetch, and get the same.
absl::StatusOr<MessageLimits> ServerLimits::Fetch(absl::Time deadline) {
  SEMRANK_ASSIGN_OR_RETURN(
      const v1::GetLimitsResponse response,
      connection_.Call(*model_, &v1::ModelService::Stub::GetLimits,
                       v1::GetLimitsRequest(), deadline));
  const MessageLimits limits = ToMessageLimits(response.limits());
  const MutexLock lock(mutex_);
  limits_ = limits;
  return limits;
}

bool ServerLimits::Renew(const absl::Status& failure, absl::Time deadline,
                         MessageLimits& used) {
  if (!MayBeTooLarge(failure)) return false;
  const absl::StatusOr<MessageLimits> limits = Fetch(deadline);
  // A message that is within the new limits too would fail again.
  if (!limits.ok() || limits->Contains(used)) return false;
  used = *limits;
  return true;
}

}  // namespace semrank
