#include "server/stores/redis_pool.h"

#include <netdb.h>

#include <array>
#include <utility>

#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Empty = none.
std::string FirstAddress(const std::string& host) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return "";
  std::array<char, NI_MAXHOST> text = {};
  const int error = getnameinfo(list->ai_addr, list->ai_addrlen, text.data(),
                                text.size(), nullptr, 0, NI_NUMERICHOST);
  freeaddrinfo(list);
  return error == 0 ? text.data() : "";
}

}  // namespace

void RedisPool::LookUpAddress() {
  std::string found = FirstAddress(url_.host);
  if (found.empty()) return;
  MutexLock lock(mutex_);
  address_ = std::move(found);
}

absl::StatusOr<std::vector<RedisReply>> RedisPool::Call(
    std::span<const RedisCommand> commands, Deadline deadline) {
  SEMRANK_ASSIGN_OR_RETURN(ConnectionPtr connection, Take(deadline));
  if (connection != nullptr) {
    absl::StatusOr<std::vector<RedisReply>> replies =
        connection->Call(commands, deadline);
    const bool was_closed =
        !connection->usable() && absl::IsUnavailable(replies.status());
    if (!was_closed) {
      GiveBack(std::move(connection));
      return replies;
    }
    ForgetIdle();
  }
  absl::StatusOr<ConnectionPtr> fresh =
      RedisConnection::Connect(url_, address(), deadline);
  if (!fresh.ok()) {
    GiveBack(nullptr);
    return fresh.status();
  }
  absl::StatusOr<std::vector<RedisReply>> replies =
      (*fresh)->Call(commands, deadline);
  GiveBack(*std::move(fresh));
  return replies;
}

absl::StatusOr<RedisPool::ConnectionPtr> RedisPool::Take(Deadline deadline) {
  MutexLock lock(mutex_);
  if (address_.empty()) {
    return absl::UnavailableError("the name of the server has no address");
  }
  while (num_in_use_ == max_connections_) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) {
      return absl::DeadlineExceededError("all connections are in use");
    }
    one_is_free_.WaitFor(mutex_, left);
  }
  ++num_in_use_;
  if (idle_.empty()) return nullptr;
  ConnectionPtr connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void RedisPool::GiveBack(ConnectionPtr connection) {
  {
    MutexLock lock(mutex_);
    --num_in_use_;
    if (connection != nullptr && connection->usable()) {
      idle_.push_back(std::move(connection));
    }
  }
  one_is_free_.NotifyOne();
}

void RedisPool::ForgetIdle() {
  MutexLock lock(mutex_);
  idle_.clear();
}

std::string RedisPool::address() const {
  MutexLock lock(mutex_);
  return address_;
}

}  // namespace semrank
