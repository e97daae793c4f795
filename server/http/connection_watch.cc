#include "server/http/connection_watch.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "model/base/file_descriptor.h"

namespace semrank {
namespace {

using AddressOf = int (*)(int, sockaddr*, socklen_t*);

// getsockname or getpeername; nothing for what is no such socket.
std::optional<std::pair<std::uint32_t, int>> Address(int fd, AddressOf get) {
  sockaddr_in address = {};
  socklen_t size = sizeof(address);
  if (get(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      address.sin_family != AF_INET) {
    return std::nullopt;
  }
  return std::pair(ntohl(address.sin_addr.s_addr),
                   static_cast<int>(ntohs(address.sin_port)));
}

bool IsAt(int fd, int port) {
  const auto local = Address(fd, &getsockname);
  return local.has_value() && local->second == port;
}

// Whether all that the client has sent was read.
bool NothingToRead(int fd) {
  int num_bytes = 0;
  return ioctl(fd, FIONREAD, &num_bytes) == 0 && num_bytes == 0;
}

bool ClosedByClient(int fd) {
  pollfd socket = {.fd = fd, .events = POLLRDHUP, .revents = 0};
  return poll(&socket, 1, /*timeout=*/0) == 1;
}

// Calls use(fd, peer) with each connection to `port`. The descriptors are
// copies: civetweb may close its own at any moment, and the number may then be
// somebody else's.
template <typename Use>
void ForEachConnection(int port, const Use& use) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    int number = -1;
    if (!absl::SimpleAtoi(entry->path().filename().string(), &number) ||
        !IsAt(number, port)) {
      continue;
    }
    const FileDescriptor copy = FileDescriptor::Own(dup(number), "");
    const auto peer = Address(copy.get(), &getpeername);
    if (peer.has_value() && IsAt(copy.get(), port)) use(copy.get(), *peer);
  }
}

}  // namespace

ConnectionWatch::~ConnectionWatch() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void ConnectionWatch::Start(int port) {
  port_ = port;
  thread_ = std::thread([this] { Run(); });
}

void ConnectionWatch::Opened() {
  MutexLock lock(mutex_);
  ++num_heads_;
  WakeIfIdle();
}

void ConnectionWatch::HeadCame(const mg_connection* connection) {
  const mg_request_info* const request = mg_get_request_info(connection);
  in_addr address = {};
  inet_pton(AF_INET, request->remote_addr, &address);
  MutexLock lock(mutex_);
  --num_heads_;
  in_hand_[connection] = {
      .peer = {ntohl(address.s_addr), request->remote_port}};
  WakeIfIdle();
}

void ConnectionWatch::BodyMayTake(const mg_connection* connection,
                                  absl::Duration time) {
  SetLimit(connection, time, /*sending=*/false);
}

void ConnectionWatch::BodyCame(const mg_connection* connection) {
  SetLimit(connection, absl::InfiniteDuration(), /*sending=*/false);
}

void ConnectionWatch::AnswerMayTake(const mg_connection* connection,
                                    absl::Duration time) {
  SetLimit(connection, time, /*sending=*/true);
}

void ConnectionWatch::SetLimit(const mg_connection* connection,
                               absl::Duration time, bool sending) {
  MutexLock lock(mutex_);
  InHand& in_hand = in_hand_[connection];
  num_sending_ += static_cast<int>(sending) - static_cast<int>(in_hand.sending);
  in_hand.sending = sending;
  in_hand.since = absl::Now();
  in_hand.limit = in_hand.since + time;
  WakeIfIdle();
}

void ConnectionWatch::Closed(const mg_connection* connection) {
  MutexLock lock(mutex_);
  const auto in_hand = in_hand_.find(connection);
  if (in_hand == in_hand_.end()) {
    --num_heads_;
    return;
  }
  if (in_hand->second.sending) --num_sending_;
  in_hand_.erase(in_hand);
}

bool ConnectionWatch::HasLeft(const mg_connection* connection) const {
  Peer peer;
  {
    MutexLock lock(mutex_);
    const auto in_hand = in_hand_.find(connection);
    if (in_hand == in_hand_.end()) return true;
    peer = in_hand->second.peer;
  }
  bool left = false;
  ForEachConnection(port_, [&](int fd, const Peer& of) {
    if (of == peer) left = ClosedByClient(fd);
  });
  return left;
}

std::map<ConnectionWatch::Peer, int> ConnectionWatch::Overdue(
    absl::Time now) const {
  std::map<Peer, int> overdue;
  for (const auto& [connection, request] : in_hand_) {
    const bool crowd_limit =
        crowded() && request.sending && now - request.since > kCrowdSendTime;
    // Who is late with a body can still be told so.
    const int direction = request.sending ? SHUT_RDWR : SHUT_RD;
    if (now > request.limit || crowd_limit) overdue[request.peer] = direction;
  }
  return overdue;
}

void ConnectionWatch::WakeIfIdle() {
  if (idle_ && !nothing_to_watch()) changed_.NotifyAll();
}

bool ConnectionWatch::WaitForTurn() {
  idle_ = true;
  while (!stop_ && nothing_to_watch()) changed_.Wait(mutex_);
  idle_ = false;
  const absl::Time turn = absl::Now() + kCrowdTime;
  for (absl::Time now; !stop_ && (now = absl::Now()) < turn;) {
    changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(turn - now));
  }
  return !stop_;
}

void ConnectionWatch::Run() {
  std::set<Peer> silent;
  for (;;) {
    Turn turn;
    {
      MutexLock lock(mutex_);
      if (!WaitForTurn()) return;
      turn.crowd = crowded();
      turn.overdue = Overdue(absl::Now());
      for (const auto& [connection, request] : in_hand_) {
        turn.in_hand.insert(request.peer);
      }
    }
    silent = CutOff(turn, silent);
  }
}

std::set<ConnectionWatch::Peer> ConnectionWatch::CutOff(
    const Turn& turn, const std::set<Peer>& silent) const {
  std::set<Peer> still_silent;
  if (!turn.crowd && turn.overdue.empty()) return still_silent;
  ForEachConnection(port_, [&](int fd, const Peer& peer) {
    const auto overdue = turn.overdue.find(peer);
    if (overdue != turn.overdue.end()) shutdown(fd, overdue->second);
    if (!turn.crowd || turn.in_hand.contains(peer) || !NothingToRead(fd)) {
      return;
    }
    if (silent.contains(peer)) shutdown(fd, SHUT_RDWR);
    still_silent.insert(peer);
  });
  return still_silent;
}

}  // namespace semrank
