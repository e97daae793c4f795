#include "server/base/unread_responses.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

namespace semrank {

void UnreadResponses::Add(const CallerId& caller, std::int64_t bytes) {
  if (bytes == 0) return;
  {
    const MutexLock lock(mutex_);
    Accounts& accounts = callers_[caller.name];
    Account& account = accounts.by_connection[caller.connection];
    num_bytes_ += bytes;
    accounts.num_bytes += bytes;
    account.num_bytes += bytes;
    if (bytes < 0) account.last_progress = absl::Now();
    // Only accounts that hold something stay.
    if (account.num_bytes == 0) {
      accounts.by_connection.erase(caller.connection);
    }
    if (accounts.by_connection.empty()) callers_.erase(caller.name);
    if (bytes < 0 || num_bytes_ <= max_bytes_) return;
  }
  // Outside mutex_, which a subscriber may need.
  const MutexLock lock(notify_mutex_);
  for (const auto& [number, notify] : notify_) notify();
}

std::optional<UnreadResponses::Excess> UnreadResponses::FindExcess() const {
  const MutexLock lock(mutex_);
  if (num_bytes_ <= max_bytes_) return std::nullopt;
  // First the caller, then its connection: otherwise a caller with many
  // connections would keep each of them below the largest of another one.
  const auto holds_less = [](const auto& a, const auto& b) {
    return a.second.num_bytes < b.second.num_bytes;
  };
  const auto caller = std::ranges::max_element(callers_, holds_less);
  const auto account =
      std::ranges::max_element(caller->second.by_connection, holds_less);
  return Excess{{caller->first, account->first},
                std::min(num_bytes() - max_bytes_, account->second.num_bytes)};
}

absl::Time UnreadResponses::LastProgress(const CallerId& caller) const {
  const MutexLock lock(mutex_);
  const auto accounts = callers_.find(caller.name);
  if (accounts == callers_.end()) return absl::InfinitePast();
  const auto account = accounts->second.by_connection.find(caller.connection);
  return account == accounts->second.by_connection.end()
             ? absl::InfinitePast()
             : account->second.last_progress;
}

int UnreadResponses::Subscribe(std::function<void()> notify) {
  const MutexLock lock(notify_mutex_);
  notify_[++last_number_] = std::move(notify);
  return last_number_;
}

void UnreadResponses::Unsubscribe(int number) {
  const MutexLock lock(notify_mutex_);
  notify_.erase(number);
}

}  // namespace semrank
